/* compile.c — compiles CUDA C as a request asks for it. See request.h. */
#include "request.h"
#include <string.h>

static const char *header_of(void *context, const char *path)
{
    return request_header(context, path);
}

static void write_diagnostic(struct json *j, const struct cc_diagnostic *d)
{
    json_open(j, NULL, '{');
    json_text(j, "severity", d->severity == CC_ERROR ? "error" : "warning");
    json_text(j, "file", d->file);
    json_number(j, "line", (uint64_t)d->line);
    json_number(j, "column", (uint64_t)d->column);
    json_number(j, "length", (uint64_t)d->length);
    json_text(j, "text", d->text);
    json_text(j, "hint", d->hint);
    json_close(j, '}');
}

struct cc_result *compile_request(const struct request *q)
{
    struct cc_options options = {.header = header_of, .context = (void *)(uintptr_t)q,
                                 .program = q->is_program};
    return cc_compile(q->source_name, q->source, &options);
}

void compile_diagnostics(struct json *j, const struct cc_result *result)
{
    json_open(j, "diagnostics", '[');
    for (size_t k = 0; k < result->count; k++)
        write_diagnostic(j, &result->diagnostics[k]);
    json_close(j, ']');
}

void compile_answer(FILE *out, const struct request *q)
{
    struct cc_result *result = compile_request(q);
    struct json j = {.out = out};
    json_open(&j, NULL, '{');
    json_number(&j, "error", EMU_OK);
    json_text(&j, "message", "");
    compile_diagnostics(&j, result);
    json_text(&j, "ptx", result->ptx);
    json_close(&j, '}');
    cc_free(result);
}
