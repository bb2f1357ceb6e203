cimport cython

cdef double INFINITY
cdef Py_ssize_t BLOCK

cdef class Counts:
    cdef double[:, ::1] block, mirrored
    cdef double[::1] thresholds, below, above, ranks, sums

@cython.locals(work=Counts, n=Py_ssize_t)
cpdef void mean_ranks(double[:, ::1] projected, Py_ssize_t count, double tie, double[::1] depths)
cdef void _rank_block(
    Counts work, double[:, ::1] projected, Py_ssize_t start, Py_ssize_t width, Py_ssize_t n,
    double tie
) noexcept nogil
cdef void _count_below(
    double[:, ::1] block, Py_ssize_t i, double tie, Py_ssize_t width, Py_ssize_t n,
    double[::1] thresholds, double[::1] below
) noexcept nogil
@cython.locals(levels=Py_ssize_t, count=Py_ssize_t, level=Py_ssize_t)
cpdef void fill_supports(
    double[:, ::1] projected, double[::1] depths, double[::1] cuts, double[:, :, ::1] supports
)
