/* cublas_reals.c — products of matrices, levels 1 and 2, geam and dgmm, in float and double. */
#include "libs.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of the blocks: they fit into a CPU's caches. */
enum { HEIGHT = 96, WIDTH = 512, DEPTH = 256, NR = 4 };

/* The begin of a vector: with a negative increment, its first element has the highest address. */
#define BEGIN_OF(x, n, increment) ((x) + ((increment) < 0 ? (ptrdiff_t)(1 - (n)) * (increment) : 0))

#define JOIN_(a, b, c, d) a##b##c##d
#define JOIN(a, b, c, d)  JOIN_(a, b, c, d)
#define TEXT_(x)          #x
#define TEXT(x)           TEXT_(x)

/* Functions of the library, and a name as programs write it. */
#define V2(name)     JOIN(cublas, LETTER, name, _v2)
#define V1(name)     JOIN(cublas, LETTER, name, )
#define INDEX(name)  JOIN(cublasI, SMALL, name, _v2)
#define CALLED(name) "cublas" TEXT(LETTER) #name
#define OWN(name)    JOIN(name, _, REAL, )

#define REAL   float
#define LETTER S
#define SMALL  s
#include "cublas_reals.inc"
#undef REAL
#undef LETTER
#undef SMALL

#define REAL   double
#define LETTER D
#define SMALL  d
#include "cublas_reals.inc"
