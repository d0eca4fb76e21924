/* waits.c — waits for other ranks, up to the limit that many_create gets. */
#define _POSIX_C_SOURCE 200809L /* nanosleep */
#include "exchange.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define SPIN_SECONDS 0.01   /* an exchange takes less, and a nap would delay it */
#define NAP_NS       100000 /* between polls after that */
#define GAP_SECONDS  1.0    /* more between two polls: this process was stopped itself */

int scan_lost(struct many_scan *s, struct fault *fault, const char *format, ...)
{
    char what[FAULT_TEXT / 2];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    s->lost = true;
    return fail(fault, EXIT_DEVICE,
                "%s within %g second%s; let the ranks wait longer, or call many_reset on all of "
                "them.",
                what, s->wait, s->wait == 1 ? "" : "s");
}

int await(struct many_scan *s, MPI_Request *request, const char *call, struct fault *fault)
{
    static const struct timespec nap = {0, NAP_NS};
    double waited = 0, before = MPI_Wtime();
    for (int is_done = 0;;) {
        MPI_Test(request, &is_done, MPI_STATUS_IGNORE);
        if (is_done) return 0;
        double now = MPI_Wtime(), gap = now - before;
        waited += gap < GAP_SECONDS ? gap : GAP_SECONDS;
        before = now;
        if (s->wait > 0 && waited > s->wait)
            return scan_lost(s, fault, "not all ranks have called %s", call);
        if (waited > SPIN_SECONDS) nanosleep(&nap, NULL);
    }
}

int meet(struct many_scan *s, const char *call, struct fault *fault)
{
    if (s->meeting == MPI_REQUEST_NULL) MPI_Ibarrier(s->control, &s->meeting);
    return await(s, &s->meeting, call, fault);
}

/* ---- agreement ------------------------------------------------------------------------------- */

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
