/* bulk.h — the programs about bulk copies have their barriers from step 12. */
#ifndef BULK_H
#define BULK_H

#include "pair.h"
#pragma nv_diag_suppress 177 /* not every program needs every function */
#include "steps/12-pipeline/parts/barrier.cuh"

#endif
