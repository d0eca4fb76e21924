/*
 * An option's value is in its own word, after "=", or in the next word. Files of options are read,
 * too: if something in them has to be changed, the tool reads a copy in memory in their place.
 */
#define _GNU_SOURCE /* asprintf, memfd_create */
#include "words.h"
#include "architectures.h"
#include "options.h"
#include "tools.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
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

static char *copy_of(const char *text)
{
    char *copy = strdup(text);
    if (copy == NULL) emu_refuse("out of memory");
    return copy;
}

/* ---- one word -------------------------------------------------------------------------------- */

/* What the value of an option is. */
enum option_value { NO_VALUE, ARCHITECTURE, CUDART, FILES, OTHER_TOOLS };

/* What is known while the words of a command line, or of a file, are changed one by one. */
struct change {
    const char *nvcc;       /* its path; NULL: these are the words of a linker */
    enum option_value next; /* what the next word is, if the last one is an option without "=" */
};

static char *change_files(const struct change *, const char *names);

/* Which value follows this option? */
static enum option_value value_of(const char *option, size_t length)
{
    static const struct {
        const char *option;
        enum option_value value;
    } options[] = {
        {"-arch", ARCHITECTURE},
        {"--gpu-architecture", ARCHITECTURE},
        {"-code", ARCHITECTURE},
        {"--gpu-code", ARCHITECTURE},
        {"-gencode", ARCHITECTURE},
        {"--generate-code", ARCHITECTURE},
        {"-cudart", CUDART},
        {"--cudart", CUDART},
        {"-optf", FILES},
        {"--options-file", FILES},
        {"-Xcompiler", OTHER_TOOLS},
        {"--compiler-options", OTHER_TOOLS},
        {"-Xlinker", OTHER_TOOLS},
        {"--linker-options", OTHER_TOOLS},
        {"-Xptxas", OTHER_TOOLS},
        {"--ptxas-options", OTHER_TOOLS},
        {"-Xnvlink", OTHER_TOOLS},
        {"--nvlink-options", OTHER_TOOLS},
        {"-Xarchive", OTHER_TOOLS},
        {"--archive-options", OTHER_TOOLS},
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (strlen(options[i].option) == length && strncmp(option, options[i].option, length) == 0)
            return options[i].value;
    return NO_VALUE;
}

static char *change_value(const struct change *change, enum option_value value, const char *text)
{
    if (value == ARCHITECTURE) return architectures_known(change->nvcc, text);
    if (value == FILES) return change_files(change, text);
    if (value != CUDART || strcmp(text, "static") != 0) return copy_of(text);
    return copy_of("shared");
}

static char *change_nvccs_word(struct change *change, const char *word)
{
    enum option_value value = change->next;
    const char *equals = strchr(word, '=');
    char *changed, *whole;
    change->next = NO_VALUE;
    if (value != NO_VALUE) return change_value(change, value, word);
    value = value_of(word, equals != NULL ? (size_t)(equals - word) : strlen(word));
    if (equals == NULL) change->next = value;
    if (equals == NULL || value == NO_VALUE) return copy_of(word);
    changed = change_value(change, value, equals + 1);
    if (asprintf(&whole, "%.*s%s", (int)(equals + 1 - word), word, changed) < 0)
        emu_refuse("out of memory");
    free(changed);
    return whole;
}

static char *change_linkers_word(const struct change *change, const char *word)
{
    if (word[0] == '@') {
        char *name = change_files(change, word + 1), *whole;
        if (asprintf(&whole, "@%s", name) < 0) emu_refuse("out of memory");
        free(name);
        return whole;
    }
    if (strcmp(word, "-lcudart_static") != 0 && !word_ends(word, "/libcudart_static.a"))
        return copy_of(word);
    emu_say_change("the linker gets -lcudart in place of NVIDIA's static runtime, so that the"
                   " emulator can take its place");
    return copy_of("-lcudart");
}

static char *change_word(struct change *change, const char *word)
{
    return change->nvcc != NULL ? change_nvccs_word(change, word)
                                : change_linkers_word(change, word);
}

/* ---- files of options ------------------------------------------------------------------------ */

/* The length of the word that a text begins with; a character after a backslash belongs to it. */
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
        if (length == 0) {
            fputc(*text++, out);
            continue;
        }
        char *word = strndup(text, length), *new = word != NULL ? change_word(&change, word) : NULL;
        if (new == NULL) emu_refuse("out of memory");
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
    char *name;
    int file = memfd_create("options", 0);
    if (file < 0 || write(file, text, strlen(text)) != (ssize_t)strlen(text) ||
        asprintf(&name, "/proc/self/fd/%d", file) < 0)
        emu_refuse("cannot make a file in memory");
    return name;
}

/* The name of a file, or of a copy that is changed. */
static char *change_file(const struct change *change, const char *path)
{
    char *text = read_text(path),
         *changed =
             text != NULL ? change_text((struct change){change->nvcc, NO_VALUE}, text) : NULL,
         *name = changed != NULL && strcmp(text, changed) != 0 ? name_in_memory(changed)
                                                               : copy_of(path);
    free(text);
    free(changed);
    return name;
}

/* nvcc takes several names with commas between. */
static char *change_files(const struct change *change, const char *names)
{
    char *all = copy_of(names), *rest = all, *list = copy_of(""), *longer;
    if (change->nvcc == NULL) {
        free(list);
        list = change_file(change, names);
    } else {
        for (const char *name; (name = strsep(&rest, ",")) != NULL;) {
            char *new = change_file(change, name);
            if (asprintf(&longer, "%s%s%s", list, *list != '\0' ? "," : "", new) < 0)
                emu_refuse("out of memory");
            free(new);
            free(list);
            list = longer;
        }
    }
    free(all);
    return list;
}

/* ---- all words ------------------------------------------------------------------------------- */

static void add_changed(struct word_list *words, struct change change, char *const *own)
{
    for (; *own != NULL; own++) words_add(words, change_word(&change, *own));
}

void words_add_nvccs(struct word_list *words, const char *nvcc, char *const *own)
{
    add_changed(words, (struct change){nvcc, NO_VALUE}, own);
}

void words_add_linkers(struct word_list *words, char *const *own)
{
    add_changed(words, (struct change){0}, own);
}
