/*
 * table_file.h — a summed-area table as a .npy file.
 */
#ifndef STEP14_TABLE_FILE_H
#define STEP14_TABLE_FILE_H

#include "common/command/fault.h"
#include "common/step/element.h"
#include "judge.h"

/*
 * Writes a table (height x width, or height x width x channels) in the order of the picture:
 * uint32, or uint64 if a sum of `pixels` reaches 2^32, or float32 for tables of floats. The fast
 * variant's table is modulo 2^32; what is lost is found again, since sums of single rows, or of
 * single columns, are below 2^32. Returns 0 or EXIT_USAGE; after that there is no file.
 */
int table_file_write(const char *path, enum variant, const void *table, const void *pixels,
                     enum element, struct sat_size, struct fault *);

#endif
