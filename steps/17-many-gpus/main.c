/*
 * main.c — the program ./step17, one process for each rank.
 *
 * Options and device come before MPI_Init, because choosing the emulator starts the program again.
 * Their errors are reported after MPI_Init, once for all ranks.
 */
#define _POSIX_C_SOURCE 200809L /* setenv */
#include "program.h"
#include "request.h"

#include "common/harness/print/print.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

extern const struct step step17;

/* Only rank 0 prints progress. Open MPI sets the variable, and MPI is not initialised yet. With
 * another MPI all ranks print progress. */
static void quieten(void)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    if (rank && strcmp(rank, "0") != 0) setenv("EMU_PROGRESS", "0", 1);
}

/* A rank that runs without mpirun is alone. Open MPI would start a daemon for it, which needs PATH,
 * ssh and sockets, although it has nothing to do. */
static void settle_alone(void)
{
    if (!getenv("OMPI_COMM_WORLD_RANK")) setenv("OMPI_MCA_ess_singleton_isolated", "1", 0);
}

static void begin(struct start *s, int argc, char **argv)
{
    subject_open(&s->subject, &step17, &s->options);
    s->code = options_parse(&s->options, &step17, s->subject.self, argc, argv, &s->fault);
    if (s->code || s->options.help || s->options.version) return;
    s->code = subject_check_files(&s->subject, &s->fault);
    if (!s->code) s->code = many_request_check(s->subject.self, &s->options, &s->fault);
    if (s->code) return;
    ranks_select_early();
    s->code = device_choose(&s->options, &s->device, &s->fault);
}

int main(int argc, char **argv)
{
    static struct start start;
    standard_hold();
    signal(SIGPIPE, SIG_IGN); /* of MPI's sockets; standard_written() takes care of stdout */
    signal(SIGXFSZ, SIG_IGN);
    quieten();
    settle_alone();
    begin(&start, argc, argv);
    MPI_Init(&argc, &argv);
    int code = program_run(&start);
    MPI_Finalize();
    subject_close(&start.subject);
    return code;
}
