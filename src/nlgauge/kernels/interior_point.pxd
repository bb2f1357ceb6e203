cimport cython
cimport libc.math as np  # np.exp, np.log and the like are the C functions when compiled
from nlgauge.kernels cimport duality, newton_system, support

cdef double INFINITY, GAP, TARGET_GAP, TARGET_DRIFT, MIN_CENTRE, MIN_MASS
cdef Py_ssize_t STEP_TRIALS, PATIENCE

@cython.locals(
    work=duality.Workspace, system=newton_system.NewtonSystem, forest=support.Forest, cell=Py_ssize_t, row=Py_ssize_t, column=Py_ssize_t, n=Py_ssize_t, m=Py_ssize_t,
    rows=Py_ssize_t, columns=Py_ssize_t
)
cpdef void solve_all(
    double[::1] costs, double[::1] a, double[::1] b, Py_ssize_t[:, ::1] shapes, double rate_a,
    double rate_b, double least_scale, double[::1] method, double[::1] couplings,
    double[::1] gaps, Py_ssize_t[::1] steps, Py_ssize_t[::1] solved
)
cdef void _solve(
    duality.Workspace work, newton_system.NewtonSystem system, support.Forest forest
) noexcept nogil
@cython.locals(f=double[::1], g=double[::1])
cdef void _start(duality.Workspace work) noexcept nogil
@cython.locals(f=double[::1], g=double[::1])
cdef bint _solved_on_support(duality.Workspace work, support.Forest forest) noexcept nogil
cdef void _advance(duality.Workspace work, newton_system.NewtonSystem system) noexcept nogil
cdef void _newton_step(duality.Workspace work, newton_system.NewtonSystem system) noexcept nogil
cdef double _largest_step(duality.Workspace work, newton_system.NewtonSystem system) noexcept nogil
cdef double _predicted_products(duality.Workspace work, double length) noexcept nogil
cdef void _step(duality.Workspace work, double length, double bound) noexcept nogil
cdef (double, double) _centrality(
    duality.Workspace work, double[::1] ratio, double[::1] slack
) noexcept nogil
cdef double _least(double[::1] values, Py_ssize_t count) noexcept nogil
cdef void _copy(double[::1] values, double[::1] target, Py_ssize_t count) noexcept nogil
@cython.locals(f=double[::1], g=double[::1], whole=bint)
cdef void _finish(duality.Workspace work) noexcept nogil
