/* command.c — runs shell commands in tests. */
#define _GNU_SOURCE
#include "command.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { OUTPUT_SIZE = 1 << 17, COMMAND_SIZE = 1 << 12 };

char output[OUTPUT_SIZE];
char folder[] = "/tmp/upsweep-emu-XXXXXX";

/* On a busy machine a kernel may take long, but no test expects a line about its progress. */
void command_init(void)
{
    setenv("EMU_PROGRESS", "0", 0);
    cr_assert(mkdtemp(folder) != NULL);
}

void command_fini(void)
{
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", folder);
    cr_assert(system(command) == 0);
}

int run(const char *format, ...)
{
    char command[COMMAND_SIZE];
    int length = snprintf(command, sizeof command, "emu=%s p=%s pairs=%s t=%s; ", EMU, PROGRAMS,
                          PAIRS, folder);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(command + length, sizeof command - (size_t)length, format, arguments);
    va_end(arguments);
    return run_command(command);
}

int run_command(const char *command)
{
    FILE *pipe = popen(command, "r");
    cr_assert(pipe != NULL);
    size_t read = fread(output, 1, sizeof output - 1, pipe);
    output[read] = '\0';
    int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void expect(const char *text)
{
    cr_assert(strstr(output, text) != NULL, "expected \"%s\" in:\n%s", text, output);
}

void expect_runs(const struct run_case *cases, size_t count)
{
    for (const struct run_case *c = cases; c < cases + count; c++) {
        int status = run("%s 2>&1", c->command);
        cr_expect_eq(status, c->status, "%s: exit status %d\n%s", c->command, status, output);
        for (const char *const *text = c->says; *text; text++) {
            bool is_right = **text == '=' ? strcmp(output, *text + 1) == 0
                            : **text == '!' ? strstr(output, *text + 1) == NULL
                                            : strstr(output, *text) != NULL;
            cr_expect(is_right, "%s: expected \"%s\" in:\n%s", c->command, *text, output);
        }
    }
}

unsigned count_of(const char *text)
{
    unsigned times = 0;
    for (const char *at = output; (at = strstr(at, text)); at++) times++;
    return times;
}

void expect_not(const char *text)
{
    cr_assert(strstr(output, text) == NULL, "did not expect \"%s\" in:\n%s", text, output);
}

void expect_one_sentence(void)
{
    cr_assert(strncmp(output, "emu: ", 5) == 0, "%s", output);
    cr_assert(strchr(output, '\n') == output + strlen(output) - 1, "%s", output);
}
