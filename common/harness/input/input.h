/*
 * input.h — the numbers to be scanned: random numbers, or those of a file.
 */
#ifndef INPUT_H
#define INPUT_H

#include "common/command/fault.h"
#include "common/harness/element.h"

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

struct input {
    enum element element;
    size_t n;
    void *data;   /* n elements, malloc'ed; input_free gives it back */
    bool rounded; /* numbers of a file were rounded to the nearest of the type */
};

/*
 * input_generate.c: n random numbers of the step's type. The same seed gives the same numbers on
 * every platform. Integers (real = false) are never 0, have zero mean, and every sum of neighbours
 * stays below 2^24, so any order of additions gives the same float. Real numbers have either sign
 * and 1/2 <= |x| < 1. As floats they have 24 digits after the point, and one less for each
 * doubling of n beyond 2^18. Integer types have no real numbers. Returns 0, or EXIT_USAGE if
 * memory does not suffice.
 */
int input_generate(struct input *, enum element, size_t n, bool real, uint64_t seed,
                   struct fault *);
/* Elements of random bits: each number of the type, also NaN and infinities, is as likely as any
 * other. */
int input_generate_bits(struct input *, enum element, size_t n, uint64_t seed, struct fault *);
/* Real numbers, uniform in [-1, 1), with 23 digits after the point. Only for float and double. */
int input_generate_uniform(struct input *, enum element, size_t n, uint64_t seed, struct fault *);

/*
 * input.c: the numbers of a file ("-": stdin). Its content says whether it is .npy or text. At most
 * max_n numbers (0: only memory limits them). Fractions are rounded to
 * the nearest float. Another value that the element type cannot hold exactly is refused, with its
 * number in the file, counted from 1, or rounded if `round`. NaN and infinities are taken
 * as they are, and make every sum after them NaN or infinite. Returns 0, or EXIT_USAGE.
 */
int input_read(struct input *, enum element, const char *path, size_t max_n, bool round,
               struct fault *);

/* Is the path a regular .npy file of a type that is read? Then *element is that type. */
bool input_npy_type(const char *path, enum element *element);

void input_free(struct input *);

/* ---- for the readers: input_npy.c, input_text.c ---------------------------------------------- */

struct reader {
    FILE *file;
    const char *name; /* for messages */
    enum element element;
    size_t max_n; /* 0: no limit */
    bool round;
    bool has_rounded; /* result: numbers were rounded to the nearest of the type */
};

/* The rest of a .npy file (1-D; float32, float64, int32, int64, uint32, uint64; either byte order;
 * format 1 to 3).
 * The file stands before the magic string. */
int input_read_npy(struct reader *, struct input *, struct fault *);
/* Numbers separated by white space or commas, to the end of the file. */
int input_read_text(struct reader *, struct input *, struct fault *);

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
