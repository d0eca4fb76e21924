/* fused.c — does the machine code fuse products and sums as decode_passes.c does?
 *
 * The fma of each type are counted by line. More of them in the machine code are a difference only
 * if the line has a sum that is not fused in PTX, and no fma in a loop, which ptxas may unroll.
 * ptxas gives some instructions another line: fewer fma on other lines count against it. Division
 * and square root become many fma on their line, and functions after the kernel's end. */
#include "count.h"

/* They take the place of the operation of a struct sass_access. Its bytes are 2, 4 or 8: halves and
 * bf16, floats, doubles. */
enum role { FUSED, FUSED_IN_LOOP, SUM, DIVISION, ROLES };

static unsigned bytes_of(enum ptx_type type)
{
    if (type == PTX_F16X2 || type == PTX_BF16X2) return 2;
    return ptx_type_is_float(type) ? (unsigned)ptx_type_size(type) : 0;
}

static enum role role_of(const struct insn *i, bool in_loop)
{
    static const char *const names[] = {"fma", "mad", "add", "sub", "div", "rcp", "sqrt", "rsqrt"};
    unsigned k = 0;
    while (k < 8 && strcmp(i->source->words[0], names[k])) k++;
    enum role role = k < 2 ? FUSED : k < 4 ? SUM : k < 8 ? DIVISION : ROLES;
    bool is_fused = role == FUSED || (role == SUM && i->c != NO_SLOT);
    return is_fused && in_loop ? FUSED_IN_LOOP : is_fused ? FUSED : role;
}

static void collect_ptx(struct line_accesses *list, const struct emu_kernel *kernel)
{
    size_t loop = kernel->code_count; /* the first instruction to which a branch goes back */
    for (size_t n = kernel->code_count; n-- > 0;) {
        const struct insn *i = &kernel->code[n];
        for (uint32_t k = 0; k < insn_target_count(i); k++)
            if (insn_target(i, k) < loop) loop = insn_target(i, k);
        if (i->family != FAMILY_ARITHMETIC || !bytes_of(i->rules.type)) continue;
        struct sass_access kind = {role_of(i, loop <= n), 0, (uint8_t)bytes_of(i->rules.type)};
        count_line_access(list, insn_file(kernel, i), insn_line(kernel, i), kind, CODE_PTX, false);
    }
}

static void collect_sass(struct line_accesses *list, const struct cubin *cubin,
                         const struct ptx_text *text, const struct ptx_function *function)
{
    size_t bytes;
    unsigned section = cubin_section(cubin, ".text.", function->name);
    const unsigned char *code = cubin_content(cubin, section, &bytes);
    const struct cubin_row *end = bytes ? cubin_row(cubin, section, bytes - 1) : NULL;
    for (size_t at = 0; bytes - at >= SASS_BYTES; at += SASS_BYTES) {
        struct sass_access kind = {FUSED, 0, (uint8_t)sass_fused(code + at)};
        if (!kind.bytes || (end && cubin_row(cubin, section, at) == end)) continue;
        struct cubin_place place = code_place(cubin, section, at, text, function);
        count_line_access(list, place.file, place.line, kind, CODE_SASS, false);
    }
}

/* The first line that has more fma in the machine code, if they outnumber those that lines lack. */
static const struct line_access *find_fusion(const struct line_accesses *list, unsigned bytes)
{
    const struct line_access *first = NULL, *item = list->item;
    int sum = 0;
    for (size_t i = 0, end; i < list->count; i = end) {
        int ptx[ROLES + 1] = {0}, more = 0;
        end = i + line_length(list, i);
        for (size_t k = i; k < end; k++) {
            if (item[k].kind.bytes != bytes) continue;
            ptx[item[k].kind.operation] += (int)item[k].count[CODE_PTX];
            more += (int)item[k].count[CODE_SASS];
        }
        more -= ptx[FUSED] + ptx[FUSED_IN_LOOP];
        if (ptx[DIVISION] || (more > 0 && (ptx[FUSED_IN_LOOP] || !ptx[SUM]))) continue;
        if (more > 0 && !first) first = &item[i];
        sum += more;
    }
    return sum > 0 ? first : NULL;
}

void describe_fusion(FILE *out, const struct emu_kernel *kernel, const struct cubin *cubin)
{
    const struct ptx_text *text = &kernel->module->text;
    struct line_accesses list = {0};
    const struct line_access *line = NULL;
    collect_ptx(&list, kernel);
    collect_sass(&list, cubin, text, kernel->function);
    for (size_t i = 0; i < kernel->function_count; i++)
        if (kernel->callees[i]) collect_sass(&list, cubin, text, kernel->callees[i]->function);
    for (unsigned bytes = 2; bytes <= 8 && !line; bytes *= 2) line = find_fusion(&list, bytes);
    if (line) {
        fputs("; ptxas fuses products and sums otherwise", out);
        if (*line->file) fputs(" at ", out), describe_place_of(out, text, line);
        fputs(": last bits of results may differ from a GPU's", out);
    }
    free(list.item);
}
