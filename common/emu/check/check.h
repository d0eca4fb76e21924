/*
 * check.h — what the checkers have found: the list of findings of a device.
 *
 * A checker (memcheck, racecheck, initcheck, synccheck) reports what it sees with check_report().
 * The same finding seen again, that is of the same tool and kind and at the same places, is one
 * finding with a count; it keeps the details of its first occurrence. Text is kept for as many
 * findings as will be printed (emu_config.finding_limit), the rest is only counted.
 *
 * Reports may come from all host threads of a launch at once. The host reads findings between
 * launches, through emu.h; cudart_check.c prints them as compute-sanitizer does.
 */
#ifndef EMU_CHECK_H
#define EMU_CHECK_H

#include "common/emu/machine/machine.h"

/* Where in a grid something happened. insn NULL: no such place. */
struct check_place {
    const struct insn *insn;
    struct emu_dim block, thread;
};

struct check_report {
    enum emu_check tool;
    enum emu_severity severity;
    /* What was wrong, for recognising it again: "Invalid __global__ write of size 4 bytes". */
    const char *kind;
    struct check_place place, other;
    bool per_thread; /* another thread at the same place is another finding */
    uint64_t times;  /* that it was seen; 0: once */
    /* What is printed: lines with '\n' between them, the first ones with their own indentation.
     * The count follows `head`, as in "[96 hazards]", where `unit` says what is counted; NULL: it
     * is not printed. `detail` may be NULL. */
    const char *head, *unit, *detail;
};

struct check_entry; /* a finding and what it is recognised by */
struct check_log {
    pthread_mutex_t lock;
    struct check_entry **entries; /* oldest first */
    size_t count, room, limit;
    struct check_entry **buckets; /* a hash table of the same */
    uint64_t errors, warnings;
};

bool check_open(struct check_log *, size_t limit);
void check_close(struct check_log *);

/* Keeps or counts a finding. launch NULL: it happened on the host. */
void check_report(struct emu *, const struct launch *, const struct check_report *);

/* Where the host program is; nothing if no finding will ask for it. */
void check_host_place(const struct emu *, struct emu_host_place *);

/* ---- for texts ------------------------------------------------------------------------------- */

enum { CHECK_TEXT = 1600 }; /* room for a head or a detail */

struct check_place check_place(const struct warp *, const struct insn *, int lane);
/* "kernel(int *) in file.cu:12 (PTX line 97)" */
void check_describe_insn(const struct emu_kernel *, const struct insn *, char *text, size_t size);
/* "thread (1,0,0) in block (0,0,0)" */
void check_describe_thread(const struct check_place *, char *text, size_t size);
/* The three lines that most findings begin with:
 *   TITLE
 *       at kernel(int *) in file.cu:12 (PTX line 97)
 *       by thread (1,0,0) in block (0,0,0)
 */
void check_head(const struct launch *, const struct check_place *, const char *title, char *text,
                size_t size);

/* Appends a line with a title, and behind it a line for each frame. */
void check_append_host_place(const struct emu *, const struct emu_host_place *, const char *title,
                             char *text, size_t size);

/* The bytes of a load, a bit each, that go anywhere: not those of a sink, nor those that it
 * takes only because the compiler has widened it. */
uint32_t check_used_bytes(const struct insn *i);

/* For each instruction of a kernel the first one on its source line that counts as the same
 * (enum tally): an unrolled loop is many instructions, and a line is what is reported.
 * malloc'd; NULL: out of memory. */
uint32_t *check_first_of_lines(const struct emu_kernel *);

#endif
