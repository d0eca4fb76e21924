/* architectures.c — replaces architectures that this nvcc no longer knows, and asks for PTX. */
#define _GNU_SOURCE
#include "command.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 100 };

/* ---- what nvcc knows ------------------------------------------------------------------------- */

static unsigned known[MOST];
static size_t count;

/* Asks nvcc, once. An nvcc that does not answer leaves the list empty. */
static void read_known(const char *nvcc)
{
    static bool is_read;
    if (is_read) return;
    is_read = true;
    emu_set("EMU_NVCC", nvcc);
    FILE *list = popen("unset EMU_CHANGER; \"$EMU_NVCC\" --list-gpu-arch 2>/dev/null", "r");
    if (list == NULL) return;
    while (count < MOST && fscanf(list, " compute_%u", &known[count]) == 1) count++;
    pclose(list);
    unsetenv("EMU_NVCC");
}

/* The architecture itself, or the next one that nvcc knows; 0: it knows no later one. */
static unsigned next_known(unsigned architecture)
{
    unsigned next = 0;
    for (size_t i = 0; i < count; i++)
        if (known[i] >= architecture && (next == 0 || known[i] < next)) next = known[i];
    return next;
}

/* ---- names ----------------------------------------------------------------------------------- */

/* The length of a name's part before its number, such as "sm_"; 0: no name begins there. */
static size_t prefix_at(const char *text, const char *at)
{
    static const char *const prefixes[] = {"sm_", "compute_", "lto_"};
    if (at > text && (isalnum((unsigned char)at[-1]) || at[-1] == '_')) return 0;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        size_t length = strlen(prefixes[i]);
        if (strncmp(at, prefixes[i], length) == 0 && isdigit((unsigned char)at[length]))
            return length;
    }
    return 0;
}

/* What the options name that the emulated GPU could run, the newest of each; 0: nothing. */
static struct {
    unsigned arch, ptx;
    char suffix;             /* of arch, such as the a of compute_90a; '\0': none */
    bool has_arch, has_code; /* the options -arch and -code: the first alone leaves PTX */
} named;

/* The emulated GPU's compute capability. */
static unsigned newest(void)
{
    const char *key = getenv(settings[SETTING_GPU].variable);
    const struct emu_gpu *gpu = key != NULL ? emu_gpu_find(key) : emu_gpu_at(0);
    return gpu != NULL ? (unsigned)(10 * gpu->major + gpu->minor) : 0;
}

/* A name with a suffix is taken only for the emulated GPU itself. */
static void note_name(unsigned number, char suffix, bool is_arch, bool is_ptx)
{
    bool has_suffix = suffix == 'a' || suffix == 'f';
    if (number > newest() || (has_suffix && number != newest())) return;
    if (is_ptx && number > named.ptx) named.ptx = number;
    if (!is_arch || number < named.arch) return;
    named.arch = number;
    if (has_suffix) named.suffix = suffix;
}

/* Writes the number at `at` as nvcc knows it. Returns the end of the number, and stores what was
 * written. A name with a letter behind the number, such as sm_90a, has no successor and stays. */
static const char *put_number(FILE *out, const char *at, unsigned *number)
{
    char *end;
    unsigned long old = strtoul(at, &end, 10);
    unsigned next = old < 10000 ? next_known((unsigned)old) : 0;
    *number = (unsigned)old;
    if (next == 0 || next == old || isalnum((unsigned char)*end) || *end == '_') {
        fwrite(at, 1, (size_t)(end - at), out);
        return end;
    }
    *number = next;
    emu_say_change("nvcc gets architecture %u (sm_%u, compute_%u) in place of %lu, which this"
                   " toolkit no longer knows",
                   next, next, next, old);
    fprintf(out, "%u", next);
    return end;
}

char *architectures_known(const char *nvcc, const char *text, enum named_by by)
{
    char *changed;
    size_t size;
    FILE *out = open_memstream(&changed, &size);
    if (out == NULL) emu_refuse("out of memory");
    /* Their only PTX is for the newest GPU that nvcc knows; that of native is none. */
    bool is_all = by == BY_ARCH && (strncmp(text, "all", 3) == 0 || strcmp(text, "native") == 0);
    if (is_all) note_name(newest(), '\0', true, false);
    named.has_code |= is_all || by == BY_CODE;
    for (const char *at = text; *at != '\0';) {
        size_t prefix = prefix_at(text, at);
        if (prefix == 0) {
            fputc(*at++, out);
            continue;
        }
        unsigned number;
        const char *mark = at > text && at[-1] == '"' ? at - 1 : at;
        bool is_arch = by == BY_ARCH || (mark - text >= 5 && strncmp(mark - 5, "arch=", 5) == 0),
             is_ptx = *at == 'c' && !is_arch;
        read_known(nvcc);
        fwrite(at, 1, prefix, out);
        at = put_number(out, at + prefix, &number);
        note_name(number, *at, is_arch, is_ptx);
        named.has_arch |= by == BY_ARCH;
    }
    if (fclose(out) != 0) emu_refuse("out of memory");
    return changed;
}

const char *architectures_ptx(void)
{
    if (named.ptx != 0 || named.arch == 0 || (named.has_arch && !named.has_code)) return NULL;
    char *name = emu_text("compute_%u%.1s", named.arch, &named.suffix);
    emu_say_change("nvcc gets -gencode arch=%s,code=%s, since PTX is what the emulator runs", name,
                   name);
    return emu_text("arch=%s,code=%s", name, name);
}
