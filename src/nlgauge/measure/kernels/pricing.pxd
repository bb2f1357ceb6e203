cimport cython
from nlgauge.measure.kernels cimport tree

cdef double INFINITY
cdef Py_ssize_t LISTED, FEW_PIVOTS, MIN_COLUMNS

cdef double least_difference(tree.Tree work, Py_ssize_t row) noexcept nogil
@cython.locals(column=Py_ssize_t)
cdef Py_ssize_t find_column(tree.Tree work, Py_ssize_t row, double least) noexcept nogil
@cython.locals(best=Py_ssize_t)
cdef Py_ssize_t cheapest_listed(
    tree.Tree work, Py_ssize_t row, Py_ssize_t[::1] lists
) noexcept nogil
@cython.locals(count=Py_ssize_t, k=Py_ssize_t, worst=Py_ssize_t)
cdef void write_list(tree.Tree work, Py_ssize_t row, Py_ssize_t[::1] lists) noexcept nogil
