/*
 * kernel_name.h — turns a mangled kernel name into the name in the source.
 */
#ifndef EMU_KERNEL_NAME_H
#define EMU_KERNEL_NAME_H

#include <stddef.h>

/*
 * Writes the function's own name, without namespaces, template arguments and parameters, into
 * name[size]: "scan" for "_ZN3foo4scanIfEEvPT_". A name that is not mangled stays as it is. ncu
 * prints this name with --print-kernel-base function, and its --kernel-name compares it.
 */
void kernel_base_name(const char *mangled, char *name, size_t size);

/* Writes the whole name, with namespaces, template arguments and parameters. If the program is not
 * linked with the C++ library, writes the base name. */
void kernel_whole_name(const char *mangled, char *name, size_t size);

#endif
