/*
 * architectures.h — names of architectures in the words of nvcc, such as sm_35 and compute_35.
 */
#ifndef EMU_ARCHITECTURES_H
#define EMU_ARCHITECTURES_H

/* A copy of the text, to be freed, in which each architecture that this nvcc no longer knows has
 * become the next one that it knows. Each change is said once. */
char *architectures_known(const char *nvcc, const char *text);

#endif
