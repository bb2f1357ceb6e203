cimport cython

cdef class Tree:
    cdef public Py_ssize_t n, m, offset
    cdef public Py_ssize_t[::1] parent, child, next, previous, order
    cdef public double[::1] costs, flow, price, potential

@cython.locals(row=Py_ssize_t, column=Py_ssize_t, place=Py_ssize_t)
cdef Py_ssize_t pair(Tree tree, Py_ssize_t node) noexcept nogil
cdef void attach(Tree tree, Py_ssize_t node, Py_ssize_t parent) noexcept nogil
cdef void detach(Tree tree, Py_ssize_t node) noexcept nogil
cdef void reverse_branch(
    Tree tree, Py_ssize_t top, Py_ssize_t parent, Py_ssize_t last, double price, double moved
) noexcept nogil
@cython.locals(count=Py_ssize_t, place=Py_ssize_t)
cdef Py_ssize_t list_nodes(Tree tree, Py_ssize_t root) noexcept nogil
