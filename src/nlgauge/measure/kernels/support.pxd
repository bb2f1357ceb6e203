cimport libc.math as np  # np.exp and np.log are the C functions when compiled

cdef double INFINITY

cdef class Forest:
    cdef Py_ssize_t[::1] pair_rows, pair_columns, first, neighbours, parent, order
    cdef double[::1] mass

cdef class Marginals:
    cdef public double[::1] a, b
    cdef public double rate_a, rate_b
    cdef public Py_ssize_t n, m

cpdef bint solve_on_support(
    Forest forest, Marginals given, double[::1] cost, double[::1] plan_change,
    double[::1] slack_change, double[::1] start, double[::1] f, double[::1] g, double[::1] plan
) noexcept nogil
cdef bint _find_neighbours(
    Forest forest, double[::1] plan_change, double[::1] slack_change, Py_ssize_t n, Py_ssize_t m
) noexcept nogil
cdef Py_ssize_t _propagate_potentials(
    Forest forest, double[::1] cost, Py_ssize_t reached, double[::1] f, double[::1] g,
    Py_ssize_t n, Py_ssize_t m
) noexcept nogil
cdef bint _shift_tree(
    Forest forest, Marginals given, Py_ssize_t first, Py_ssize_t end, double[::1] f, double[::1] g
) noexcept nogil
cdef bint _route_mass(Forest forest, double[::1] plan, Py_ssize_t n, Py_ssize_t m) noexcept nogil
