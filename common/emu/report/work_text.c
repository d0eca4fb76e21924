/* work_text.c — the PTX instructions of launches in two lines. See writers.h. */
#include "writers.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 100, INDENT = 4 };

static struct emu_operation *find(struct work_sum *sum, const struct emu_operation *operation)
{
    for (size_t i = 0; i < sum->count; i++)
        if (strcmp(sum->all[i].name, operation->name) == 0 &&
            strcmp(sum->all[i].type, operation->type) == 0)
            return &sum->all[i];
    return NULL;
}

bool work_sum_add(struct work_sum *sum, const struct emu_operation *operations, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct emu_operation *to = find(sum, &operations[i]);
        if (to != NULL) {
            to->instructions += operations[i].instructions;
            to->lanes += operations[i].lanes;
            to->elements += operations[i].elements;
            continue;
        }
        struct emu_operation *grown = realloc(sum->all, (sum->count + 1) * sizeof *grown);
        if (grown == NULL) return false;
        sum->all = grown;
        sum->all[sum->count++] = operations[i];
    }
    return true;
}

/* What computes, wherever it stands: also reductions of a warp, of barriers and of copies. */
static bool is_arithmetic(const struct emu_operation *o)
{
    static const char *const others[] = {"redux.", "vote.", "bar.red", "barrier.red", "cp.reduce"};
    for (size_t k = 0; k < sizeof others / sizeof *others; k++)
        if (strncmp(o->name, others[k], strlen(others[k])) == 0) return true;
    return o->work_class == EMU_CLASS_INTEGER || o->work_class == EMU_CLASS_F16 ||
           o->work_class == EMU_CLASS_F32 || o->work_class == EMU_CLASS_F64 ||
           o->work_class == EMU_CLASS_ATOMIC || o->work_class == EMU_CLASS_MATRIX;
}

/* A line that goes on below itself. */
struct text_line {
    FILE *out;
    const char *title;
    int column; /* 0: nothing is printed yet */
};

static void print_item(struct text_line *line, const char *name, uint64_t number)
{
    char item[128];
    int length = snprintf(item, sizeof item, " %s %" PRIu64, name, number);
    if (line->column == 0)
        line->column = fprintf(line->out, "%*s%s:", INDENT, "", line->title);
    else
        line->column += fprintf(line->out, ",");
    if (line->column + length + 1 > COLUMNS)
        line->column = fprintf(line->out, "\n%*s", 2 * INDENT - 1, "") - 1;
    line->column += fprintf(line->out, "%s", item);
}

static void end_line(const struct text_line *line)
{
    if (line->column > 0) fputc('\n', line->out);
}

static int by_elements(const void *a, const void *b)
{
    const struct emu_operation *x = a, *y = b;
    if (x->elements != y->elements) return x->elements > y->elements ? -1 : 1;
    int names = strcmp(x->name, y->name);
    return names != 0 ? names : strcmp(x->type, y->type);
}

void work_text_print(FILE *out, const struct work_sum *sum)
{
    uint64_t classes[EMU_CLASSES] = {0};
    struct text_line by_class = {.out = out, .title = "PTX instructions by class"},
                     arithmetic = {.out = out, .title = "arithmetic, in elements of all threads"};
    for (size_t i = 0; i < sum->count; i++)
        classes[sum->all[i].work_class] += sum->all[i].instructions;
    for (int c = 0; c < EMU_CLASSES; c++)
        if (classes[c] > 0) print_item(&by_class, emu_class_name((enum emu_class)c), classes[c]);
    end_line(&by_class);
    if (sum->count > 0) qsort(sum->all, sum->count, sizeof *sum->all, by_elements);
    for (size_t i = 0; i < sum->count; i++) {
        const struct emu_operation *o = &sum->all[i];
        char name[110];
        snprintf(name, sizeof name, "%s%s%s", o->name, *o->type != '\0' ? "." : "", o->type);
        if (is_arithmetic(o) && o->elements > 0) print_item(&arithmetic, name, o->elements);
    }
    end_line(&arithmetic);
}
