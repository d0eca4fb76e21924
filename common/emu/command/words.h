/*
 * words.h — the words of a command line, as they are changed for tools.c.
 */
#ifndef EMU_WORDS_H
#define EMU_WORDS_H

#include <stdbool.h>
#include <stddef.h>

/* A list of words that ends with NULL. */
struct word_list {
    char **at;
    size_t count;
};

/* Adds a word, which is not copied. */
void words_add(struct word_list *, const char *word);

/* Adds words of nvcc, whose path is given, with what has to be changed in them. */
void words_add_nvccs(struct word_list *, const char *nvcc, char *const *own);

/* Adds words of a linker, in which NVIDIA's static runtime becomes the shared one. */
void words_add_linkers(struct word_list *, char *const *own);

/* Does a word end so? */
bool word_ends(const char *word, const char *end);

#endif
