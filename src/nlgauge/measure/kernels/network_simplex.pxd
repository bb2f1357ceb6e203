cimport cython
from nlgauge.measure.kernels cimport pricing

cdef double INFINITY, GAP, TOLERANCE, MIN_FLOW
cdef Py_ssize_t MAX_PIVOTS

cdef class Simplex:
    cdef Py_ssize_t n, m, root, offset
    cdef public double[::1] costs, a, b, flow, potential, values
    cdef public Py_ssize_t[::1] parent, depth, child, next, previous, order, lists

@cython.locals(
    work=Simplex, rows=Py_ssize_t, columns=Py_ssize_t, row=Py_ssize_t, column=Py_ssize_t,
    n=Py_ssize_t, m=Py_ssize_t, largest=double
)
cpdef void solve_all(
    double[::1] costs, double[::1] a, double[::1] b, Py_ssize_t[:, ::1] shapes,
    double[::1] couplings, double[::1] gaps, Py_ssize_t[::1] pivots, Py_ssize_t[::1] solved
)
cdef double _write_coupling(Simplex work, double[::1] couplings) noexcept nogil
cdef double flow_cost(Simplex work, double[::1] costs, Py_ssize_t offset) noexcept nogil
@cython.locals(pivots=Py_ssize_t, before=Py_ssize_t, few=Py_ssize_t)
cpdef Py_ssize_t optimise(Simplex work, double largest) noexcept nogil
@cython.locals(column=Py_ssize_t)
cdef Py_ssize_t _pivot_while_possible(
    Simplex work, double tolerance, Py_ssize_t pivots, Py_ssize_t most, bint listed
) noexcept nogil
cdef void _pivot(Simplex work, Py_ssize_t source, Py_ssize_t sink) noexcept nogil
cdef void _reverse_branch(
    Simplex work, Py_ssize_t top, Py_ssize_t parent, Py_ssize_t last, double moved
) noexcept nogil
cdef void _attach(Simplex work, Py_ssize_t node, Py_ssize_t parent) noexcept nogil
cdef void _detach(Simplex work, Py_ssize_t node) noexcept nogil
cdef void _update_potentials(Simplex work, Py_ssize_t top) noexcept nogil
cpdef void compute_flow(Simplex work) noexcept nogil
@cython.locals(j=Py_ssize_t)
cpdef void start_greedily(Simplex work) noexcept nogil
cdef void _find_open_column(Simplex work, Py_ssize_t row, bint every) noexcept nogil
