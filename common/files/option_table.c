/* option_table.c — reading a command line by a table of options. */
#include "option_table.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Does the argument name this option? If so, *value is the text joined to the name (behind '=') or
 * to the letter, or NULL. `letters` is the number of letters of the argument that have been
 * taken. */
static bool names(const char *argument, int letters, const struct option_row *row,
                  const char **value)
{
    if (!row->name || argument[0] != '-') return false;
    const char *letter = argument + 1 + letters;
    if (row->letter && *letter == row->letter) {
        *value = letter[1] ? letter + 1 : NULL;
        return true;
    }
    size_t length = strlen(row->name);
    if (letters > 0 || argument[1] != '-' || strncmp(argument + 2, row->name, length) != 0)
        return false;
    const char *end = argument + 2 + length;
    *value = *end ? end + 1 : NULL;
    return !*end || *end == '=';
}

/* Does the text behind a flag's letter consist of letters of other flags? If so, they come next. */
static bool shares_dash(const struct option_row *row, struct command_line *line, const char *value)
{
    bool shares = !row->argument && value && value[-1] == row->letter && *value != '=';
    line->letters = shares ? line->letters + 1 : 0;
    return shares;
}

static int apply(const struct option_row *row, void *to, const char *value, struct fault *fault)
{
    if (row->to) to = row->to;
    if (row->set) return row->set(to, value, fault);
    char *member = (char *)to + row->member;
    if (row->argument)
        *(const char **)member = value;
    else
        *(bool *)member = true;
    return 0;
}

/* The value that is joined to the option, or else the next argument. */
static int take_value(const struct option_row *row, struct command_line *line, const char **value,
                      struct fault *fault)
{
    if (!row->argument && *value)
        return fail(fault, EXIT_USAGE, "--%s takes no value, but was given \"%.60s\".", row->name,
                    *value);
    if (!row->argument || *value) return 0;
    if (line->at >= line->count)
        return fail(fault, EXIT_USAGE, "--%s needs a value; --help says which.", row->name);
    *value = line->arguments[line->at++];
    return 0;
}

int option_take(struct option_table table, struct command_line *line, void *to, bool *taken,
                struct fault *fault)
{
    const char *argument = line->arguments[line->at], *value = NULL;
    *taken = false;
    for (const struct option_row *row = table.rows; row < table.rows + table.count; row++) {
        if (!names(argument, line->letters, row, &value)) continue;
        *taken = true;
        if (shares_dash(row, line, value)) return apply(row, to, NULL, fault);
        line->at++;
        int code = take_value(row, line, &value, fault);
        return code ? code : apply(row, to, value, fault);
    }
    return 0;
}

int option_take_all(struct option_table table, struct command_line *line, void *to,
                    const char **names, int most, struct fault *fault)
{
    int code = 0, count = 0;
    while (!code && line->at < line->count) {
        bool taken;
        const char *argument = line->arguments[line->at];
        code = option_take(table, line, to, &taken, fault);
        if (code || taken) continue;
        if (argument[0] == '-')
            return fail(fault, EXIT_USAGE, "\"%.60s\" is no option; --help lists them.", argument);
        if (count == most)
            return fail(fault, EXIT_USAGE, "\"%.60s\" is one argument too many; see --help.",
                        argument);
        names[count++] = argument;
        line->at++;
    }
    return code;
}

bool option_whole(const char *value, uint64_t most, uint64_t *number)
{
    char *end;
    errno = 0;
    *number = strtoull(value, &end, 10);
    return isdigit((unsigned char)*value) && !*end && !errno && *number <= most;
}

bool option_real(const char *value, double *number)
{
    const char *first = value + (*value == '-');
    char *end;
    errno = 0;
    *number = strtod(value, &end);
    return *first && strchr(".0123456789iInN", *first) && !strpbrk(value, "xX") && !*end &&
           !(errno && isinf(*number));
}

/* The option as it is written: "-k, --kernel-name NAME". */
static int print_name(const struct option_row *row, FILE *to)
{
    int width = fprintf(to, "  ");
    if (row->letter) width += fprintf(to, "-%c, ", row->letter);
    return width + fprintf(to, "--%s%s%s", row->name, row->argument ? " " : "",
                           row->argument ? row->argument : "");
}

/* A name that reaches into the column of texts gets a line of its own. */
static void print_row(const struct option_row *row, int column, FILE *to)
{
    int width = print_name(row, to);
    if (width >= column) fprintf(to, "\n"), width = 0;
    for (const char *line = row->help; *line; width = 0) {
        size_t length = strcspn(line, "\n");
        fprintf(to, "%*s%.*s\n", column - width, "", (int)length, line);
        line += length + (line[length] == '\n');
    }
}

void option_print(struct option_table table, int column, FILE *to)
{
    for (const struct option_row *row = table.rows; row < table.rows + table.count; row++)
        if (row->name)
            print_row(row, column, to);
        else
            fprintf(to, "\n");
}
