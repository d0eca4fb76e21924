/*
 * sass.h — what one machine instruction does to memory.
 *
 * NVIDIA does not document the encoding. The bits in sass.c were found by comparing nvdisasm's text
 * with the bytes, for sm_75 to sm_120. In all of these an instruction has 16 bytes.
 */
#ifndef EMU_SASS_H
#define EMU_SASS_H

#include "common/emu/ptx/ptx.h"

enum { SASS_BYTES = 16, SASS_OLDEST = 75, SASS_NEWEST = 121 /* architectures */ };

enum access_operation {
    ACCESS_NONE,
    ACCESS_LOAD,
    ACCESS_STORE,
    ACCESS_ATOMIC,
    ACCESS_COPY,
    ACCESS_LOAD_ROWS,
    ACCESS_STORE_ROWS
};

/* An access to shared or global memory; COPY: from global to shared memory, asynchronously; ROWS:
 * of matrices (ldmatrix, stmatrix), whatever their number. */
struct sass_access {
    uint8_t operation; /* enum access_operation */
    uint8_t space;     /* PTX_SHARED, PTX_GLOBAL, PTX_GENERIC */
    uint8_t bytes;     /* per lane; 0: unknown */
};

/* The access that an instruction makes; ACCESS_NONE if it makes no access or is never executed. */
struct sass_access sass_access(const unsigned char *instruction, unsigned arch);
/* Is it an atomic without a result that goes by a rule of its own: RED in global memory; in shared
 * memory ATOMS.POPC.INC, by which ptxas adds 1? */
bool sass_is_reduction(const unsigned char *instruction);

#endif
