/* face.c — answers a request of the page's worker in JSON. */
#define _GNU_SOURCE /* open_memstream */
#include "face.h"
#include "common/tools/emu/ptx/insn.h"
#include "common/tools/emu/ptx/ptx.h"
#include "common/tools/emu/report/report.h"
#include <stdlib.h>
#include <string.h>

enum { MESSAGE = 2000 };

/* A request while it runs. */
struct session {
    struct request request;
    struct emu *emu;
    struct emu_module *module;
    struct emu *host; /* on which main runs; NULL: none does */
    struct emu_program program;
    bool went_on; /* main has ended, although a kernel has failed */
    struct document document;
    FILE *trace_file;
    char *trace; /* set when trace_file is flushed */
    size_t trace_size;
    int error;
    char message[MESSAGE];
};

/* Keeps the first error. */
static bool fail(struct session *s, int error, const char *message)
{
    if (s->error) return false;
    s->error = error;
    snprintf(s->message, sizeof s->message, "%s", message);
    return false;
}

/* ---- running --------------------------------------------------------------------------------- */

static bool open_device(struct session *s)
{
    struct emu_config config = s->request.config;
    char message[MESSAGE];
    if (s->request.wants_trace) {
        config.trace = s->trace_file = open_memstream(&s->trace, &s->trace_size);
        if (!s->trace_file) return fail(s, EMU_OUT_OF_MEMORY, "out of memory");
    }
    s->emu = emu_open(&config, message, sizeof message);
    return s->emu || fail(s, EMU_OUT_OF_MEMORY, message);
}

static bool load(struct session *s)
{
    const char *ptx = s->request.ptx;
    int error = emu_load(s->emu, ptx, strlen(ptx), "the PTX text", &s->module);
    return !error || fail(s, error, emu_message(s->emu));
}

static bool make_buffers(struct session *s)
{
    for (size_t k = 0; k < s->request.buffer_count; k++) {
        struct request_buffer *b = &s->request.buffers[k];
        size_t size = b->count * b->type->bytes;
        int error = emu_alloc(s->emu, size, &b->address);
        if (!error && b->values) error = emu_write(s->emu, b->address, b->values, size);
        if (error) return fail(s, error, emu_message(s->emu));
    }
    return true;
}

/* The kernel has as many parameters as there are arguments, each of at most 8 bytes. */
static bool fits(struct session *s, const struct emu_kernel_info *info,
                 const struct request_launch *l)
{
    char message[MESSAGE];
    if (info->params != l->argument_count) {
        snprintf(message, sizeof message,
                 "the kernel has %u parameters, and %u arguments are given", info->params,
                 l->argument_count);
        return fail(s, EMU_INVALID_VALUE, message);
    }
    for (unsigned k = 0; k < info->params; k++)
        if (info->param_size[k] > sizeof *l->argument)
            return fail(s, EMU_INVALID_VALUE,
                        "a parameter of more than 8 bytes cannot be given here");
    return true;
}

static bool launch(struct session *s, struct request_launch *l)
{
    struct emu_kernel *kernel;
    void *arguments[REQUEST_ARGUMENTS];
    int error = emu_kernel(s->emu, s->module, l->kernel, &kernel);
    if (error) return fail(s, error, emu_message(s->emu));
    if (!fits(s, emu_kernel_info(kernel), l)) return false;
    for (unsigned k = 0; k < l->argument_count; k++) {
        if (l->buffer[k] >= 0) l->argument[k] += s->request.buffers[l->buffer[k]].address;
        arguments[k] = &l->argument[k];
    }
    error = emu_launch(s->emu, kernel, l->grid, l->block, l->shared, arguments, l->cooperative);
    return !error || fail(s, error, emu_message(s->emu));
}

static bool run_program(struct session *s)
{
    enum { MORE = 16 << 20 }; /* besides the heap */
    const struct emu_config *of_gpu = &s->request.config;
    struct emu_config config = {.threads = 1,
                                .memory = of_gpu->memory + MORE,
                                .number = 1,
                                .instruction_limit = of_gpu->instruction_limit,
                                .checks = of_gpu->checks & (EMU_CHECK_MEMORY | EMU_CHECK_INIT)};
    struct emu_module *module;
    char message[MESSAGE];
    const char *ptx = s->request.ptx;
    s->host = emu_open(&config, message, sizeof message);
    if (!s->host) return fail(s, EMU_OUT_OF_MEMORY, message);
    s->program.gpu = s->emu;
    s->program.module = s->module;
    int error = emu_heap_limit(s->host, of_gpu->memory);
    if (!error) error = emu_load(s->host, ptx, strlen(ptx), "the PTX text", &module);
    if (!error) error = emu_run_main(s->host, module, CC_MAIN, &s->program);
    if (s->program.fault) fail(s, s->program.fault, s->program.message);
    s->went_on = s->program.fault && !error;
    return !error || fail(s, error, emu_message(s->host));
}

static void run(struct session *s, const char *text)
{
    char message[MESSAGE];
    if (!request_read(&s->request, text, message, sizeof message)) {
        fail(s, EMU_INVALID_VALUE, message);
        return;
    }
    if (s->request.source) return;
    if (!open_device(s) || !load(s) || !make_buffers(s)) return;
    if (s->request.is_program) run_program(s);
    for (size_t k = 0; k < s->request.launch_count; k++)
        if (!launch(s, &s->request.launches[k])) return;
}

