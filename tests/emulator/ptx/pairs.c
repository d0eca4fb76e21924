/* pairs.c — runs the kernel of a pair race-* of tests/checks in this process. */
#include "pairs.h"
#include "common/emu/ptx/binary.h"
#include "ptx_run.h"
#include "tests/fixtures/programs/programs.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the line of a pair ---------------------------------------------------------------------- */

/* Reads an argument and moves behind its comma; false if it is of another kind. */
static bool read_argument(struct pair *pair, char **at)
{
    unsigned n = pair->arguments++;
    cr_assert(n < PAIR_ARGUMENTS, "%s has too many arguments", pair->name);
    *at += strspn(*at, " \n");
    pair->argument[n].has_numbers = strncmp(*at, "numbers<", strlen("numbers<")) == 0;
    pair->argument[n].is_memory =
        pair->argument[n].has_numbers || strncmp(*at, "zeros<", strlen("zeros<")) == 0;
    if (pair->argument[n].is_memory)
        *at = strchr(*at, ')') + 1;
    else
        pair->argument[n].value = (int)strtol(*at, at, 10);
    if (**at == ',') ++*at;
    return **at == ' ' || **at == '\n' || **at == ')';
}

bool pair_read(struct pair *pair, const char *name)
{
    char text[1 << 14], *line;
    *pair = (struct pair){.name = name, .text = find_pair(name)};
    FILE *file = open_pair(&pair->text);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    if ((line = strstr(text, "\n\n"))) *line = '\0';
    if (!(line = strstr(text, "\nPAIR(")) && !(line = strstr(text, "\nCOOPERATIVE("))) return false;
    int begin = 0;
    sscanf(line, "\n%*[A-Z](%59[a-z_]<right>, %u, %u,%n", pair->kernel, &pair->blocks,
           &pair->threads, &begin);
    for (line += begin; begin && *line && *line != ')';)
        if (!read_argument(pair, &line)) return false;
    return begin > 0;
}

/* ---- its kernel ------------------------------------------------------------------------------ */

/* The text of the container in a program that has PTX; nvcc puts empty ones before it. */
static char *ptx_of(const char *catalogue)
{
    struct elf elf;
    struct fatbin_ptx ptx;
    char path[200], message[300];
    size_t left;
    snprintf(path, sizeof path, "%s/pairs/%s", ORDINARY_BUILD, catalogue);
    cr_assert(elf_open(path, &elf) == RUNTIME_NONE);
    const char *at = elf_section(&elf, ".nv_fatbin", &left);
    while (at && fatbin_extract(at, left, 90, &ptx, message, sizeof message)) {
        size_t bytes = (fatbin_size(at, left) + 7) / 8 * 8;
        cr_assert(bytes > 0 && bytes < left, "%s", message);
        at += bytes;
        left -= bytes;
    }
    elf_close(&elf);
    return ptx.text;
}

/* It is kept for the next pair: to decompress it takes longer than to run a pair. */
static const char *ptx_of_all(const char *catalogue)
{
    static char kept[30], *text;
    if (strcmp(kept, catalogue) == 0) return text;
    free(text);
    snprintf(kept, sizeof kept, "%s", catalogue);
    return text = ptx_of(catalogue);
}

/* The mangled name, up to the template's argument. */
static void name_of(const struct pair *pair, bool right, char *name, size_t size)
{
    snprintf(name, size, ".entry _Z%zu%sILb%dE", strlen(pair->kernel), pair->kernel, right);
}

/* The brace that ends the first body in a text. */
static const char *end_of_body(const char *text)
{
    const char *at = strchr(text, '{');
    for (int depth = 1; depth > 0; depth += *at == '{' ? 1 : -1) at = strpbrk(at + 1, "{}");
    return at;
}

/* Copies a text without the kernels, but for the one whose line has this beginning, and writes that
 * kernel's name. To parse one kernel is much quicker. */
static void copy_one(char *to, const char *ptx, const char *beginning, char *kernel, size_t size)
{
    const char *entry = strstr(ptx, ".entry "), *end;
    kernel[0] = '\0';
    for (const char *from = ptx; *from; from = end) {
        end = strchr(from, '\n') + 1;
        if (entry && entry < end) {
            bool wanted = strncmp(entry, beginning, strlen(beginning)) == 0;
            end = strchr(end_of_body(entry), '\n') + 1;
            entry += strlen(".entry ");
            if (wanted) snprintf(kernel, size, "%.*s", (int)strcspn(entry, "("), entry);
            entry = strstr(end, ".entry ");
            if (!wanted) continue;
        }
        memcpy(to, from, (size_t)(end - from));
        to += end - from;
    }
    *to = '\0';
}

/* The text of one kernel, which is kept until another one is asked for, and the kernel's name. */
static const char *text_of(const struct pair *pair, bool right, const char **kernel)
{
    static char kept[200], name[300], *text;
    char beginning[sizeof kept];
    name_of(pair, right, beginning, sizeof beginning);
    *kernel = name;
    if (strcmp(kept, beginning) == 0) return text;
    const char *all = ptx_of_all(pair->text.catalogue);
    free(text);
    text = malloc(strlen(all) + 1);
    cr_assert(text);
    copy_one(text, all, beginning, name, sizeof name);
    cr_assert(name[0], "build/pairs/%s has no %s", pair->text.catalogue, beginning);
    memcpy(kept, beginning, sizeof kept);
    return text;
}

/* ---- its launch ------------------------------------------------------------------------------ */

int pair_result(struct emu *emu, const struct pair *pair, bool right,
                int memory[PAIR_ARGUMENTS][PAIR_WORDS])
{
    const char *name, *text = text_of(pair, right, &name);
    static int numbers[PAIR_WORDS];
    for (int i = 0; i < PAIR_WORDS; i++) numbers[i] = i;
    uint64_t values[PAIR_ARGUMENTS];
    void *pointers[PAIR_ARGUMENTS];
    struct emu_kernel *kernel = load_kernel(emu, text, name);
    for (unsigned i = 0; i < pair->arguments; i++) {
        values[i] = (uint64_t)pair->argument[i].value;
        if (pair->argument[i].is_memory)
            values[i] =
                device_copy(emu, pair->argument[i].has_numbers ? numbers : NULL, sizeof numbers);
        pointers[i] = &values[i];
    }
    int e = emu_launch(emu, kernel, (struct emu_dim){pair->blocks, 1, 1},
                       (struct emu_dim){pair->threads, 1, 1}, 0, pointers, true);
    for (unsigned i = 0; i < pair->arguments && !e && memory; i++)
        if (pair->argument[i].is_memory)
            cr_assert(!emu_read(emu, memory[i], values[i], sizeof numbers));
    return e;
}

int pair_run(struct emu *emu, const struct pair *pair, bool right)
{
    return pair_result(emu, pair, right, NULL);
}
