/*
 * banks_bank_lab.c — the labs predict, detective and swizzle:
 *
 *     bank-lab predict|detective write|check SHEET BANKS.ptx
 *     bank-lab swizzle check SOURCE.cu SOURCE.ptx
 *
 * The exit code is 0 if all answers are right, 1 if not, 2 for a wrong command line or sheet, and 3
 * if the emulator fails.
 */
#include "banks.h"

#include <errno.h>
#include <string.h>

typedef int exercise_fn(const char *ptx, FILE *sheet, struct fault *);

static exercise_fn *find(const char *exercise, const char *action)
{
    static const struct {
        const char *exercise, *action;
        exercise_fn *run;
    } all[] = {
        {"predict", "write", predict_write},     {"predict", "check", predict_check},
        {"detective", "write", detective_write}, {"detective", "check", detective_check},
        {"swizzle", "check", swizzle_check},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!strcmp(exercise, all[i].exercise) && !strcmp(action, all[i].action)) return all[i].run;
    return NULL;
}

static int run(int count, char **argument, struct fault *fault)
{
    exercise_fn *exercise = count == 5 ? find(argument[1], argument[2]) : NULL;
    if (!exercise)
        return fail(fault, EXIT_USAGE,
                    "Give predict|detective write|check SHEET BANKS.ptx, or swizzle check "
                    "SOURCE.cu SOURCE.ptx.");
    FILE *sheet = fopen(argument[3], *argument[2] == 'w' ? "wx" : "r");
    if (!sheet)
        return fail(fault, EXIT_USAGE, "%s cannot be opened: %s; `make %s` writes it once.",
                    argument[3], strerror(errno), argument[1]);
    int code = exercise(argument[4], sheet, fault);
    if (fclose(sheet) && !code)
        return fail(fault, EXIT_USAGE, "%s cannot be written: %s.", argument[3], strerror(errno));
    return code;
}

int main(int count, char **argument)
{
    struct fault fault = {0};
    int code = run(count, argument, &fault);
    return *fault.text ? fault_say(&fault) : code;
}
