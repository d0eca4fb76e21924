/* check_finding_text.c — the first lines of a finding, made from its fields: see check.h. */
#include "check.h"
#include "common/emu/machine/device.h"
#include "common/emu/ptx/kernel_name.h"

/* "kernel(int *) in file.cu:12 (PTX line 97)" */
static void describe_where(const struct emu_finding *f, const struct emu_place *place, char *text,
                           size_t size)
{
    char name[300], source[500];
    kernel_whole_name(f->kernel, name, sizeof name);
    describe_source(place->file, place->line, place->ptx_line, source, sizeof source);
    snprintf(text, size, "%s in %s", name, source);
}

static void describe_hazard(const struct emu_finding *f, char *text, size_t size)
{
    char here[820], there[820];
    describe_where(f, &f->place, here, sizeof here);
    describe_where(f, &f->other, there, sizeof there);
    snprintf(text, size, "Error: Race reported between %s at %s\n    and %s at %s", f->other.access,
             there, f->place.access, here);
}

void finding_head(const struct emu_finding *f, char *text, size_t size)
{
    char where[820], thread[80];
    if (f->tool == EMU_CHECK_RACE) {
        describe_hazard(f, text, size);
        return;
    }
    snprintf(text, size, "%s", f->title);
    if (!f->place.is_known) return;
    const struct check_place place = {.block = f->place.block, .thread = f->place.thread};
    describe_where(f, &f->place, where, sizeof where);
    check_describe_thread(&place, thread, sizeof thread);
    device_append(text, size, "\n    at %s\n    by %s", where, thread);
}
