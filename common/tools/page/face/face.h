/*
 * face.h — runs PTX, or compiles CUDA C, as a text asks for it, and answers in JSON: what the
 * page's worker calls.
 *
 * A request is lines of words. After the line "ptx", the rest of the request is PTX. After the line
 * "compile NAME" it is CUDA C, and nothing runs. After the line "lab LAB NAME" it is CUDA C that is
 * judged as a lab, an exercise ("exercise4") or a first puzzle ("first1") is.
 *
 *   gpu KEY, rules KEY                models of emu.h
 *   check N                           checkers, as bits of enum emu_check
 *   unordered FILE:LINE               racecheck, with strict readers: what this line orders counts
 *                                     as unordered ("-": no line)
 *   schedule SEED                     a random but reproducible order
 *   limit N                           warp instructions, after which a grid is ended
 *   memory BYTES                      of the device
 *   program                           compile main, too; or run it: it launches the kernels
 *   trace [MOST]                      answer with a trace, with steps (watch/trace.h), or with at
 *                                     most this many events of it
 *   buffer NAME TYPE COUNT FILL       FILL: zero, one, ramp (0, 1, 2, …), digits (0 to 9, always
 *                                     the same), none, or values followed by numbers
 *   launch KERNEL GRID BLOCK SHARED ARGUMENT…
 *                                     GRID and BLOCK: x,y,z; SHARED: dynamic bytes; an argument is
 *                                     @NAME or @NAME+BYTES for an address in a buffer, or
 *                                     TYPE:NUMBER; KERNEL with + before its name is launched
 *                                     cooperatively
 *   header PATH LINES                 the next lines are a header, for a text that is compiled, or
 *                                     what a lab needs: solution.cu, weights.txt and hints.txt
 *
 * A type is u8, s8, u16, s16, u32, s32, u64, s64, f32 or f64.
 *
 * The answer has the fields "error" (of enum emu_error; 0: none), "message", "kernels" (with names
 * and parameters), "buffers" (with their "address" and their values as text; "given" has the values
 * before the run of a buffer that the kernels have changed), "document" (as emu --json writes it),
 * "trace" and "events" (how many the whole trace has). An error in the request itself is
 * EMU_INVALID_VALUE.
 *
 * When it compiles, the answer has "error" and "message", "ptx" (null: there are errors in the
 * text) and "diagnostics" (cc.h), with "severity" ("error" or "warning"), "file", "line",
 * "column", "length", "text" and "hint".
 *
 * When it judges, the answer has "error", "message" and "diagnostics", "text" (what check-lab
 * prints), "right" (are there full points?), and for a lab "verdict" (as check-lab --json prints
 * it), "hints" (three texts) and "failing", if a run is wrong: of the one with the fewest elements
 * their number "n", "why", the first wrong "element" (if one is), and "request", the lines that run
 * it again with the buffers "input", "output" and "workspace".
 */
#ifndef PAGE_FACE_H
#define PAGE_FACE_H

#include "common/tools/cc/cc.h"
#include "common/tools/emu/emu.h"
#include "common/tools/emu/report/report.h"

#include <stddef.h>
#include <stdio.h>

/* Runs a request, which ends with NUL. Returns JSON, which the caller frees; NULL: out of
 * memory. */
char *face_run(const char *request);

/* ---- request.c: a request that has been read ------------------------------------------------- */

enum {
    REQUEST_ARGUMENTS = 64,
    REQUEST_NAME = 512,
    REQUEST_BUFFERS = 32,
    REQUEST_LAUNCHES = 32,
    REQUEST_HEADERS = 32,
    REQUEST_LAB = 16
};

struct value_type {
    const char *name; /* "u8" … "f64" */
    unsigned bytes;
};

struct request_buffer {
    char name[REQUEST_NAME];
    const struct value_type *type;
    size_t count;
    void *values; /* NULL: the buffer is not filled */
    emu_addr address;
};

struct request_launch {
    char kernel[REQUEST_NAME];
    bool cooperative;
    struct emu_dim grid, block;
    size_t shared;
    unsigned argument_count;
    int buffer[REQUEST_ARGUMENTS]; /* the index of a buffer; -1: a value */
    uint64_t
        argument[REQUEST_ARGUMENTS]; /* its bits; of a buffer first an offset, then the address */
};

struct request_header {
    char path[REQUEST_NAME];
    char *text;
};

struct request {
    struct emu_config config;
    bool is_program; /* main is compiled or run, too */
    bool wants_trace;
    char unordered[REQUEST_NAME]; /* of the config */
    struct request_buffer buffers[REQUEST_BUFFERS];
    size_t buffer_count;
    struct request_launch launches[REQUEST_LAUNCHES];
    size_t launch_count;
    const char *ptx;       /* in the text that was read; "": none */
    const char *source;    /* CUDA C in the text that was read; NULL: nothing is to be compiled */
    char lab[REQUEST_LAB]; /* as which the source is judged; "": as none */
    char source_name[REQUEST_NAME];
    struct request_header headers[REQUEST_HEADERS];
    size_t header_count;
};

/* Reads a text, which must outlive the request. False: message[size] says what is wrong. The caller
 * calls request_free() in both cases. */
bool request_read(struct request *, const char *text, char *message, size_t size);
void request_free(struct request *);
/* The text of a header; NULL: the request has none at this path. */
const char *request_header(const struct request *, const char *path);
/* Writes a value as text: nine digits of an f32, seventeen of an f64. */
void value_print(FILE *, const struct value_type *, const void *value);

/* ---- judge.c --------------------------------------------------------------------------------- */

/* Writes the answer to a request that has CUDA C, as it is described above: the PTX of its
 * `source`, or what is said of it as the lab `lab`. */
void compile_answer(FILE *out, const struct request *);
void judge_answer(FILE *out, const struct request *);

#endif
