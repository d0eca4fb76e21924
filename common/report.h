/*
 * report.h — what the user reads: one calm screen for a run, one line for each size of a sweep; and the
 * same facts as a record (JSON, CSV), whose keys report.c documents.
 */
#ifndef REPORT_H
#define REPORT_H

#include "bench.h"
#include "device.h"
#include "record.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The heading of a step's report: number, title, what it teaches and where it runs. Steps with a `run` of
 * their own begin with it too. device may be NULL: the step runs on the host. */
void report_heading(FILE *, const struct step *, const struct device *);
/* The last line: what is still bad. Nothing if there is nothing. */
void report_still_bad(FILE *, const struct step *);

/* Everything in between, for one run. */
void report_outcome(FILE *, const struct step *, const struct options *, const struct device *,
                    const struct outcome *);

/* A sweep's table: its head, and a line for each size. */
void report_sweep_head(FILE *, const struct step *, const struct device *);
void report_sweep_line(FILE *, const struct step *, const struct device *, const struct outcome *);

/* The table of counters by source line: --counters. */
void report_lines(FILE *, const struct counters *);

/* The keys of --json and --csv. */
void report_record(struct record *, const struct step *, const struct options *,
                   const struct device *, const struct outcome *);

/* Memory traffic of a scan, as the documents count it: each element is read once and written once. */
double report_bytes_moved(const struct step *, size_t n);

#ifdef __cplusplus
}
#endif

#endif
