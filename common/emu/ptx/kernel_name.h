/*
 * kernel_name.h — a kernel's name as a person would write it.
 */
#ifndef EMU_KERNEL_NAME_H
#define EMU_KERNEL_NAME_H

#include <stddef.h>

/*
 * Writes the function's own name, without namespaces, template arguments and parameters, into
 * name[size]: "scan" for "_ZN3foo4scanIfEEvPT_". A name that is not mangled stays as it is. This is
 * what ncu prints with --print-kernel-base function, and what its --kernel-name compares.
 */
void kernel_base_name(const char *mangled, char *name, size_t size);

/* Writes the whole name, with namespaces, template arguments and parameters, where the C++ library
 * is at hand, which knows how to; otherwise the base name. */
void kernel_whole_name(const char *mangled, char *name, size_t size);

#endif
