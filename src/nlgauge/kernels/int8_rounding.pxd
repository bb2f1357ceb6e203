cimport cython

cdef extern from "<math.h>":
    signed char round_half_even "(signed char)(int)rintf"(float) noexcept nogil

cdef int WITHOUT_SIGN

@cython.locals(i=Py_ssize_t, k=Py_ssize_t, found=int)
cpdef void find_largest(int[:, ::1] bits, int[::1] largest)
@cython.locals(i=Py_ssize_t, k=Py_ssize_t, scale=float)
cpdef void round_rows(float[:, ::1] rows, float[::1] scales, signed char[:, ::1] rounded)
@cython.locals(i=Py_ssize_t, k=Py_ssize_t, row_scale=float)
cpdef void scale_products(
    int[:, ::1] products, float[::1] row_scales, float[::1] column_scales, float[::1] bias,
    float[:, ::1] output
)
