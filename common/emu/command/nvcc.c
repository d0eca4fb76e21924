/*
 * nvcc.c — the words of a command line, as command_tools.c changes them.
 *
 * An option's value is in its own word, after "=", or in the next word. Files of options are read,
 * too: if something in them has to be changed, the tool reads a copy in memory in their place.
 */
#define _GNU_SOURCE /* memfd_create */
#include "command.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

void words_add(struct word_list *words, const char *word)
{
    char **grown = realloc(words->at, (words->count + 2) * sizeof *grown);
    if (grown == NULL) emu_refuse("out of memory");
    words->at = grown;
    grown[words->count++] = (char *)word;
    grown[words->count] = NULL;
}

bool word_ends(const char *word, const char *end)
{
    size_t length = strlen(word), tail = strlen(end);
    return length >= tail && strcmp(word + length - tail, end) == 0;
}

/* ---- one word -------------------------------------------------------------------------------- */

/* What the value of an option is. */
enum option_value { ARCH = BY_ARCH, CODE, GENCODE, CUDART, FILES, OTHER_TOOLS, NO_VALUE };

/* What is known while the words of a command line, or of a file, are changed one by one. */
struct change {
    const char *nvcc;       /* its path; NULL: these are the words of a linker */
    enum option_value next; /* what the next word is, if the last one is an option without "=" */
};

static char *change_files(const struct change *, const char *names);

/* Which value has this option? -Xcompiler, -Xptxas and the like have words of other tools. */
static enum option_value value_of(const char *option, size_t length)
{
    static const struct {
        const char *option;
        enum option_value value;
    } options[] = {
        {"-arch", ARCH},       {"--gpu-architecture", ARCH},
        {"-code", CODE},       {"--gpu-code", CODE},
        {"-gencode", GENCODE}, {"--generate-code", GENCODE},
        {"-cudart", CUDART},   {"--cudart", CUDART},
        {"-optf", FILES},      {"--options-file", FILES},
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (strlen(options[i].option) == length && strncmp(option, options[i].option, length) == 0)
            return options[i].value;
    return strncmp(option, "-X", 2) == 0 ? OTHER_TOOLS : NO_VALUE;
}

static char *change_value(const struct change *change, enum option_value value, const char *text)
{
    if (value <= GENCODE) return architectures_known(change->nvcc, text, (enum named_by)value);
    if (value == FILES) return change_files(change, text);
    bool is_static = value == CUDART && strcmp(text, "static") == 0;
    return emu_text("%s", is_static ? "shared" : text);
}

static char *change_nvccs_word(struct change *change, const char *word)
{
    enum option_value value = change->next;
    const char *equals = strchr(word, '=');
    change->next = NO_VALUE;
    if (value != NO_VALUE) return change_value(change, value, word);
    value = value_of(word, equals != NULL ? (size_t)(equals - word) : strlen(word));
    if (equals == NULL) change->next = value;
    if (equals == NULL || value == NO_VALUE) return emu_text("%s", word);
    char *changed = change_value(change, value, equals + 1),
         *whole = emu_text("%.*s%s", (int)(equals + 1 - word), word, changed);
    free(changed);
    return whole;
}

static char *change_linkers_word(const struct change *change, const char *word)
{
    if (word[0] == '@') {
        char *name = change_files(change, word + 1), *whole = emu_text("@%s", name);
        free(name);
        return whole;
    }
    if (strcmp(word, "-lcudart_static") != 0 && !word_ends(word, "libcudart_static.a"))
        return emu_text("%s", word);
    emu_say_change("the linker gets -lcudart in place of NVIDIA's static runtime, so that the"
                   " emulator can take its place");
    return emu_text("-lcudart");
}

static char *change_word(struct change *change, const char *word)
{
    return change->nvcc != NULL ? change_nvccs_word(change, word)
                                : change_linkers_word(change, word);
}

/* ---- files of options ------------------------------------------------------------------------ */

/* The length of the word that a text begins with; a character after a backslash belongs to it, and
 * so does a quotation mark, unless it is the first character. */
static size_t word_length(const char *text)
{
    size_t length = 0;
    while (text[length] != '\0' && !isspace((unsigned char)text[length]))
        length += text[length] == '\\' && text[length + 1] != '\0' ? 2 : 1;
    return length;
}

/* A copy of the text with changed words, to be freed. */
static char *change_text(struct change change, const char *text)
{
    char *changed;
    size_t size;
    FILE *out = open_memstream(&changed, &size);
    if (out == NULL) emu_refuse("out of memory");
    while (*text != '\0') {
        size_t length = word_length(text);
        if (length == 0 || *text == '"') {
            fputc(*text++, out);
            continue;
        }
        char *word = emu_text("%.*s", (int)length, text), *new = change_word(&change, word);
        fputs(new, out);
        free(new);
        free(word);
        text += length;
    }
    if (fclose(out) != 0) emu_refuse("out of memory");
    return changed;
}

/* The text of a file, to be freed; NULL: it cannot be read, or is no text. */
static char *read_text(const char *path)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = fopen(path, "r");
    ssize_t length = file != NULL ? getdelim(&text, &size, '\0', file) : -1;
    if (file != NULL) fclose(file);
    if (length > 0 && strlen(text) == (size_t)length) return text;
    free(text);
    return NULL;
}

/* A name for a file in memory, which the tool that this process becomes inherits. */
static char *name_in_memory(const char *text)
{
    int file = memfd_create("options", 0);
    if (file < 0 || write(file, text, strlen(text)) != (ssize_t)strlen(text))
        emu_refuse("cannot make a file in memory: %s", strerror(errno));
    return emu_text("/proc/self/fd/%d", file);
}

/* Can it be read only once, as what a shell puts in place of <(command)? */
static bool is_pipe(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISFIFO(status.st_mode);
}

/* The name of a file, or of a copy that is changed or was a pipe. */
static char *change_file(const struct change *change, const char *path)
{
    char *text = read_text(path);
    if (text == NULL) return emu_text("%s", path);
    char *changed = change_text((struct change){change->nvcc, NO_VALUE}, text);
    bool same = strcmp(text, changed) == 0 && !is_pipe(path);
    char *name = same ? emu_text("%s", path) : name_in_memory(changed);
    free(text);
    free(changed);
    return name;
}

/* The names of several files, with commas between. */
static char *change_files(const struct change *change, const char *names)
{
    const char *comma = strchr(names, ',');
    char *first = emu_text("%.*s", comma != NULL ? (int)(comma - names) : INT_MAX, names),
         *changed = change_file(change, first),
         *others = comma != NULL ? change_files(change, comma + 1) : NULL,
         *all = others != NULL ? emu_text("%s,%s", changed, others) : emu_text("%s", changed);
    free(first);
    free(changed);
    free(others);
    return all;
}

/* ---- all words ------------------------------------------------------------------------------- */

static void add_changed(struct word_list *words, struct change change, char *const *own)
{
    for (; *own != NULL; own++) words_add(words, change_word(&change, *own));
}

void words_add_nvccs(struct word_list *words, const char *nvcc, char *const *own)
{
    static const char *const variables[] = {"NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS"};
    for (int i = 0; i < 2; i++)
        if (getenv(variables[i]) != NULL)
            emu_set(variables[i],
                    change_text((struct change){nvcc, NO_VALUE}, getenv(variables[i])));
    add_changed(words, (struct change){nvcc, NO_VALUE}, own);
}

void words_add_linkers(struct word_list *words, char *const *own)
{
    add_changed(words, (struct change){NULL, NO_VALUE}, own);
}
