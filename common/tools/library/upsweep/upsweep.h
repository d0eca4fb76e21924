/* upsweep.h — all of the library's headers for C and C++. version.h says what a call looks like. */
#ifndef UPSWEEP_UPSWEEP_H
#define UPSWEEP_UPSWEEP_H

#include "scan.h"
#include "select.h"
#include "sort.h"
#include "table.h"
#include "version.h"

#endif
