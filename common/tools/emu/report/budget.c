/* budget.c — limits on counters, and an earlier run to compare with. */
#define _GNU_SOURCE /* getline */
#include "report.h"
#include "common/files/visible.h"
#include <errno.h>
#include <stdarg.h>

/* ---- a line of CSV, taken apart -------------------------------------------------------------- */

/* Reads a field to its end. Returns what stands behind it: a comma, a newline or the end. NULL: a
 * quote is not closed. */
static char *take_field(char *text)
{
    char *to = text;
    if (*text != '"') return text + strcspn(text, ",\r\n");
    for (char *from = text + 1; *from != '\0'; from++) {
        if (*from == '"' && from[1] != '"') {
            *to = '\0';
            return from + 1;
        }
        if (*from == '"') from++;
        *to++ = *from;
    }
    return NULL;
}

char **csv_line_split(char *text, size_t *count)
{
    size_t most = 1;
    for (const char *c = text; *c != '\0'; c++) most += *c == ',';
    char **fields = allocated(malloc(most * sizeof *fields));
    for (*count = 0;;) {
        fields[(*count)++] = text;
        char *end = take_field(text);
        if (end == NULL || (*end != ',' && *end != '\n' && *end != '\r' && *end != '\0')) break;
        bool is_last = *end != ',';
        *end = '\0';
        if (is_last) return fields;
        text = end + 1;
    }
    free(fields);
    return NULL;
}

/* ---- budgets --------------------------------------------------------------------------------- */

enum { NAME = 256 };

/* What a limit is about: a metric, or one of a few sums. */
struct counter {
    char name[NAME];
    const struct metric *metric; /* NULL: `sum` */
    uint64_t (*sum)(const struct emu_counts *);
};

struct limit {
    char kernel[NAME]; /* "*": each kernel */
    struct counter counter;
    double most;
    unsigned line; /* of the file */
};

struct budget {
    char *path;
    bool of_all_launches; /* a limit is for the sum over them, not for the largest of them */
    struct limit *limits;
    size_t count;
};

/* ---- counters -------------------------------------------------------------------------------- */

static bool find_counter(const char *name, struct counter *counter)
{
    static const struct {
        const char *name;
        uint64_t (*sum)(const struct emu_counts *);
    } sums[] = {{"conflicts", sum_conflicts},
                {"wavefronts", sum_wavefronts},
                {"sectors", sum_sectors},
                {"excess_sectors", sum_excess_sectors}};
    *counter = (struct counter){.metric = NULL};
    if (snprintf(counter->name, sizeof counter->name, "%s", name) >= (int)sizeof counter->name)
        return false;
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
        if (strcmp(sums[i].name, name) == 0) counter->sum = sums[i].sum;
    for (size_t i = 0; metric_at(i) != NULL; i++)
        if (strcmp(metric_at(i)->name, name) == 0) counter->metric = metric_at(i);
    return counter->sum != NULL || counter->metric != NULL;
}

