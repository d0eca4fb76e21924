/*
 * recorded.h — a number of profiles/h200/counters.csv, and by how much the emulator may differ from
 * it.
 */
#ifndef RECORDED_H
#define RECORDED_H

#include "common/emu/emu.h"
#include "common/step/step.h"

#define RECORDED "profiles/h200/counters.csv"

/* A number: a total of a launch, or a count of one source line, whose text is SOURCE. Its row has
 * the fields before METRIC, and then a column for each metric. */
enum { STEP, VARIANT, N, KERNEL, LAUNCH, LINE, SOURCE, METRIC, VALUE, FIELDS };
struct number {
    const char *fields[FIELDS];
};

/* ncu's counters of shared and global memory, of op ld or st, and of additions. */
#define CONFLICTS(op)           "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_" op ".sum"
#define WAVEFRONTS(op)          "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_" op ".sum"
#define SHARED_INSTRUCTIONS(op) "smsp__sass_inst_executed_op_shared_" op ".sum"
#define REQUESTS(op)            "l1tex__t_requests_pipe_lsu_mem_global_op_" op ".sum"
#define SECTORS(op)             "l1tex__t_sectors_pipe_lsu_mem_global_op_" op ".sum"
#define FADD                    "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum"

/*
 * Lines whose counts are compared by their sum, because nvcc and ptxas do not agree to which of
 * them an access belongs. Or lines in which threads poll; the number of polls varies from run to
 * run.
 */
struct line_group {
    const char *step, *kernel; /* kernel NULL: any */
    const char *counts;        /* how the metrics end; others are compared line by line */
    bool polls;
    struct place {
        const char *file, *text; /* where, and how the line begins; NULL: any */
    } lines[4];
};

/* The group of a number, or the group in which a kernel's threads poll; NULL: none. */
const struct line_group *group_of(const struct number *);
const struct line_group *polls_of(const struct number *);

/* Does a line of the source belong to it? */
bool in_group(const struct line_group *, const char *path, const char *text);

/* The emulator's value of a metric of ncu, or of a sum that profiles/measure/ncu.py makes. */
double metric_of(const struct emu_counts *, const char *name);

/* The emulator's counts of a source line: `name` is its file and its place among the lines of that
 * file with the same text, as in "scan.cu#1". NULL: the launch has no such line. */
const struct emu_counts *counts_of_line(const struct emu_launch_record *, const char *name,
                                        const char *text);
/* The emulator's counts in the lines of a group. */
double counts_of_group(const struct line_group *, const struct emu_launch_record *,
                       const char *metric);

/* The range of ncu's counts that is accepted where the emulator has counted `counted`, of which
 * `polled` in lines that poll: from least to most. If grain is not 0: least plus a multiple of
 * grain. */
struct expected {
    double least, most, grain;
};
struct expected expect_of(const struct number *, const struct step *, int variant,
                          const struct emu_launch_record *, double counted, double polled);

#endif
