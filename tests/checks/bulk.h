/* bulk.h — the programs about bulk copies use step 12's barriers. */
#ifndef BULK_H
#define BULK_H

#include "pair.h"
#pragma nv_diag_suppress 177 /* not every program needs every function */
#include "steps/12-pipeline/parts/barrier.cuh"

#endif