static double value_of(const struct counter *counter, const struct emu_counts *counts)
{
    return counter->metric != NULL ? counter->metric->value(counts) : (double)counter->sum(counts);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Fields of a baseline's CSV: which one is the kernel, and which counters the others are. */
struct columns {
    char **names, *text; /* of the head; NULL: it has not been read */
    size_t count, kernel;
};

/* Where a file is read, and why it cannot be. */
struct limit_reading {
    struct budget *budget;
    const char *path;
    unsigned line;
    char *message;
    size_t size;
    struct columns columns;
};

__attribute__((format(printf, 2, 3))) static bool fail(struct limit_reading *r, const char *format,
                                                       ...)
{
    char shown[NAME], text[2 * NAME], why[4 * NAME];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    visible(why, sizeof why, text);
    visible(shown, sizeof shown, r->path);
    if (r->line > 0)
        snprintf(r->message, r->size, "%s:%u: %s", shown, r->line, why);
    else
        snprintf(r->message, r->size, "%s: %s", shown, why);
    return false;
}

static bool add_limit(struct limit_reading *r, const struct limit *limit)
{
    struct budget *b = r->budget;
    b->limits = grown(b->limits, b->count, sizeof *b->limits);
    b->limits[b->count++] = *limit;
    return true;
}

/* KERNEL COUNTER NUMBER, or nothing. */
static bool read_limit(struct limit_reading *r, char *text)
{
    struct limit limit = {.line = r->line};
    char *rest, *end;
    text[strcspn(text, "#\r\n")] = '\0';
    const char *kernel = strtok_r(text, " \t", &rest), *name = strtok_r(NULL, " \t", &rest),
               *most = strtok_r(NULL, " \t", &rest);
    if (kernel == NULL) return true;
    if (most == NULL || strtok_r(NULL, " \t", &rest) != NULL)
        return fail(r, "a line is KERNEL COUNTER NUMBER, such as: scan conflicts 0");
    if (snprintf(limit.kernel, sizeof limit.kernel, "%s", kernel) >= (int)sizeof limit.kernel)
        return fail(r, "the kernel's name is too long");
    if (!find_counter(name, &limit.counter))
        return fail(r,
                    "there is no counter \"%.100s\"; it takes conflicts, wavefronts, sectors,"
                    " excess_sectors, or a metric of emu --help",
                    name);
    limit.most = strtod(most, &end);
    if (*end != '\0' || !(limit.most >= 0) || most[0] < '0' || most[0] > '9')
        return fail(r, "\"%.100s\" is no number from 0 on", most);
    return add_limit(r, &limit);
}

/* Reads line by line. False: a sentence is in the message. */
static bool read_lines(struct limit_reading *r, bool (*read)(struct limit_reading *, char *text))
{
    FILE *file = fopen(r->path, "r");
    char *text = NULL;
    size_t room = 0;
    bool is_right = file != NULL || fail(r, "%s", strerror(errno));
    while (is_right && getline(&text, &room, file) >= 0) {
        r->line++;
        is_right = read(r, text);
    }
    if (is_right && ferror(file)) is_right = fail(r, "%s", strerror(errno));
    free(text);
    if (file != NULL) fclose(file);
    return is_right;
}

static struct budget *read_file(struct limit_reading *r,
                                bool (*read)(struct limit_reading *, char *text))
{
    struct budget *b = r->budget = allocated(calloc(1, sizeof *b));
    b->path = allocated(strdup(r->path));
    bool is_right = read_lines(r, read);
    r->line = 0;
    if (is_right && b->count == 0)
        is_right = fail(r, read == read_limit           ? "it holds no limit"
                           : r->columns.names == NULL ? "it is no output of emu --csv"
                                                      : "it has no row of a kernel");
    if (is_right) return b;
    budget_free(b);
    return NULL;
}

struct budget *budget_read(const char *path, char *message, size_t size)
{
    struct limit_reading r = {.path = path, .message = message, .size = size};
    return read_file(&r, read_limit);
}

void budget_free(struct budget *b)
{
    if (b == NULL) return;
    free(b->path);
    free(b->limits);
    free(b);
}

/* ---- a baseline ------------------------------------------------------------------------------ */

static bool is_compared(const char *metric)
{
    return strstr(metric, "bank_conflicts") != NULL || strstr(metric, "wavefronts") != NULL ||
           (strstr(metric, "sectors") != NULL && strstr(metric, ".ratio") == NULL);
}

/* Adds a launch's number to the kernel's sum. */
static bool add_number(struct limit_reading *r, const char *kernel, const char *metric,
                       double number)
{
    struct limit limit = {.most = number, .line = r->line};
    for (size_t i = 0; i < r->budget->count; i++) {
        struct limit *l = &r->budget->limits[i];
        if (strcmp(l->kernel, kernel) != 0 || strcmp(l->counter.name, metric) != 0) continue;
        l->most += number;
        return true;
    }
    snprintf(limit.kernel, sizeof limit.kernel, "%s", kernel);
    return !find_counter(metric, &limit.counter) || add_limit(r, &limit);
}

static bool read_fields(struct limit_reading *r, char **fields, size_t count)
{
    const struct columns *c = &r->columns;
    if (count != c->count)
        return fail(r, "%zu fields where the first line has %zu", count, c->count);
    if (*fields[c->kernel] == '\0') return true; /* the row of units */
    for (size_t i = 0; i < count; i++) {
        char *end;
        if (!is_compared(c->names[i])) continue;
        double number = strtod(fields[i], &end);
        if (*end != '\0' || *fields[i] == '\0')
            return fail(r, "\"%.100s\" is no number", fields[i]);
        if (!add_number(r, fields[c->kernel], c->names[i], number)) return false;
    }
    return true;
}

static bool read_head(struct limit_reading *r, const char *text)
{
    struct columns *c = &r->columns;
    bool has_counter = false;
    c->text = allocated(strdup(text));
    c->names = csv_line_split(c->text, &c->count);
    if (c->names == NULL) return fail(r, "it is no row of CSV");
    c->kernel = c->count;
    for (size_t i = 0; i < c->count; i++) {
        if (strcmp(c->names[i], "Kernel Name") == 0) c->kernel = i;
        has_counter |= is_compared(c->names[i]);
    }
    if (c->kernel == c->count || !has_counter)
        return fail(r, "it is no output of emu --csv with bank conflicts, wavefronts or sectors");
    return true;
}

/* What the program has printed before the first row is passed over. */
static bool read_row(struct limit_reading *r, char *text)
{
    size_t count;
    if (r->columns.names == NULL)
        return strncmp(text, "\"ID\",", 5) != 0 || read_head(r, text);
    char **fields = csv_line_split(text, &count);
    bool is_right = fields != NULL ? read_fields(r, fields, count) : fail(r, "it is no row of CSV");
    free(fields);
    return is_right;
}

struct budget *baseline_read(const char *path, char *message, size_t size)
{
    struct limit_reading r = {.path = path, .message = message, .size = size};
    struct budget *b = read_file(&r, read_row);
    if (b != NULL) b->of_all_launches = true;
    free(r.columns.names);
    free(r.columns.text);
    return b;
}

/* ---- checking -------------------------------------------------------------------------------- */

static bool is_of(const struct limit *limit, const char *kernel)
{
    return strcmp(limit->kernel, "*") == 0 || strcmp(limit->kernel, kernel) == 0;
}

/* Whole numbers without a point. */
static void put_number(FILE *out, double number) { fprintf(out, "%.15g", number); }

/* "emu: launch 2 of kernel scan: 14 conflicts, and budget.txt:3 allows 0" */
static void print_excess(FILE *out, const struct budget *b, const struct limit *limit,
                         const char *where, const char *kernel, double value)
{
    fprintf(out, "emu: %s kernel ", where);
    visible_print(out, kernel, strlen(kernel));
    fputs(": ", out);
    put_number(out, value);
    fprintf(out, " %s, and ", limit->counter.name);
    visible_print(out, b->path, strlen(b->path));
    if (b->of_all_launches)
        fputs(" has ", out);
    else
        fprintf(out, ":%u allows ", limit->line);
    put_number(out, limit->most);
    fputc('\n', out);
}

/* The largest launch of a kernel, if it exceeds a limit. */
static bool check_launches(FILE *out, const struct budget *b, const struct limit *limit,
                           const struct document *d, const char *kernel)
{
    double largest = -1;
    size_t launch = 0;
    char where[60], name[NAME];
    for (size_t i = 0; i < d->launch_count; i++) {
        kernel_base_name(d->launches[i].record.kernel, name, sizeof name);
        if (d->launches[i].error != NULL || strcmp(name, kernel) != 0) continue;
        double value = value_of(&limit->counter, &d->launches[i].record.total);
        if (value > largest) launch = i;
        if (value > largest) largest = value;
    }
    if (largest <= limit->most) return false;
    snprintf(where, sizeof where, "launch %zu, of", launch);
    print_excess(out, b, limit, where, kernel, largest);
    return true;
}

static bool check_sum(FILE *out, const struct budget *b, const struct limit *limit,
                      const struct kernel_sum *kernel)
{
    char where[60];
    double value = value_of(&limit->counter, &kernel->counts);
    if (value <= limit->most) return false;
    snprintf(where, sizeof where, "all %zu launches of", kernel->launches);
    print_excess(out, b, limit, where, kernel->name, value);
    return true;
}

static bool report_missing(FILE *out, const struct budget *b, const struct limit *limit)
{
    fputs("emu: kernel ", out);
    visible_print(out, limit->kernel, strlen(limit->kernel));
    fputs(" has not run to an end, and ", out);
    visible_print(out, b->path, strlen(b->path));
    fprintf(out, ":%u has a number for it: is its name right?\n", limit->line);
    return true;
}

/* A baseline has several numbers of a kernel. */
static bool is_first_of_kernel(const struct budget *b, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (strcmp(b->limits[k].kernel, b->limits[i].kernel) == 0) return false;
    return true;
}

/* Prints a sentence if a launch of the kernel failed: its counters are not known then. */
static bool report_failure(FILE *out, const struct budget *b, const struct limit *limit,
                           const struct document *d, const char *kernel)
{
    char name[NAME];
    for (size_t i = 0; i < d->launch_count; i++) {
        kernel_base_name(d->launches[i].record.kernel, name, sizeof name);
        if (d->launches[i].error == NULL || strcmp(name, kernel) != 0) continue;
        fprintf(out, "emu: launch %zu, of kernel ", i);
        visible_print(out, kernel, strlen(kernel));
        fputs(": it failed, so it is not known whether it is within ", out);
        visible_print(out, b->path, strlen(b->path));
        fprintf(out, ":%u\n", limit->line);
        return true;
    }
    return false;
}

size_t budget_check(FILE *out, const struct budget *b, const struct document *d)
{
    size_t kernels, excesses = 0;
    struct kernel_sum *sums = kernel_sums(d, &kernels);
    for (size_t i = 0; i < b->count; i++)
        for (size_t k = 0; k < kernels; k++) {
            const struct limit *limit = &b->limits[i];
            if (!is_of(limit, sums[k].name)) continue;
            if (!b->of_all_launches || is_first_of_kernel(b, i))
                excesses += report_failure(out, b, limit, d, sums[k].name);
            if (sums[k].launches == 0) continue;
            excesses += b->of_all_launches ? check_sum(out, b, limit, &sums[k])
                                           : check_launches(out, b, limit, d, sums[k].name);
        }
    free(sums);
    return excesses;
}

void budget_write_kernels(FILE *out, const struct document *d)
{
    size_t kernels;
    struct kernel_sum *sums = kernel_sums(d, &kernels);
    for (size_t k = 0; k < kernels; k++) fprintf(out, "%s\n", sums[k].name);
    free(sums);
}

static bool is_among(const char *kernel, const char *kernels, size_t length)
{
    const char *end = kernels + length;
    for (const char *next; kernels < end; kernels = next + 1) {
        next = memchr(kernels, '\n', (size_t)(end - kernels));
        if (next == NULL) break;
        if (strlen(kernel) == (size_t)(next - kernels) &&
            memcmp(kernel, kernels, (size_t)(next - kernels)) == 0)
            return true;
    }
    return false;
}

size_t budget_check_missing(FILE *out, const struct budget *b, const char *kernels, size_t length)
{
    size_t missing = 0;
    for (size_t i = 0; i < b->count; i++) {
        const struct limit *limit = &b->limits[i];
        bool has_run = strcmp(limit->kernel, "*") == 0 || is_among(limit->kernel, kernels, length);
        if (!has_run && (!b->of_all_launches || is_first_of_kernel(b, i)))
            missing += report_missing(out, b, limit);
    }
    return missing;
}
