/* json_document.c — a document as JSON. notes/more/emulator-options.md describes the fields. */
#include "report.h"

enum { VERSION = 1, NAME_SIZE = 1024 };

/* ---- counters -------------------------------------------------------------------------------- */

static void write_shared(struct json *j, const char *key, const struct emu_shared *s)
{
    json_open(j, key, '{');
    json_number(j, "instructions", s->instructions);
    json_number(j, "wavefronts", s->wavefronts);
    json_number(j, "ideal_wavefronts", s->ideal);
    json_close(j, '}');
}

static void write_global(struct json *j, const char *key, const struct emu_global *g)
{
    json_open(j, key, '{');
    json_number(j, "requests", g->requests);
    json_number(j, "sectors", g->sectors);
    json_number(j, "bytes", g->bytes);
    json_number(j, "bytes_moved", g->moved);
    json_close(j, '}');
}

static void write_copies(struct json *j, const struct emu_copies *c)
{
    json_open(j, "copies", '{');
    json_number(j, "requests", c->requests);
    json_number(j, "sectors", c->sectors);
    json_number(j, "cached_requests", c->cached_requests);
    json_number(j, "cached_sectors", c->cached_sectors);
    json_close(j, '}');
}

static void write_adds(struct json *j, const struct emu_counts *c)
{
    static const char *const names[EMU_ADDS] = {[EMU_ADD_F32] = "f32",
                                                [EMU_ADD_F64] = "f64",
                                                [EMU_ADD_I32] = "i32",
                                                [EMU_ADD_I64] = "i64",
                                                [EMU_ADD_F16] = "f16"};
    json_open(j, "adds", '{');
    for (int k = 0; k < EMU_ADDS; k++) json_number(j, names[k], c->adds[k]);
    json_close(j, '}');
}

static void write_classes(struct json *j, const struct emu_counts *c)
{
    json_open(j, "ptx_classes", '{');
    for (int k = 0; k < EMU_CLASSES; k++)
        json_number(j, emu_class_name((enum emu_class)k), c->classes[k]);
    json_close(j, '}');
}

static void write_counts(struct json *j, const struct emu_counts *c)
{
    json_open(j, "counters", '{');
    write_shared(j, "shared_load", &c->shared_ld);
    write_shared(j, "shared_store", &c->shared_st);
    write_shared(j, "shared_atomic", &c->shared_atom);
    write_shared(j, "shared_copy", &c->shared_copy);
    write_shared(j, "ldmatrix", &c->ldmatrix);
    write_shared(j, "stmatrix", &c->stmatrix);
    write_global(j, "global_load", &c->global_ld);
    write_global(j, "global_store", &c->global_st);
    write_global(j, "global_atomic", &c->global_atom);
    write_global(j, "global_reduction", &c->global_red);
    write_global(j, "local_load", &c->local_ld);
    write_global(j, "local_store", &c->local_st);
    write_copies(j, &c->copies);
    json_number(j, "constant_divergent", c->constant_divergent);
    json_number(j, "constant_replays", c->constant_replays);
    json_number(j, "barriers", c->barriers);
    json_number(j, "ptx_instructions", c->instructions);
    json_number(j, "ptx_lanes", c->lanes);
    write_adds(j, c);
    write_classes(j, c);
    json_close(j, '}');
}

/* ---- launches -------------------------------------------------------------------------------- */

static void write_dim(struct json *j, const char *key, struct emu_dim dim)
{
    json_numbers(j, key, (const uint64_t[]){dim.x, dim.y, dim.z}, 3);
}

static void write_kernel(struct json *j, const char *mangled)
{
    char name[NAME_SIZE], whole[NAME_SIZE];
    kernel_base_name(mangled, name, sizeof name);
    kernel_whole_name(mangled, whole, sizeof whole);
    json_text(j, "kernel", name);
    json_text(j, "function", whole);
    json_text(j, "mangled", mangled);
}

