cimport cython

cdef double INFINITY
cdef Py_ssize_t LISTED, FEW_PIVOTS, MIN_COLUMNS

@cython.locals(column=Py_ssize_t)
cdef Py_ssize_t cheapest_column(
    double[::1] costs, Py_ssize_t at, double[::1] potential, Py_ssize_t first, Py_ssize_t m
) noexcept nogil
@cython.locals(best=Py_ssize_t)
cdef Py_ssize_t cheapest_listed(
    double[::1] costs, Py_ssize_t at, double[::1] potential, Py_ssize_t first,
    Py_ssize_t[::1] lists, Py_ssize_t start
) noexcept nogil
@cython.locals(at=Py_ssize_t, start=Py_ssize_t, k=Py_ssize_t)
cdef void write_lists(
    double[::1] costs, Py_ssize_t offset, double[::1] potential, Py_ssize_t n, Py_ssize_t m,
    Py_ssize_t[::1] lists, double[::1] values
) noexcept nogil
