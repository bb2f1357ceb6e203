cimport cython

cdef double INFINITY
cdef Py_ssize_t LISTED, FEW_PIVOTS, MIN_COLUMNS

cdef double least_difference(
    double[::1] costs, Py_ssize_t at, double[::1] potential, Py_ssize_t first, Py_ssize_t m
) noexcept nogil
@cython.locals(column=Py_ssize_t)
cdef Py_ssize_t cheapest_column(
    double[::1] costs, Py_ssize_t at, double[::1] potential, Py_ssize_t first, Py_ssize_t m
) noexcept nogil
@cython.locals(best=Py_ssize_t)
cdef Py_ssize_t cheapest_listed(
    double[::1] costs, Py_ssize_t at, double[::1] potential, Py_ssize_t first,
    Py_ssize_t[::1] lists, Py_ssize_t start
) noexcept nogil
@cython.locals(count=Py_ssize_t, k=Py_ssize_t, worst=Py_ssize_t)
cdef void write_list(
    double[::1] costs, Py_ssize_t at, double[::1] potential, Py_ssize_t first, Py_ssize_t m,
    Py_ssize_t[::1] lists, Py_ssize_t start
) noexcept nogil
