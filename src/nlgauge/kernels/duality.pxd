cimport cython
cimport libc.math as np  # np.exp, np.log and the like are the C functions when compiled

cdef double INFINITY

cdef class Workspace:
    cdef public Py_ssize_t n, m, max_steps, steps
    cdef public double rate_a, rate_b, scale, corrector, centring, boundary, centrality, gap, drift
    cdef public double[::1] a, b, cost, plan, coupling, row_sums, column_sums, log_rows, log_columns
    cdef public double[::1] ratio, slack, f, g, next_ratio, next_slack, next_f, next_g
    cdef public double[::1] best_ratio, best_slack, best_f, best_g
    cdef public double[::1] plan_change, slack_change, df, dg, right_a, right_b, minima

cdef void expand(Workspace work, double[::1] ratio) noexcept nogil
cdef void evaluate(Workspace work, double[::1] plan, double[::1] f, double[::1] g) noexcept nogil
cdef double _sum_marginals(Workspace work, double[::1] plan) noexcept nogil
cdef (double, double) evaluate_side(
    double[::1] x, double[::1] y, double[::1] potential, double rate, double[::1] logs,
    Py_ssize_t count
) noexcept nogil
@cython.locals(whole=bint)
cdef bint rescale(Workspace work, double[::1] plan) noexcept nogil
cdef void lower_potentials(Workspace work, double[::1] f, double[::1] g) noexcept nogil
