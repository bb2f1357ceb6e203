cimport cython
cimport libc.math as np  # np.exp and np.log are the C functions when compiled
from nlgauge.kernels cimport duality, pricing, tree

cdef double INFINITY, GAP, TOLERANCE, NOTHING, MAX_MASS_RATIO
cdef Py_ssize_t MAX_PIVOTS, MAX_ROUNDS

cdef class Forest(tree.Tree):
    cdef public double rate_a, rate_b
    cdef public double[::1] a, b, target, mass, sums, logs
    cdef public Py_ssize_t[::1] unsettled, marks

@cython.locals(
    work=Forest, row=Py_ssize_t, column=Py_ssize_t, n=Py_ssize_t, m=Py_ssize_t, scale=double
)
cpdef void solve_all(
    double[::1] costs, double[::1] a, double[::1] b, Py_ssize_t[:, ::1] shapes, double rate_a,
    double rate_b, double least_scale, double[::1] couplings, double[::1] gaps,
    Py_ssize_t[::1] pivots, Py_ssize_t[::1] solved
)
@cython.locals(
    pivots=Py_ssize_t, before=Py_ssize_t, row=Py_ssize_t, column=Py_ssize_t, least=double
)
cdef Py_ssize_t optimise(Forest work, double tolerance) noexcept nogil
@cython.locals(best=Py_ssize_t)
cdef void _start(Forest work) noexcept nogil
@cython.locals(settled=bint)
cdef bint _refresh(Forest work) noexcept nogil
@cython.locals(
    leaving=Py_ssize_t, below_sink=bint, top=Py_ssize_t, other=Py_ssize_t
)
cdef bint _pivot(
    Forest work, Py_ssize_t source, Py_ssize_t sink, double excess, Py_ssize_t number
) noexcept nogil
cdef void _move(
    Forest work, Py_ssize_t node, Py_ssize_t apex, double mass
) noexcept nogil
cdef void _shift(Forest work, Py_ssize_t top, double excess) noexcept nogil
@cython.locals(count=Py_ssize_t)
cdef bint _settle(Forest work, Py_ssize_t root) noexcept nogil
cdef bint _balance(Forest work, Py_ssize_t size) noexcept nogil
@cython.locals(top=Py_ssize_t, place=Py_ssize_t, light=bint)
cdef Py_ssize_t _heaviest(Forest work, Py_ssize_t size) noexcept nogil
cdef void _write_targets(Forest work, Py_ssize_t size) noexcept nogil
cdef double _largest_step(Forest work, Py_ssize_t size) noexcept nogil
cdef double _limit(Forest work, Py_ssize_t node) noexcept nogil
@cython.locals(alone=bint)
cdef bint _removable(Forest work, Py_ssize_t node) noexcept nogil
cdef double _write_coupling(Forest work, double[::1] couplings) noexcept nogil
