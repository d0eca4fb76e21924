/* cublas_reals.c — levels 1 and 2, geam and dgmm, in float and double. */
#include "cublas_inside.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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
#include "cublas_level1.inc"
#include "cublas_level2.inc"
#undef REAL
#undef LETTER
#undef SMALL

#define REAL   double
#define LETTER D
#define SMALL  d
#include "cublas_level1.inc"
#include "cublas_level2.inc"
