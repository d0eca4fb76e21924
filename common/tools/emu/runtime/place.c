/* place.c — finding the place in the program that called the library, and refusing a feature there.
 * (driver_refused.c has the functions that are not supported.) */
#define _GNU_SOURCE /* dladdr, asprintf */
#include "cudart.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <sys/auxv.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_DEPTH = 64, MAX_INLINED = 8, TEXT_SIZE = 2048 };

/* ---- the library's own frames ---------------------------------------------------------------- */

/* In libcudart_static.a all code lies in this section, whose ends the linker marks. */
extern const char __start_emu_text[] __attribute__((weak, visibility("hidden")));
extern const char __stop_emu_text[] __attribute__((weak, visibility("hidden")));

/* The begin of a stand-in of NVIDIA's libraries that has called this one; NULL: none has. */
static _Thread_local const void *library;

void cudart_place_library(const void *address)
{
    Dl_info info;
    library = address != NULL && dladdr(address, &info) != 0 ? info.dli_fbase : NULL;
}

static bool is_own(void *address)
{
    const char *at = address;
    Dl_info own, its;
    if (library != NULL && dladdr(address, &its) != 0 && its.dli_fbase == library) return true;
    if (__start_emu_text != NULL) return at >= __start_emu_text && at < __stop_emu_text;
    return dladdr((void *)(uintptr_t)is_own, &own) != 0 && dladdr(address, &its) != 0 &&
           own.dli_fbase == its.dli_fbase;
}

/* Collects all return addresses; *own becomes the number of the library's, which come first. More
 * of them lie between a function of the host in a stream and the program that has put it there. */
static int walk(void *frames[MAX_DEPTH], int *own)
{
    int count = backtrace(frames, MAX_DEPTH);
    for (*own = 0; *own < count && is_own(frames[*own]);) ++*own;
    return count;
}

void cudart_place(struct emu_host_place *place)
{
    void *frames[MAX_DEPTH];
    int own, count = walk(frames, &own);
    place->count = 0;
    for (int i = own; i < count && place->count < EMU_HOST_FRAMES; i++)
        if (!is_own(frames[i])) place->frames[place->count++] = frames[i];
}

/* ---- an address in words --------------------------------------------------------------------- */

struct module {
    const char *name; /* from dladdr */
    char path[64];    /* for addr2line, of the main program; else "" */
    uintptr_t offset; /* of the address within the file */
};

static void find_module(const char *address, const Dl_info *info, struct module *module)
{
    Dl_info program;
    const Elf64_Ehdr *header = info->dli_fbase;
    const char *slash = strrchr(info->dli_fname, '/');
    module->name = slash != NULL ? slash + 1 : info->dli_fname;
    module->offset = (uintptr_t)address;
    if (header->e_type == ET_DYN) module->offset -= (uintptr_t)info->dli_fbase;
    module->path[0] = '\0';
    if (dladdr((void *)getauxval(AT_PHDR), &program) != 0 && program.dli_fbase == info->dli_fbase)
        snprintf(module->path, sizeof module->path, "/proc/%ld/exe", (long)getpid());
}

/* Runs `addr2line -C -f -i -e file address`: it prints two lines, name and file:line, for the
 * function and for each function that it was inlined into. "??" means unknown. The text is empty if
 * the tool is not installed. */
static void ask_addr2line(const char *file, uintptr_t offset, char *text, size_t size)
{
    char address[32];
    int ends[2];
    text[0] = '\0';
    snprintf(address, sizeof address, "0x%zx", (size_t)offset);
    if (pipe(ends) != 0) return;
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        close(STDERR_FILENO);
        unsetenv("LD_PRELOAD"); /* it may name a sanitizer */
        execlp("addr2line", "addr2line", "-C", "-f", "-i", "-e", file, address, (char *)NULL);
        _exit(1);
    }
    close(ends[1]);
    size_t used = 0;
    ssize_t got = 1;
    while (child > 0 && got > 0 && used < size - 1) {
        got = read(ends[0], text + used, size - 1 - used);
        if (got > 0) used += (size_t)got;
    }
    text[used] = '\0';
    close(ends[0]);
    if (child > 0) waitpid(child, NULL, 0);
}

/* The functions of a return address, innermost first: several if calls were inlined. */
struct call_site {
    void *address;
    struct module module;
    char text[TEXT_SIZE];
    unsigned count;
    struct {
        const char *function, *line; /* line NULL: unknown */
    } calls[MAX_INLINED];
    struct call_site *next;
};

static bool is_line(const char *line)
{
    size_t length = strlen(line);
    return line[0] != '?' && line[0] != ':' && (length < 2 || strcmp(line + length - 2, ":?") != 0);
}

/* Is a function's name without a line that of the function? Of a file without symbols, addr2line
 * names the nearest one that is exported; and names in NVIDIA's static runtime are made up. */
static bool is_trusted(const char *function, const char *path, const Dl_info *info)
{
    struct elf file;
    size_t size;
    if (strncmp(function, "libcudart_static_", strlen("libcudart_static_")) == 0) return false;
    if (info->dli_sname != NULL || elf_open(path, &file) != RUNTIME_NONE) return true;
    bool has_symbols = elf_section(&file, ".symtab", &size) != NULL;
    elf_close(&file);
    return has_symbols;
}

