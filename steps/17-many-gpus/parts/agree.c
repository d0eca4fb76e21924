/* agree.c — lets all ranks go on together, or end together. */
#include "agree.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* Do all ranks have the sentence `said`? */
static int all_alike(MPI_Comm comm, int code, const struct fault *own, const struct fault *said)
{
    int alike = code && strcmp(own->text, said->text) == 0, all;
    MPI_Allreduce(&alike, &all, 1, MPI_INT, MPI_LAND, comm);
    return all;
}

int agree(MPI_Comm comm, int code, struct fault *fault)
{
    int rank, ranks, first;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    int failed = code ? rank : INT_MAX;
    MPI_Allreduce(&failed, &first, 1, MPI_INT, MPI_MIN, comm);
    if (first == INT_MAX) return 0;
    struct fault said = *fault;
    MPI_Bcast(&said, (int)sizeof said, MPI_BYTE, first, comm);
    fault->code = said.code;
    if (all_alike(comm, code, fault, &said)) return fault->code;
    int used = snprintf(fault->text, sizeof fault->text, "rank %d of %d: ", first, ranks);
    snprintf(fault->text + used, sizeof fault->text - (size_t)used, "%.*s",
             (int)(sizeof fault->text - 1) - used, said.text);
    return fault->code;
}
