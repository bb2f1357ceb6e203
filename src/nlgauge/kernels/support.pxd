cimport libc.math as np  # np.exp and np.log are the C functions when compiled
from nlgauge.kernels.duality cimport Workspace

cdef double INFINITY

cdef class Forest:
    cdef Py_ssize_t[::1] pair_rows, pair_columns, first, neighbours, parent, order
    cdef double[::1] mass

cpdef bint solve_on_support(Forest forest, Workspace work) noexcept nogil
cdef bint _find_neighbours(Forest forest, Workspace work) noexcept nogil
cdef Py_ssize_t _propagate_potentials(
    Forest forest, Workspace work, Py_ssize_t reached
) noexcept nogil
cdef bint _shift_tree(
    Forest forest, Workspace work, Py_ssize_t first, Py_ssize_t end
) noexcept nogil
cdef bint _route_mass(Forest forest, Workspace work) noexcept nogil