static void look_up(struct call_site *known)
{
    const char *address = (const char *)known->address - 1; /* inside of the call instruction */
    Dl_info info;
    known->module = (struct module){.name = "??", .offset = (uintptr_t)address};
    if (dladdr(address, &info) == 0 || info.dli_fname == NULL) return;
    find_module(address, &info, &known->module);
    const char *path = known->module.path[0] != '\0' ? known->module.path : info.dli_fname;
    ask_addr2line(path, known->module.offset, known->text, sizeof known->text);
    char *rest, *function = strtok_r(known->text, "\n", &rest), *line;
    for (; function != NULL && known->count < MAX_INLINED; function = strtok_r(NULL, "\n", &rest)) {
        line = strtok_r(NULL, "\n", &rest);
        if (line == NULL || function[0] == '?') break;
        line[strcspn(line, " ")] = '\0'; /* cut off "(discriminator 2)" */
        known->calls[known->count].function = function;
        known->calls[known->count++].line = is_line(line) ? line : NULL;
    }
    if (known->count == 0 && info.dli_sname != NULL)
        known->calls[known->count++].function = info.dli_sname;
    if (known->count > 0 && known->calls[0].line == NULL &&
        !is_trusted(known->calls[0].function, path, &info))
        known->count = 0;
}

/* Results are kept, because all lanes of a warp ask for the same address. */
static struct call_site *all_known;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static const struct call_site *know(void *address)
{
    pthread_mutex_lock(&mutex);
    struct call_site *known = all_known;
    while (known != NULL && known->address != address) known = known->next;
    if (known == NULL) {
        known = allocated(calloc(1, sizeof *known));
        known->address = address;
        look_up(known);
        known->next = all_known;
        all_known = known;
    }
    pthread_mutex_unlock(&mutex);
    return known;
}

/* Between the library and the program's own code there are functions of NVIDIA's headers, and a
 * kernel's stub. The stub is called by a function with the kernel's name, which is skipped, too. */
enum layer { PROGRAM, STUB, HEADER };

static enum layer layer_of(const char *function, const char *line)
{
    if (strncmp(function, "__device_stub_", 14) == 0) return STUB;
    if (strncmp(function, "__cudaLaunchKernel", 18) == 0 ||
        strncmp(function, "cudaError cuda", 14) == 0 ||
        (line != NULL && strstr(line, "/include/cuda_runtime.h:") != NULL))
        return HEADER;
    return PROGRAM;
}

void cudart_describe_place(const struct emu_host_place *place, char *text, size_t size)
{
    bool behind_stub = false;
    size_t used = 0;
    text[0] = '\0';
    for (unsigned i = 0; i < place->count; i++) {
        const struct call_site *known = know(place->frames[i]);
        if (known == NULL || strncmp(known->module.name, "libc.", 5) == 0) return; /* calls main */
        for (unsigned k = 0; k < known->count || (k == 0 && known->count == 0); k++) {
            const char *function = known->count > 0 ? known->calls[k].function : "";
            const char *line = known->count > 0 ? known->calls[k].line : NULL;
            enum layer layer = layer_of(function, line);
            bool skip = layer != PROGRAM || behind_stub;
            behind_stub = layer == STUB;
            if (skip || used >= size) continue;
            used += (size_t)snprintf(text + used, size - used, "%s%s%s%s%s[0x%zx] in %s",
                                     used > 0 ? "\n" : "", function, line != NULL ? " in " : "",
                                     line != NULL ? line : "", *function ? " " : "",
                                     known->module.offset, known->module.name);
            if (strcmp(function, "main") == 0) return;
        }
    }
}

void cudart_function_name(char *name, size_t size)
{
    void *frames[MAX_DEPTH];
    int own;
    walk(frames, &own);
    Dl_info info;
    const char *found = NULL;
    if (own > 0 && dladdr((char *)frames[own - 1] - 1, &info) != 0) found = info.dli_sname;
    if (own > 0 && (found == NULL || __start_emu_text != NULL)) {
        const struct call_site *known = know(frames[own - 1]);
        found = known != NULL && known->count > 0 ? known->calls[known->count - 1].function : NULL;
    }
    if (found == NULL) found = "a CUDA function";
    while (*found == '_') found++; /* __cudaLaunchKernel */
    snprintf(name, size, "%s", found);
    char *suffix = strstr(name, "_pt"); /* _ptsz, _ptds */
    if (suffix != NULL) *suffix = '\0';
}

/* ---- features that are not supported --------------------------------------------------------- */

/* Where the program is, as " (called by main in my.cu:3)", or by a file in which it has no name;
 * empty if that is not known. */
static void describe_caller(char *text, size_t size)
{
    struct emu_host_place place;
    char where[512];
    text[0] = '\0';
    cudart_place(&place);
    cudart_describe_place(&place, where, sizeof where);
    where[strcspn(where, "\n")] = '\0';
    char *file = strstr(where, "] in "), *end = strstr(where, " [0x"); /* the address */
    if (file == NULL) return;
    if (end != NULL) *end = '\0';
    snprintf(text, size, " (called by %s)", end != NULL ? where : file + strlen("] in "));
}

/* Has this been said before? If not, notes it. */
static bool is_told(const char *feature)
{
    enum { MOST = 64 };
    static char told[MOST][80];
    static size_t count;
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    bool found = false;
    pthread_mutex_lock(&mutex);
    for (size_t i = 0; i < count && !found; i++)
        found = strncmp(told[i], feature, sizeof told[i] - 1) == 0;
    if (!found && count < MOST) snprintf(told[count++], sizeof told[0], "%s", feature);
    pthread_mutex_unlock(&mutex);
    return found;
}

cudaError_t cudart_not_supported(const char *feature, const char *why)
{
    char caller[600];
    if (is_told(feature)) return cudaErrorNotSupported;
    describe_caller(caller, sizeof caller);
    cudart_printf("%s is not supported%s: %s", feature, caller, why);
    return cudaErrorNotSupported;
}