/* ---- the answer ------------------------------------------------------------------------------ */

static void write_parameters(struct json *j, const struct ptx_function *f)
{
    json_open(j, "parameters", '[');
    for (size_t k = 0; k < f->param_count; k++) {
        json_open(j, NULL, '{');
        json_text(j, "name", f->params[k].name);
        json_text(j, "type", ptx_type_name(f->params[k].type));
        json_number(j, "bytes", f->params[k].bytes);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void write_kernels(struct json *j, struct session *s)
{
    char whole[REQUEST_NAME], message[MESSAGE];
    json_open(j, "kernels", '[');
    for (size_t k = 0; s->module && k < s->module->text.function_count; k++) {
        struct ptx_function *f = &s->module->text.functions[k];
        if (!f->is_entry || ptx_parse_body(&s->module->text, f, message, sizeof message)) continue;
        json_open(j, NULL, '{');
        kernel_whole_name(f->name, whole, sizeof whole);
        json_text(j, "name", f->name);
        json_text(j, "function", whole);
        write_parameters(j, f);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void write_values(struct json *j, const char *name, const struct request_buffer *b,
                         const char *bytes)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out) return;
    for (size_t k = 0; k < b->count; k++) {
        if (k) fputc(' ', out);
        value_print(out, b->type, bytes + k * b->type->bytes);
    }
    fclose(out);
    json_text(j, name, text);
    free(text);
}

static void write_buffers(struct json *j, struct session *s)
{
    json_open(j, "buffers", '[');
    for (size_t k = 0; s->emu && k < s->request.buffer_count; k++) {
        const struct request_buffer *b = &s->request.buffers[k];
        size_t size = b->count * b->type->bytes;
        char *bytes = b->address ? malloc(size) : NULL;
        if (bytes && !emu_read(s->emu, bytes, b->address, size)) {
            json_open(j, NULL, '{');
            json_text(j, "name", b->name);
            json_text(j, "type", b->type->name);
            json_number(j, "address", b->address);
            write_values(j, "values", b, bytes);
            if (b->values && memcmp(b->values, bytes, size)) write_values(j, "given", b, b->values);
            json_close(j, '}');
        }
        free(bytes);
    }
    json_close(j, ']');
}

static void complete_document(struct session *s)
{
    struct document *d = &s->document;
    const struct emu_model *model = s->request.config.model;
    d->program = "page";
    d->gpu = emu_gpu(s->emu);
    d->rules = model ? emu_model_info(model)->rules : NULL;
    d->checks = emu_checks(s->emu);
    d->errors = emu_finding_count(s->emu, EMU_FINDING_ERROR);
    d->warnings = emu_finding_count(s->emu, EMU_FINDING_WARNING);
    for (size_t k = 0; k < emu_records(s->emu); k++)
        document_add_launch(d, &(struct document_launch){0}, emu_record(s->emu, k));
    for (size_t k = 0; k < emu_findings(s->emu); k++)
        document_add_finding(d, 0, emu_finding(s->emu, k));
    struct emu *host = s->host;
    if (!host) return;
    d->errors += emu_finding_count(host, EMU_FINDING_ERROR);
    d->warnings += emu_finding_count(host, EMU_FINDING_WARNING);
    for (size_t k = 0; k < emu_findings(host); k++)
        document_add_finding(d, 0, emu_finding(host, k));
}

/* The document is JSON of its own: it stands in the answer as a text. */
static void write_document(struct json *j, struct session *s)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out) return;
    complete_document(s);
    document_write_json(out, &s->document);
    fclose(out);
    json_text(j, "document", text);
    free(text);
}

static void write_answer(FILE *out, struct session *s)
{
    struct json j = {.out = out};
    json_open(&j, NULL, '{');
    json_number(&j, "error", (uint64_t)s->error);
    json_bool(&j, "went_on", s->went_on);
    json_text(&j, "message", s->message);
    write_kernels(&j, s);
    if (s->emu) write_document(&j, s); /* before initcheck sees that all buffers are read */
    write_buffers(&j, s);
    json_text(&j, "trace", s->trace ? s->trace : "");
    json_number(&j, "events", s->emu ? emu_traced(s->emu) : 0);
    json_close(&j, '}');
}

char *face_run(const char *text)
{
    char *answer = NULL;
    size_t size;
    struct session *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    run(s, text);
    if (s->trace_file && fflush(s->trace_file)) fail(s, EMU_OUT_OF_MEMORY, "out of memory");
    FILE *out = open_memstream(&answer, &size);
    if (out && *s->request.lab && !s->error)
        judge_answer(out, &s->request);
    else if (out && s->request.source && !s->error)
        compile_answer(out, &s->request);
    else if (out)
        write_answer(out, s);
    bool is_whole = out && !fclose(out);
    emu_close(s->host);
    emu_close(s->emu);
    if (s->trace_file) fclose(s->trace_file);
    free(s->trace);
    document_free(&s->document);
    request_free(&s->request);
    free(s);
    if (is_whole) return answer;
    free(answer);
    return NULL;
}
