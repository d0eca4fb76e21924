/*
 * input_npy.h — reads the header of a .npy file, NumPy's format for an array.
 */
#ifndef INPUT_NPY_H
#define INPUT_NPY_H

#include "common/command/fault.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The last two in pictures alone. */
enum npy_kind { NPY_F4, NPY_F8, NPY_I4, NPY_I8, NPY_U4, NPY_U8, NPY_U1, NPY_U2 };

#define NPY_DIMENSIONS 3 /* at most */

struct npy_header {
    unsigned most; /* set by the caller: the most dimensions that are accepted; 1: no picture */
    enum npy_kind kind;
    bool lowest_first; /* of the bytes of an element */
    bool swap;         /* the file's byte order is not this machine's */
    bool by_columns;   /* the first index changes fastest, not the last one */
    size_t n;          /* elements */
    unsigned dimensions;
    size_t shape[NPY_DIMENSIONS];
};

/*
 * Reads the header's text, which has no zero byte. `name` is the file's, for sentences. Returns 0,
 * or EXIT_USAGE if NumPy does not write such a header for an array of numbers, or what of it is not
 * supported: more than header->most dimensions, or elements other than float32, float64,
 * int32, int64, uint32 and uint64, of a picture other than uint8, uint16 and float32.
 */
int npy_header_parse(struct npy_header *, const char *text, const char *name, struct fault *);

/* Reads and parses the header of a file that stands at its beginning, up to the first element
 * (input_npy.c). */
int npy_header_read(struct npy_header *, FILE *, const char *name, struct fault *);

/* Fails with "FILE is no usable .npy file: what." */
int npy_malformed(const char *name, const char *what, struct fault *);

#ifdef __cplusplus
}
#endif

#endif
