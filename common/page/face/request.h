/* request.h — a request of face.h: reading, compiling and judging it. */
#ifndef PAGE_REQUEST_H
#define PAGE_REQUEST_H

#include "common/emu/emu.h"
#include "common/cc/cc.h"
#include "common/emu/report/report.h"

#include <stdio.h>

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
    uint64_t most_events; /* that the trace keeps */
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
/* The type with this name, of `length` bytes; NULL: unknown. */
const struct value_type *value_type(const char *name, size_t length);
/* Writes a value as text: nine digits of an f32, seventeen of an f64. */
void value_print(FILE *, const struct value_type *, const void *value);

/* ---- compile.c: compiles the CUDA C of a request --------------------------------------------- */

/* Writes the answer to a request whose `source` is not NULL, as face.h describes it. */
void compile_answer(FILE *out, const struct request *);

/* Compiles that source. The caller frees the result. */
struct cc_result *compile_request(const struct request *);
/* Writes the list "diagnostics". */
void compile_diagnostics(struct json *, const struct cc_result *);

/* ---- judge.c: judges a lab or a first puzzle, as `make check3 COMPILER=own` does ------------- */

/* Writes the answer to a request whose `lab` is not "", as face.h describes it. */
void judge_answer(FILE *out, const struct request *);

/* ---- outside.c: what a run tells the page ---------------------------------------------------- */

/* Some of the runs are done. The page shows it. */
void face_progress(unsigned done, unsigned all);

#endif
