/* cc.c — a compilation from its text to PTX: preprocess, parse, lower, emit. */
#include "cc.h"
#include "common/tools/cc/ptx/emit.h"
#include "common/tools/cc/source/source.h"
#include "common/tools/cc/syntax/ast.h"

struct cc_unit {
    struct arena arena;
    struct diagnostics diagnostics;
    struct source_files sources;
    struct cc_result result;
};

static void compile(struct cc_unit *own, const char *name, const char *text,
                    const struct cc_options *options)
{
    struct diagnostics *d = &own->diagnostics;
    struct token *tokens = preprocess(d, name, text, options);
    struct token **wanted =
        arena_take(&own->arena, (options->instance_count + 1) * sizeof(struct token *));
    for (size_t i = 0; i < options->instance_count; i++)
        wanted[i] = preprocess_more(d, "<instances>", options->instances[i]);
    struct token *program = options->program ? preprocess_more(d, "<program>", PROGRAM) : NULL;
    struct unit *unit = parse(tokens, wanted, options->instance_count, program, d);
    if (d->errors == 0 && !options->check_only) own->result.ptx = emit_unit(unit);
    own->result.diagnostics = diagnostics_sorted(d);
    own->result.count = d->count;
    own->result.errors = d->errors;
    if (d->errors > 0) own->result.ptx = NULL;
}

struct cc_result *cc_compile(const char *name, const char *text, const struct cc_options *options)
{
    static const struct cc_options none;
    struct arena arena = {0};
    struct cc_unit *own = ARENA_NEW(&arena, struct cc_unit);
    own->arena = arena;
    own->diagnostics.arena = &own->arena;
    own->diagnostics.sources = &own->sources;
    own->result.unit = own;
    compile(own, name, text, options == NULL ? &none : options);
    return &own->result;
}

void cc_free(struct cc_result *result)
{
    if (result == NULL) return;
    struct arena arena = result->unit->arena; // which holds the unit
    arena_free(&arena);
}
