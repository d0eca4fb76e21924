#include "kernel_name.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Mangled names (Itanium C++ ABI, 5.1 "External Names") are _Z <length><name> …, or, in namespaces,
 * _ZN <length><name> <length><name> …. "St" is std, and L marks internal linkage. A kernel is never
 * a member of a class, so all names before the last one are namespaces. Behind a name that is in
 * none come the parameters' types, which may be names, too.
 */
void kernel_base_name(const char *mangled, char *name, size_t size)
{
    const char *base = mangled;
    int base_length = (int)strlen(mangled);

    if (strncmp(mangled, "_Z", 2) == 0) {
        const char *p = mangled + 2;
        bool is_nested = *p == 'N';
        if (is_nested) p++;
        if (strncmp(p, "St", 2) == 0) p += 2;
        if (*p == 'L') p++;
        while (isdigit((unsigned char)*p) && (is_nested || base == mangled)) {
            char *end;
            unsigned long length = strtoul(p, &end, 10);
            if (length > strlen(end)) break;
            base = end;
            base_length = (int)length;
            p = end + length;
        }
    }
    snprintf(name, size, "%.*s", base_length, base);
}

/* This function is in the C++ library, which nearly every CUDA program is linked with. In a C
 * program its address is NULL. */
extern char *__cxa_demangle(const char *mangled, char *buffer, size_t *size, int *status)
    __attribute__((weak));

void kernel_whole_name(const char *mangled, char *name, size_t size)
{
    int status = -1;
    bool is_mangled = strncmp(mangled, "_Z", 2) == 0; /* "f" alone is the type float */
    char *whole = NULL;
    if (is_mangled && __cxa_demangle) whole = __cxa_demangle(mangled, NULL, NULL, &status);
    if (whole && status == 0)
        snprintf(name, size, "%s", whole);
    else
        kernel_base_name(mangled, name, size);
    free(whole);
}
