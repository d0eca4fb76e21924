/* ptx_types.c — names: of PTX's types and state spaces, and of kernels. */
#include "ptx.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* ---- the names and sizes of PTX's types and state spaces ------------------------------------- */

/* The names and sizes of PTX's types and state spaces (PTX ISA, "State Spaces, Types,
 * and Variables"). */

static const struct {
    const char *name;
    unsigned char bytes;
    char kind;
} types[PTX_TYPES] = {
    [PTX_NONE] = {"", 0, ' '},       [PTX_B8] = {"b8", 1, 'b'},
    [PTX_B16] = {"b16", 2, 'b'},     [PTX_B32] = {"b32", 4, 'b'},
    [PTX_B64] = {"b64", 8, 'b'},     [PTX_B128] = {"b128", 16, 'b'},
    [PTX_U8] = {"u8", 1, 'u'},       [PTX_U16] = {"u16", 2, 'u'},
    [PTX_U32] = {"u32", 4, 'u'},     [PTX_U64] = {"u64", 8, 'u'},
    [PTX_S8] = {"s8", 1, 's'},       [PTX_S16] = {"s16", 2, 's'},
    [PTX_S32] = {"s32", 4, 's'},     [PTX_S64] = {"s64", 8, 's'},
    [PTX_F16] = {"f16", 2, 'f'},     [PTX_BF16] = {"bf16", 2, 'f'},
    [PTX_F16X2] = {"f16x2", 4, 'f'}, [PTX_BF16X2] = {"bf16x2", 4, 'f'},
    [PTX_U16X2] = {"u16x2", 4, 'u'}, [PTX_S16X2] = {"s16x2", 4, 's'},
    [PTX_F32] = {"f32", 4, 'f'},     [PTX_F64] = {"f64", 8, 'f'},
    [PTX_TF32] = {"tf32", 4, 'f'},   [PTX_E4M3X2] = {"e4m3x2", 2, 'f'},
    [PTX_E5M2X2] = {"e5m2x2", 2, 'f'},
    [PTX_PRED] = {"pred", 0, 'p'},
};

enum ptx_type ptx_type_named(const char *word)
{
    for (int type = PTX_B8; type < PTX_TYPES; type++)
        if (!strcmp(word, types[type].name)) return type;
    return PTX_NONE;
}

const char *ptx_type_name(enum ptx_type type) { return types[type].name; }
size_t ptx_type_size(enum ptx_type type) { return types[type].bytes; }
bool ptx_type_is_float(enum ptx_type type) { return types[type].kind == 'f'; }
bool ptx_type_has_registers(enum ptx_type type)
{
    return (type <= PTX_F16X2 && type != PTX_BF16) || type == PTX_F32 || type == PTX_F64 ||
           type == PTX_PRED;
}
bool ptx_type_is_bits(enum ptx_type type) { return types[type].kind == 'b'; }
bool ptx_type_is_signed(enum ptx_type type) { return types[type].kind == 's'; }

const char *ptx_space_name(enum ptx_space space)
{
    static const char *const names[PTX_SPACES] = {
        "generic", "global", "shared", "local", "const", "param", "shared::cluster"};
    return names[space];
}

/* A toolkit may be in any folder, but its headers are always in a folder of this name. */
static bool is_toolkit_header(const char *path) { return path && strstr(path, "/include/"); }

bool ptx_counts_at_caller(const char *file, const char *home)
{
    return is_toolkit_header(file) && !is_toolkit_header(home);
}

/* ---- names of kernels ------------------------------------------------------------------------ */

/* Mangled names (Itanium C++ ABI, 5.1 "External Names") are _Z <length><name> …, or, in namespaces,
 * _ZN <length><name> <length><name> …. "St" is std, and L marks internal linkage. A kernel is never
 * a member of a class, so all names before the last one are namespaces. Behind a name that is in
 * none come the parameters' types, which may be names, too. */
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
