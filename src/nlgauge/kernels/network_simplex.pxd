cimport cython
from nlgauge.kernels cimport pricing, tree

cdef double INFINITY, GAP, TOLERANCE, LARGE_EXCESS, MIN_FLOW
cdef Py_ssize_t MAX_PIVOTS

cdef class Simplex(tree.Tree):
    cdef Py_ssize_t root
    cdef public double[::1] a, b
    cdef public Py_ssize_t[::1] size
    cdef public pricing.Lists lists
    cdef public bint listed

@cython.locals(
    work=Simplex, rows=Py_ssize_t, columns=Py_ssize_t, row=Py_ssize_t, column=Py_ssize_t,
    n=Py_ssize_t, m=Py_ssize_t, largest=double
)
cpdef void solve_all(
    double[::1] costs, double[::1] a, double[::1] b, Py_ssize_t[:, ::1] shapes,
    double[::1] couplings, double[::1] gaps, Py_ssize_t[::1] pivots, Py_ssize_t[::1] solved
)
cdef double _write_coupling(Simplex work, double[::1] couplings) noexcept nogil
cpdef double flow_cost(Simplex work, double[::1] costs, Py_ssize_t offset) noexcept nogil
@cython.locals(row=Py_ssize_t, column=Py_ssize_t)
cpdef void add_means(
    Simplex work, double[:, ::1] tokens, double scale, double[:, ::1] points
) noexcept nogil
@cython.locals(before=double, pivots=Py_ssize_t)
cpdef (double, Py_ssize_t) reoptimise(Simplex work, double largest)
@cython.locals(pivots=Py_ssize_t, computed=Py_ssize_t, rounding=double)
cdef Py_ssize_t optimise(Simplex work, double largest) noexcept nogil
@cython.locals(pivots=Py_ssize_t)
cdef Py_ssize_t _start_lists(Simplex work, double tolerance) noexcept nogil
@cython.locals(threshold=double)
cdef Py_ssize_t _pivot_large_excess_first(
    Simplex work, double largest, Py_ssize_t most, Py_ssize_t pivots
) noexcept nogil
@cython.locals(column=Py_ssize_t, least=double, place=Py_ssize_t, excess=double)
cdef Py_ssize_t _pivot_while_possible(
    Simplex work, double tolerance, Py_ssize_t pivots, Py_ssize_t most
) noexcept nogil
@cython.locals(place=Py_ssize_t, excess=double, bound=double)
cdef Py_ssize_t _pivot_once_per_row(
    Simplex work, double tolerance, Py_ssize_t pivots
) noexcept nogil
@cython.locals(column=Py_ssize_t)
cdef double _excess(Simplex work, Py_ssize_t row, Py_ssize_t place) noexcept nogil
cdef void _pivot(Simplex work, Py_ssize_t source, Py_ssize_t sink, double excess) noexcept nogil
@cython.locals(
    whole=Py_ssize_t, below=Py_ssize_t, own=Py_ssize_t, row=Py_ssize_t, column=Py_ssize_t
)
cdef void _replace_arc(
    Simplex work, Py_ssize_t top, Py_ssize_t parent, Py_ssize_t last, Py_ssize_t apex,
    double moved, double excess
) noexcept nogil
cdef void _shift(
    Simplex work, Py_ssize_t top, Py_ssize_t skipped, double change
) noexcept nogil
@cython.locals(shift=double, change=double, before=double)
cdef double _compute_potentials(Simplex work) noexcept nogil
cpdef void compute_flow(Simplex work) noexcept nogil
@cython.locals(j=Py_ssize_t)
cpdef void start_greedily(Simplex work) noexcept nogil
cdef void _find_open_column(Simplex work, Py_ssize_t row, bint every) noexcept nogil
