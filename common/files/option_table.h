/* option_table.h — a command line read by a table of options, from which --help is printed too.
 *
 * An option is written --name, --name VALUE or --name=VALUE; one with a letter also -x, -x VALUE or
 * -xVALUE. Flags may share a dash: -xy is -x -y. */
#ifndef OPTION_TABLE_H
#define OPTION_TABLE_H

#include "fault.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Takes an option's value, NULL if the option has none, into the program's own options `to`.
 * Returns 0, or an exit code with the sentence in fault. */
typedef int option_fn(void *to, const char *value, struct fault *);

struct option_row {
    const char *name;     /* without the dashes; NULL: an empty line of --help */
    const char *argument; /* what --help calls the value; NULL: a flag without a value */
    const char *help;     /* lines with '\n' between them */
    option_fn *set;       /* NULL: the option sets a member of `to` */
    void *to;             /* takes the place of option_take()'s `to`; NULL: that one */
    char letter;          /* 0: none */
    size_t member;        /* if set is NULL: the offset of a bool, or of a const char * if the
                             option has a value */
};

/* Rows without a letter; OPTION_TO has a `to` of its own. */
#define OPTION(name, argument, help, set)                                                          \
    {                                                                                              \
        name, argument, help, set, NULL, 0, 0                                                      \
    }
#define OPTION_TO(name, argument, help, set, to)                                                   \
    {                                                                                              \
        name, argument, help, set, to, 0, 0                                                        \
    }

/* A flag that sets a bool of `to` to true, and an option whose value a const char * of `to` gets.
 * `to` is a `type`, such as struct options. */
#define OPTION_FLAG(name, help, type, member)                                                      \
    {                                                                                              \
        name, NULL, help, NULL, NULL, 0, offsetof(type, member)                                    \
    }
#define OPTION_TEXT(name, argument, help, type, member)                                            \
    {                                                                                              \
        name, argument, help, NULL, NULL, 0, offsetof(type, member)                                \
    }

struct option_table {
    const struct option_row *rows;
    size_t count;
};

/* A command line and the argument that is read next. */
struct command_line {
    int count;
    char *const *arguments;
    int at;
    int letters; /* of that argument, whose options have been taken already */
};

/* If the next argument is an option of the table, takes it with its value and moves on. Of several
 * flags that share a dash it takes the next one. Otherwise sets *taken to false. Returns 0 or an
 * exit code: a value is missing or not wanted, or the option refuses it. */
int option_take(struct option_table, struct command_line *, void *to, bool *taken, struct fault *);

/* Takes the rest of a command line: options of the table, and up to `most` other arguments, which
 * go into names[]. One more of these, and any that begins with a dash, is an error. */
int option_take_all(struct option_table, struct command_line *, void *to, const char **names,
                    int most, struct fault *);

/* A value that is a number in decimal and nothing else: no blanks, no '+', no hexadecimal. A real
 * one may be "inf" or "nan", but one that is written in digits fits into a double. False: it is
 * none, or more than `most`. */
bool option_whole(const char *value, uint64_t most, uint64_t *number);
bool option_real(const char *value, double *number);

/* Prints the options for --help, their texts from this column on. */
void option_print(struct option_table, int column, FILE *);

#endif
