/*
 * check.h — the list of a device's findings.
 *
 * A checker (memcheck, racecheck, initcheck, synccheck) reports with check_report(). Reports of the
 * same tool and kind at the same places are one finding with a count, which keeps the details of
 * the first report. At most emu_config.finding_limit findings keep their text; the others are only
 * counted.
 *
 * All host threads of a launch may report at the same time. The host reads findings between
 * launches, through emu.h. runtime/findings.c prints them in compute-sanitizer's format.
 */
#ifndef EMU_CHECK_H
#define EMU_CHECK_H

#include "common/emu/machine/machine.h"

/* Where in a grid something happened, as emu_place has it. insn NULL: the end of the kernel. */
struct check_place {
    bool is_known, is_copy, has_thread;
    const struct insn *insn;
    const char *access;
    struct emu_dim block, thread;
};

/* The kernels and lines of a finding about two launches, of which one is over: as emu_finding has
 * them. */
struct check_sources {
    const char *kernel, *other_kernel;
    struct emu_place place, other;
};

struct check_report {
    enum emu_check tool;
    enum emu_severity severity;
    const char *kind, *title; /* as emu_finding has them */
    const char *same;         /* identifies the finding, with the places; NULL: the title does */
    struct check_place place, other;
    bool per_thread; /* another thread at the same place is another finding */
    uint64_t times;  /* how often it occurred; 0: once */
    /* If it is about an access: of a lane. */
    bool has_address;
    enum ptx_space space;
    uint64_t address;
    unsigned bytes;
    const char *head; /* NULL: it is made from the fields above (check_finding_text.c) */
    const struct check_sources *sources; /* NULL: the places above, of the launch */
    /* What is printed behind the head. A
     * count follows the head, as in "[96 hazards]", with `unit` as its unit; NULL: no count is
     * printed. `detail` is lines separated by '\n', already indented, or NULL. */
    const char *unit, *detail;
};

struct check_entry; /* a finding and what identifies it */
struct check_log {
    pthread_mutex_t lock;
    struct check_entry **entries; /* oldest first */
    size_t count, room, limit;
    struct check_entry **buckets; /* a hash table of the same */
    uint64_t errors, warnings, races; /* races: those errors that racecheck has found */
};

bool check_open(struct check_log *, size_t limit);
void check_close(struct check_log *);

/* Keeps or counts a finding. launch NULL: it happened on the host. */
void check_report(struct emu *, const struct launch *, const struct check_report *);

/* Is this the first question about a source line and the kind of an instruction there, or about
 * an instruction without a line? For faults with which a launch goes on: one finding is enough. */
bool check_is_first_at(const struct launch *, const struct insn *);

/* Where the host program is now; empty if no finding can need it. */
void check_host_place(const struct emu *, struct emu_host_place *);

/* ---- for texts ------------------------------------------------------------------------------- */

enum { CHECK_TEXT = 1600 }; /* room for a head or a detail */

struct check_place check_place(const struct warp *, const struct insn *, int lane);
/* "kernel(int *) in file.cu:12 (PTX line 97)" */
void check_describe_insn(const struct emu_kernel *, const struct insn *, char *text, size_t size);
/* "thread (1,0,0) in block (0,0,0)" */
void check_describe_thread(const struct check_place *, char *text, size_t size);
/* The first lines of a finding, from its other fields. Most are
 *   TITLE
 *       at kernel(int *) in file.cu:12 (PTX line 97)
 *       by thread (1,0,0) in block (0,0,0)
 * a hazard has both places, and what happened on the host only its title. (check_finding_text.c) */
void finding_head(const struct emu_finding *, char *text, size_t size);

/* Appends a line with a title, and behind it a line for each frame. */
void check_append_host_place(const struct emu *, const struct emu_host_place *, const char *title,
                             char *text, size_t size);
/* Appends where the host launched a kernel, or which kernel did. */
void check_append_launch(const struct launch *, char *text, size_t size);

/* The bytes of a load that are used, a bit each: not those of a sink (_), nor those that the load
 * reads only because the compiler widened it. */
uint32_t check_used_bytes(const struct insn *i);

/* What an instruction is to the checkers. Accesses to textures and surfaces, and those of tensor
 * cores, are loads and stores here. */
enum tally check_tally(const struct insn *i);

/* For each instruction of a kernel, the first instruction of its source line with the same tally
 * (check_tally). An unrolled loop has many copies of an instruction, and findings are reported by
 * line. malloc'd; NULL: out of memory. */
uint32_t *check_first_of_lines(const struct emu_kernel *);

#endif
