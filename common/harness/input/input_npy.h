/*
 * input_npy.h — reads the header of a .npy file, NumPy's format for an array.
 */
#ifndef INPUT_NPY_H
#define INPUT_NPY_H

#include "common/command/fault.h"

#include <stdbool.h>
#include <stddef.h>

enum npy_kind { NPY_F4, NPY_F8, NPY_I4, NPY_I8, NPY_U4, NPY_U8 };

struct npy_header {
    enum npy_kind kind;
    bool swap; /* the file's byte order is not this machine's */
    size_t n;  /* elements */
};

/*
 * Reads the header's text, which has no zero byte: a Python dictionary with the keys 'descr',
 * 'fortran_order' and 'shape', each once and no other, in any order, as NumPy takes it. `name` is
 * the file's, for sentences. Returns 0, or EXIT_USAGE and what is wrong with the header, or what of
 * it is not supported: all but one dimension of float32, float64, int32, int64, uint32 or uint64.
 */
int npy_header_parse(struct npy_header *, const char *text, const char *name, struct fault *);

/* "FILE is no usable .npy file: what." */
int npy_malformed(const char *name, const char *what, struct fault *);

#endif
