/* cublas_product.c — the product of two matrices, for each type of reals. */
#include "cublas_inside.h"

#include <stdlib.h>
#include <string.h>

/* Of the blocks: they fit into a CPU's caches. */
enum { HEIGHT = 96, WIDTH = 512, DEPTH = 256, NR = 4 };

#define REAL    float
#define NAME(x) x##_float
#include "cublas_product.inc"

#define REAL    double
#define NAME(x) x##_double
#include "cublas_product.inc"
