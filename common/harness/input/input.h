/* input.h — the numbers to be scanned: random ones, .npy files, text. */
#ifndef INPUT_H
#define INPUT_H

#include "common/files/fault.h"
#include "common/step/element.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of host memory that can still be allocated without swapping. */
size_t host_memory(void);

/* ---- reads the header of a .npy file, NumPy's format for an array ---------------------------- */

/* The last two in pictures alone. */
enum npy_kind { NPY_F4, NPY_F8, NPY_I4, NPY_I8, NPY_U4, NPY_U8, NPY_U1, NPY_U2 };

#define NPY_FIRST_BYTE 0x93 /* of "\x93NUMPY"; no text begins so */
#define NPY_DIMENSIONS 3    /* at most */

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

/* Reads and parses the header of a file that stands at its beginning, up to the first element
 * (input_npy.c). */
int npy_header_read(struct npy_header *, FILE *, const char *name, struct fault *);

/* ---- the numbers to be scanned: random numbers, or those of a file --------------------------- */

struct input {
    enum element element;
    size_t n;
    void *data;   /* n elements, malloc'ed; input_free gives it back */
    bool rounded; /* numbers of a file were rounded to the nearest of the type */
};

/* The bytes of a file ("-": stdin), with room for one more. Returns 0, or EXIT_USAGE: it cannot be
 * read, is empty, or has more than `most` bytes. Sentences say what takes no more, and what that
 * means of an empty file: "there are no lines". */
int input_read_bytes(struct input *, const char *path, size_t most, const char *option,
                     const char *of_empty, struct fault *);

/* The same of lines: as grep does, a last one without a newline gets one. */
int input_read_lines(struct input *, const char *path, size_t most, const char *option,
                     const char *of_empty, struct fault *);

/* Random numbers; the same seed gives the same ones on every platform. Integers are never 0, have
 * zero mean, and every sum of neighbours stays below 2^24, so any order of additions gives the same
 * float. Reals have either sign and 1/2 <= |x| < 1. As floats they have 24 digits after the point,
 * and one less for each doubling of n beyond 2^18. Of an integer type they are integers. Random
 * bits are each number of the type, also NaN and infinities, with the same probability. Uniform
 * ones are floats or doubles in [-1, 1), with 23 digits after the point. */
enum random { RANDOM_INTEGERS, RANDOM_REALS, RANDOM_BITS, RANDOM_UNIFORM };

/* n of them. Returns 0, or EXIT_USAGE if memory does not suffice. */
int input_generate(struct input *, enum element, size_t n, enum random, uint64_t seed,
                   struct fault *);

/* A part of an input of `whole` elements: elements first … first+count-1. */
struct input_part {
    size_t first, count, whole;
};

/* A part of the random numbers of the whole input, so input->n is part.count. For integers, making
 * the elements before the part takes time, too. */
int input_generate_part(struct input *, enum element, struct input_part, enum random,
                        uint64_t seed, struct fault *);

/* input.c: the numbers of a file ("-": stdin). Its content says whether it is .npy or text.
 * At most max_n numbers (0: only memory limits them). A real type takes the nearest of each number.
 * An integer type refuses what it cannot hold, with its number in the file, counted from 1. NaN and
 * infinities are taken as they are, and make every sum after them NaN or infinite. Returns 0, or
 * EXIT_USAGE. */
int input_read(struct input *, enum element, const char *path, size_t max_n, struct fault *);

/* Is the path a regular .npy file of a type that is read? Then *element is that type. */
bool input_npy_type(const char *path, enum element *element);

/* ---- input_npy.c: a .npy file that is read by parts ------------------------------------------ */

struct npy_file {
    struct npy_header header; /* header.n: elements of the whole file */
    FILE *file;
    const char *path;
    long start; /* the first element's place in the file */
    long long length; /* bytes */
};

/* Opens a regular .npy file with as many elements as its header promises, at least one. Returns 0,
 * or EXIT_USAGE; then there is nothing to close. */
int npy_file_open(struct npy_file *, const char *path, struct fault *);
/* Reads elements part.first … of the file into input->data, converted as input_read() does it.
 * Returns 0 or EXIT_USAGE. */
int npy_file_read(struct npy_file *, struct input *, enum element, struct input_part,
                  struct fault *);
void npy_file_close(struct npy_file *);

void input_free(struct input *);

/* ---- condition.c: which numbers a user wants ------------------------------------------------- */

/*
 *     x > 0.5        comparisons: < <= > >= == != between x and a number, also 0 < x <= 1
 *     x              x is not 0
 *     isnan(x)       x is a NaN
 *     not a, !a;  a and b, a && b;  a or b, a || b;  (a)      in this order of precedence
 *
 * Meanings are C's: a comparison with a NaN is false, except that x != 1 is true for it. A
 * number becomes one of the element's type first if that is a real one: the same number that it
 * would be in a file. Where elements are integers, it is compared as it is.
 */
#define CONDITION_INTERVALS_MOST 16

/* The numbers whose keys (element_key) lie in one of these intervals. */
struct condition {
    unsigned count;
    struct {
        uint64_t first, last;
    } interval[CONDITION_INTERVALS_MOST];
};

/* Reads a condition on numbers of 4 or 8 bytes. Returns 0, or EXIT_USAGE: it does not parse, or it
 * has too many intervals. */
int condition_read(struct condition *, const char *text, enum element, const char *option,
                   struct fault *);

/* ---- for the readers: input_npy.c, input.c --------------------------------------------------- */

struct reader {
    FILE *file;
    const char *name; /* for messages */
    enum element element;
    size_t max_n; /* 0: no limit */
    bool has_rounded; /* result: numbers were rounded to the nearest of the type */
};

/* The rest of a .npy file (1-D; float32, float64, int32, int64, uint32, uint64; either byte order;
 * format 1 to 3).
 * The file stands before the magic string. */
int input_read_npy(struct reader *, struct input *, struct fault *);

/* Makes room for n elements (grows input->data). EXIT_USAGE if memory does not suffice. */
int input_reserve(struct reader *, struct input *, size_t n, struct fault *);
/* Does the harness accept the result of this conversion as an element? */
bool input_takes(struct reader *, enum conversion);
/* The sentence for a conversion that is refused. `shown` is the value as the file has it. */
int input_refuse(const struct reader *, enum conversion, size_t index, const char *shown,
                 struct fault *);

#ifdef __cplusplus
}
#endif

#endif