static void write_operations(struct json *j, const struct emu_launch_record *r)
{
    json_open(j, "ptx_operations", '[');
    for (size_t i = 0; i < r->operation_count; i++) {
        const struct emu_operation *o = &r->operations[i];
        json_open(j, NULL, '{');
        json_text(j, "operation", o->name);
        json_text(j, "type", o->type);
        json_text(j, "class", emu_class_name(o->work_class));
        json_number(j, "instructions", o->instructions);
        json_number(j, "lanes", o->lanes);
        json_number(j, "elements", o->elements);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void write_lines(struct json *j, const struct emu_launch_record *r)
{
    json_open(j, "lines", '[');
    for (size_t i = 0; i < r->line_count; i++) {
        json_open(j, NULL, '{');
        json_text(j, "file", r->lines[i].file);
        json_number(j, "line", r->lines[i].line);
        write_counts(j, &r->lines[i].counts);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void write_launcher(struct json *j, const struct emu_launch_record *r)
{
    json_open(j, "launched_by", '{');
    json_number(j, "launch", r->launcher);
    write_kernel(j, r->launched_by);
    json_close(j, '}');
}

static void write_launch(struct json *j, const struct document_launch *l, size_t index)
{
    const struct emu_launch_record *r = &l->record;
    json_open(j, NULL, '{');
    json_number(j, "id", index);
    json_number(j, "device", (uint64_t)l->device);
    json_number(j, "launch", r->id);
    json_number(j, "stream", l->stream);
    write_kernel(j, r->kernel);
    if (r->launched_by != NULL) write_launcher(j, r);
    write_dim(j, "grid", r->grid);
    write_dim(j, "block", r->block);
    json_text(j, "error", l->error);
    if (l->error == NULL) {
        json_number(j, "dynamic_shared", r->dynamic_shared);
        json_number(j, "static_shared", r->static_shared);
        json_text(j, "machine_code", r->agreement.text);
        write_counts(j, &r->total);
        write_operations(j, r);
        write_lines(j, r);
    }
    json_close(j, '}');
}

/* ---- findings -------------------------------------------------------------------------------- */

static void write_place(struct json *j, const char *key, const struct emu_place *p)
{
    if (!p->is_known) {
        json_text(j, key, NULL);
        return;
    }
    json_open(j, key, '{');
    json_text(j, "file", p->file);
    json_number(j, "line", p->line);
    json_number(j, "ptx_line", p->ptx_line);
    json_text(j, "access", p->access);
    json_bool(j, "is_copy", p->is_copy);
    if (p->has_thread) {
        write_dim(j, "block", p->block);
        write_dim(j, "thread", p->thread);
    }
    json_close(j, '}');
}

static void write_access(struct json *j, const struct emu_finding *f)
{
    char address[24];
    json_text(j, "space", f->space);
    if (f->space == NULL) return;
    snprintf(address, sizeof address, "0x%llx", (unsigned long long)f->address);
    json_text(j, "address", address);
    if (f->bytes > 0) json_number(j, "bytes", f->bytes);
}

static void write_finding(struct json *j, const struct document_finding *found)
{
    const struct emu_finding *f = found->finding;
    json_open(j, NULL, '{');
    json_text(j, "tool", document_tool_name(f->tool));
    json_text(j, "severity", document_severity_name(f->severity));
    json_text(j, "kind", f->kind);
    json_text(j, "title", f->title);
    json_number(j, "device", (uint64_t)found->device);
    if (f->kernel != NULL) {
        if (f->launch != EMU_NO_LAUNCH) json_number(j, "launch", f->launch);
        write_kernel(j, f->kernel);
    }
    write_place(j, "place", &f->place);
    write_place(j, "other_place", &f->other);
    if (f->other_kernel != NULL) json_text(j, "other_kernel", f->other_kernel);
    write_access(j, f);
    json_number(j, "count", f->count);
    json_text(j, "text", f->head);
    json_text(j, "detail", f->detail);
    json_close(j, '}');
}

/* ---- the document ---------------------------------------------------------------------------- */

static void write_gpu(struct json *j, const struct document *d)
{
    char capability[32];
    snprintf(capability, sizeof capability, "%d.%d", d->gpu->major, d->gpu->minor);
    json_open(j, "gpu", '{');
    json_text(j, "model", d->gpu->key);
    json_text(j, "name", d->gpu->name);
    json_text(j, "compute_capability", capability);
    json_text(j, "rules", d->rules);
    json_close(j, '}');
}

static void write_tools(struct json *j, const struct document *d)
{
    json_open(j, "tools", '[');
    for (unsigned tool = 1; tool <= EMU_CHECK_ORDER; tool *= 2)
        if (d->checks & tool) json_text(j, NULL, document_tool_name((enum emu_check)tool));
    json_close(j, ']');
}

static void write_document(struct json j, const struct document *d)
{
    json_open(&j, NULL, '{');
    json_text(&j, "format", "upsweep-emu");
    json_number(&j, "version", VERSION);
    json_text(&j, "program", d->program);
    write_gpu(&j, d);
    write_tools(&j, d);
    json_open(&j, "launches", '[');
    for (size_t i = 0; i < d->launch_count; i++) write_launch(&j, &d->launches[i], i);
    json_close(&j, ']');
    json_number(&j, "errors", d->errors);
    json_number(&j, "warnings", d->warnings);
    json_open(&j, "findings", '[');
    for (size_t i = 0; i < d->finding_count; i++) write_finding(&j, &d->findings[i]);
    json_close(&j, ']');
    json_close(&j, '}');
}

void document_write_json(FILE *out, const struct document *d)
{
    write_document((struct json){.out = out}, d);
}

void json_write_part(FILE *out, const struct document *d)
{
    write_document((struct json){.out = out, .depth = 1}, d);
}
