cimport cython
cimport libc.math as np  # np.fabs is the C function when compiled
from nlgauge.kernels cimport network_simplex

cdef double INFINITY, KEEP

cdef class Iterate:
    cdef Py_ssize_t n, m, layers
    cdef double[:, ::1] gram, shares, best_shares, products, coupling
    cdef double[::1] preference, squares, costs, largest
    cdef Py_ssize_t[::1] used, changed, moved
    cdef Py_ssize_t[:, ::1] parents

@cython.locals(
    simplex=network_simplex.Simplex, done=Py_ssize_t, converged=bint, objective=double
)
cpdef (Py_ssize_t, bint) iterate(
    Iterate work, double[::1] weights, bint matched, Py_ssize_t steps, double tolerance,
    double[::1] objectives
)
cdef void _multiply_means(Iterate work) noexcept nogil
@cython.locals(cost=double, most=double)
cdef double _compute_costs(Iterate work) noexcept nogil
cdef double _solve_layers(
    Iterate work, network_simplex.Simplex simplex, double largest, bint matched, bint first
) noexcept nogil
cdef void _load_tree(
    Iterate work, network_simplex.Simplex simplex, Py_ssize_t layer
) noexcept nogil
cdef void _save_tree(
    Iterate work, network_simplex.Simplex simplex, Py_ssize_t layer
) noexcept nogil
cdef void _match_positions(network_simplex.Simplex simplex) noexcept nogil
@cython.locals(scale=double, change=double)
cdef void _update_shares(
    Iterate work, network_simplex.Simplex simplex, bint first
) noexcept nogil
@cython.locals(square=double)
cdef void _multiply_shares(Iterate work) noexcept nogil
cpdef void mix(Iterate work, const double[:, ::1] tokens, double[:, ::1] points) noexcept nogil
@cython.locals(k=Py_ssize_t, j=Py_ssize_t, row=Py_ssize_t, cost=double, most=double)
cpdef void write_costs(
    double[:, ::1] products, double[::1] points, double[::1] tokens, double[:, ::1] preference,
    Py_ssize_t[::1] rows, double[:, ::1] costs, double[::1] largest
)
