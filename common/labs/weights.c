/* weights.c — reads the points that each criterion is worth. weights.txt says how. */
#include "score.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 200, LAB_MOST = 99 };
static const double points_most = 1000;

const char *lab_criterion_name(enum lab_criterion criterion)
{
    static const char *const names[] = {[LAB_WORK] = "work",
                                        [LAB_CONFLICTS] = "conflicts",
                                        [LAB_SECTORS] = "sectors",
                                        [LAB_HAZARDS] = "hazards",
                                        [LAB_CRITERIA] = "correctness"};
    return criterion <= LAB_CRITERIA ? names[criterion] : "";
}

/* A line of the file: a lab's number, or 0 for all, and a criterion with its points. */
struct weight {
    int lab;
    enum lab_criterion criterion;
    double points;
};

static bool read_criterion(const char *name, enum lab_criterion *criterion)
{
    for (int c = 0; c < LAB_CRITERIA; c++) {
        *criterion = (enum lab_criterion)c;
        if (!strcmp(name, lab_criterion_name(*criterion))) return true;
    }
    return false;
}

/* Returns what is wrong with the line, or NULL. */
static const char *read_line(const char *text, struct weight *weight)
{
    char name[LINE_BYTES], number[LINE_BYTES], rest[2], *end;
    const char *criterion = name;
    if (sscanf(text, "%199s %199s %1s", name, number, rest) != 2)
        return "has no criterion with its points";
    weight->lab = 0;
    if (!strncmp(name, "lab", 3)) {
        weight->lab = (int)strtol(name + 3, &end, 10);
        if (*end != '.' || weight->lab < 1 || weight->lab > LAB_MOST)
            return "names no lab, as lab3.work does";
        criterion = end + 1;
    }
    if (!read_criterion(criterion, &weight->criterion))
        return "names none of work, conflicts, sectors and hazards";
    weight->points = strtod(number, &end);
    if (*end || !(weight->points >= 0 && weight->points <= points_most))
        return "has points that are not a number from 0 to 1000";
    return NULL;
}

/* Has an earlier line given this weight? The later one would be taken without a word. */
static bool is_second(const struct weight *weight, bool given[LAB_MOST + 1][LAB_CRITERIA])
{
    bool before = given[weight->lab][weight->criterion];
    given[weight->lab][weight->criterion] = true;
    return before;
}

/* A lab's own weight counts, wherever it stands in the file. */
static void take_weight(const struct weight *weight, const struct lab *lab, bool *own,
                        struct lab_weights *weights)
{
    if (weight->lab ? weight->lab != lab->number : own[weight->criterion]) return;
    own[weight->criterion] |= weight->lab != 0;
    weights->points[weight->criterion] = weight->points;
}

static bool is_empty(char *text)
{
    text[strcspn(text, "#\n")] = '\0';
    return text[strspn(text, " \t\r")] == '\0';
}

static int read_lines(FILE *file, const char *path, const struct lab *lab,
                      struct lab_weights *weights, char *why, size_t why_size)
{
    char text[LINE_BYTES];
    bool own[LAB_CRITERIA] = {false}, given[LAB_MOST + 1][LAB_CRITERIA] = {{false}};
    struct weight weight;
    for (unsigned line = 1; fgets(text, sizeof text, file); line++) {
        if (is_empty(text)) continue;
        const char *wrong = read_line(text, &weight);
        if (!wrong && is_second(&weight, given)) wrong = "gives a weight for a second time";
        if (wrong) {
            snprintf(why, why_size, "Line %u of %s %s.", line, path, wrong);
            return -1;
        }
        take_weight(&weight, lab, own, weights);
    }
    return 0;
}

static bool have_points(const struct lab_weights *weights)
{
    double sum = 0;
    for (int c = 0; c < LAB_CRITERIA; c++) sum += weights->points[c];
    return sum > 0;
}

int lab_weights_take(FILE *file, const char *path, const struct lab *lab,
                     struct lab_weights *weights, char *why, size_t why_size)
{
    *weights = (struct lab_weights){{0}};
    int code = read_lines(file, path, lab, weights, why, why_size);
    if (code || have_points(weights)) return code;
    snprintf(why, why_size, "%s gives no points to lab %d.", path, lab->number);
    return -1;
}

int lab_weights_read(const char *path, const struct lab *lab, struct lab_weights *weights,
                     char *why, size_t why_size)
{
    FILE *file = fopen(path, "r");
    if (!file) {
        *weights = (struct lab_weights){{0}};
        snprintf(why, why_size, "The weights in %s cannot be read: %s.", path, strerror(errno));
        return -1;
    }
    int code = lab_weights_take(file, path, lab, weights, why, why_size);
    fclose(file);
    return code;
}
