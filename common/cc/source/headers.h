/*
 * headers.h — the headers of CUDA and C that are built in.
 */
#ifndef CC_HEADERS_H
#define CC_HEADERS_H

/* What every text begins with: nvcc includes the CUDA runtime's header by itself. */
extern const char BEGINNING[];

/* The text of <name>; "" for a header that only host code needs; NULL for any other. */
const char *built_in_header(const char *name);

#endif
