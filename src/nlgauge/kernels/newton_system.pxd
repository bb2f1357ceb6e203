from nlgauge.kernels.duality cimport Workspace

cdef double TINY

cdef class NewtonSystem:
    cdef public double[::1] inverse_slack, weights, weight_shares, column_sums
    cdef public double[::1] reduced, reduced_shares, pivots

cpdef void factor(NewtonSystem system, Workspace work) noexcept nogil
cdef void _add_products(
    double[::1] shares, double[::1] values, Py_ssize_t width, Py_ssize_t count, Py_ssize_t row,
    double[::1] reduced, Py_ssize_t n
) noexcept nogil
cdef double dot(
    double[::1] x, Py_ssize_t x_start, double[::1] y, Py_ssize_t y_start, Py_ssize_t count
) noexcept nogil
cpdef void solve(NewtonSystem system, Workspace work) noexcept nogil
