cdef double TINY

cdef class NewtonSystem:
    cdef public double[::1] inverse_slack, weights, weight_shares, column_sums
    cdef public double[::1] reduced, reduced_shares, pivots

cpdef void factor(
    NewtonSystem system, double[::1] plan, double[::1] slack, double[::1] row_sums,
    double[::1] column_sums, double rate_a, double rate_b, Py_ssize_t n, Py_ssize_t m
) noexcept nogil
cdef void _add_products(
    double[::1] shares, double[::1] values, Py_ssize_t width, Py_ssize_t count, Py_ssize_t row,
    double[::1] reduced, Py_ssize_t n
) noexcept nogil
cdef double dot(
    double[::1] x, Py_ssize_t x_start, double[::1] y, Py_ssize_t y_start, Py_ssize_t count
) noexcept nogil
cpdef void solve(
    NewtonSystem system, double[::1] ya, double[::1] yb, double[::1] df, double[::1] dg,
    Py_ssize_t n, Py_ssize_t m
) noexcept nogil
