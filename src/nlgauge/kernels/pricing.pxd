cimport cython
from nlgauge.kernels cimport tree

cdef double INFINITY
cdef Py_ssize_t LISTED, BLOCK, FEW_PIVOTS, MIN_COLUMNS

cdef class Lists:
    cdef public Py_ssize_t[::1] columns
    cdef public double[::1] costs, bounds, reference
    cdef public double least_change, largest_change

cdef double least_difference(tree.Tree work, Py_ssize_t row) noexcept nogil
@cython.locals(end=Py_ssize_t)
cdef double _least_between(
    tree.Tree work, Py_ssize_t row, Py_ssize_t start, Py_ssize_t stop
) noexcept nogil
@cython.locals(column=Py_ssize_t)
cdef Py_ssize_t find_column(tree.Tree work, Py_ssize_t row, double least) noexcept nogil
@cython.locals(best=Py_ssize_t)
cdef Py_ssize_t cheapest_listed(tree.Tree work, Lists lists, Py_ssize_t row) noexcept nogil
@cython.locals(column=Py_ssize_t)
cdef void start_lists(tree.Tree work, Lists lists) noexcept nogil
@cython.locals(
    j=Py_ssize_t, block=Py_ssize_t, first=Py_ssize_t, end=Py_ssize_t, place=Py_ssize_t, bound=double
)
cdef void write_list(tree.Tree work, Lists lists, Py_ssize_t row) noexcept nogil
@cython.locals(place=Py_ssize_t)
cdef bint _is_listed(Lists lists, Py_ssize_t start, Py_ssize_t column) noexcept nogil
@cython.locals(k=Py_ssize_t)
cdef double _insert(
    tree.Tree work, Lists lists, Py_ssize_t start, Py_ssize_t last, Py_ssize_t column, double cost
) noexcept nogil
cdef double bound(Lists lists, Py_ssize_t row) noexcept nogil
cdef void read_costs(tree.Tree work, Lists lists) noexcept nogil
@cython.locals(least=double, largest=double)
cdef void measure_changes(tree.Tree work, Lists lists) noexcept nogil
cdef void renew_reference(tree.Tree work, Lists lists) noexcept nogil
