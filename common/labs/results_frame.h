/*
 * results_frame.h — the bytes of the stream, for results_write.c and results_read.c. Both are
 * programs of the same build, so numbers and structs stand there as they are in memory.
 *
 * frame_begin, then for each case a frame_case with its output, lines, operations and findings
 * behind it, then TAG_END.
 */
#ifndef LAB_RESULTS_FRAME_H
#define LAB_RESULTS_FRAME_H

#include "results.h"

#define TAG_BEGIN "upsw"
#define TAG_CASE  "case"
#define TAG_END   "end."

enum { TAG_BYTES = 4, RESULTS_VERSION = 7, RESULTS_WORDS = 1 << 20 };

struct frame_begin {
    char tag[TAG_BYTES];
    uint32_t version, lab, handed_out;
    uint64_t seed;
};

struct frame_case {
    char tag[TAG_BYTES];
    uint32_t end;
    struct lab_case is;
    uint64_t words; /* of the output; 0: none */
    uint32_t line_count, operation_count, finding_count, unused;
    uint64_t errors, warnings, dropped, printed, longest_warps;
    struct emu_counts total;
    char message[RESULTS_TEXT];
};

#endif
