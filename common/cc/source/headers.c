/*
 * headers.c — the headers of CUDA and C that are built in: what device code can use of them.
 */
#include "source.h"

#include <stddef.h>
#include <string.h>

const char BEGINNING[] = "#define __CUDACC__ 1\n"
                         "#define __NVCC__ 1\n"
                         "#define __CUDA_ARCH__ 900\n"
                         "#define __cplusplus 201703L\n"
                         "#define __CUDACC_VER_MAJOR__ 13\n"
                         "#define NULL nullptr\n"
                         "#define INFINITY 1e999f\n"
                         "#define CHAR_BIT 8\n"
                         "#define SHRT_MAX 32767\n"
                         "#define INT_MAX 2147483647\n"
                         "#define INT_MIN (-INT_MAX - 1)\n"
                         "#define UINT_MAX 4294967295u\n"
                         "#define LONG_MAX 9223372036854775807L\n"
                         "#define LONG_MIN (-LONG_MAX - 1)\n"
                         "#define ULONG_MAX 18446744073709551615uL\n"
                         "typedef unsigned long size_t;\n"
                         "typedef long ptrdiff_t;\n"
                         "typedef signed char int8_t;\n"
                         "typedef short int16_t;\n"
                         "typedef int int32_t;\n"
                         "typedef long int64_t;\n"
                         "typedef unsigned short ushort;\n"
                         "typedef unsigned int uint;\n"
                         "typedef unsigned long ulong;\n";

static const char STDINT[] = "typedef unsigned char uint8_t;\n"
                             "typedef unsigned short uint16_t;\n"
                             "typedef unsigned int uint32_t;\n"
                             "typedef unsigned long uint64_t;\n"
                             "typedef long intptr_t;\n"
                             "typedef unsigned long uintptr_t;\n"
                             "#define INT8_MAX 127\n"
                             "#define INT16_MAX 32767\n"
                             "#define INT32_MAX 2147483647\n"
                             "#define INT32_MIN (-INT32_MAX - 1)\n"
                             "#define INT64_MAX 9223372036854775807L\n"
                             "#define INT64_MIN (-INT64_MAX - 1)\n"
                             "#define UINT8_MAX 255\n"
                             "#define UINT16_MAX 65535\n"
                             "#define UINT32_MAX 4294967295u\n"
                             "#define UINT64_MAX 18446744073709551615uL\n"
                             "#define SIZE_MAX UINT64_MAX\n";

static const char FLOAT[] = "#define FLT_MAX 3.402823466e+38f\n"
                            "#define FLT_MIN 1.175494351e-38f\n"
                            "#define FLT_EPSILON 1.192092896e-07f\n"
                            "#define DBL_MAX 1.7976931348623157e+308\n"
                            "#define DBL_MIN 2.2250738585072014e-308\n"
                            "#define DBL_EPSILON 2.2204460492503131e-16\n";

/* What host code includes, which is skipped; also names that every text has. */
static const char *const NOTHING_OF[] = {
    "algorithm", "assert.h",  "cassert",    "chrono",  "climits",  "cmath",
    "cstddef",   "cstdio",    "cstdlib",    "cstring", "cuda.h",   "cuda_runtime.h",
    "ctime",     "errno.h",   "fstream",    "iomanip", "iostream", "cuda_runtime_api.h",
    "limits.h",  "math.h",    "memory",     "numeric", "random",   "device_launch_parameters.h",
    "stddef.h",  "stdbool.h", "stdio.h",    "sstream", "stdlib.h", "string.h",
    "string",    "time.h",    "sys/time.h", "utility", "unistd.h", "vector"};

const char *built_in_header(const char *name)
{
    if (strcmp(name, "stdint.h") == 0 || strcmp(name, "cstdint") == 0) return STDINT;
    if (strcmp(name, "float.h") == 0 || strcmp(name, "cfloat") == 0) return FLOAT;
    for (size_t i = 0; i < sizeof(NOTHING_OF) / sizeof(NOTHING_OF[0]); i++)
        if (strcmp(name, NOTHING_OF[i]) == 0) return "";
    return NULL;
}
