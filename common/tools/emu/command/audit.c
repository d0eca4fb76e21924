/* audit.c — what the dynamic linker tells of programs, and programs that it does not see. */
#define _GNU_SOURCE
#include "common/tools/emu/ptx/binary.h"
#include "common/files/visible.h"
#include <errno.h>
#include <link.h>
#include <spawn.h>
#include <stdarg.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

/* ---- what the sections share ----------------------------------------------------------------- */

/* Prints a sentence on stderr, behind "emu: ". */
static void audit_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A path's last part. */
static const char *audit_last_part(const char *path);

/* The command emu, which has started the program by way of another one, need not say that
 * there was none. */
static void audit_tell_of_refusal(void);

/* ---- programs without a dynamic linker ------------------------------------------------------- */

/* Programs that are started without a dynamic linker cannot load this library.
 *
 * Calls that start a program, of the programs that the command emu runs, go through the functions
 * of this file. They look at the file, and say so if it has CUDA code and is linked statically with
 * the C library. The program is started in any case.
 *
 * Not noticed: a program that is started by one that is itself linked statically, by the functions
 * execl*, or from inside of the C library. */

/* Is it a program that is started without the dynamic linker? */
static bool is_static(const char *path)
{
    struct elf elf;
    size_t size;
    if (elf_open(path, &elf) != RUNTIME_NONE) return false;
    bool has_linker = elf_section(&elf, ".interp", &size) != NULL;
    elf_close(&elf);
    return !has_linker;
}

static void look_at(const char *path)
{
    if (!is_static(path) || elf_runtime(path) != RUNTIME_NVIDIA) return;
    audit_say("%s is linked statically with the C library and has NVIDIA's runtime linked into it: "
              "it runs without the emulator, and needs a GPU; relink it without -static, with nvcc "
              "-cudart shared",
              path);
    audit_tell_of_refusal();
}

/* Looks at the file of a name without a slash in the folders of PATH. */
static void look_for(const char *name)
{
    char path[PATH_MAX];
    if (strchr(name, '/') != NULL)
        look_at(name);
    else if (program_path(name, path))
        look_at(path);
}

/* ---- the functions, with those whose place they take ----------------------------------------- */

/* Looks at the program that is started, and starts it. */
#define STARTS(function, look, program, parameters, ...)                                           \
    static __typeof__(&function) real_##function;                                                  \
    static int start_##function parameters                                                         \
    {                                                                                              \
        look(program);                                                                             \
        return real_##function(__VA_ARGS__);                                                       \
    }
#define PROGRAM const char *path, char *const *words
#define SPAWNED                                                                                    \
    pid_t *process, const char *path, const posix_spawn_file_actions_t *actions,                   \
        const posix_spawnattr_t *attributes, char *const *words, char *const *environment

STARTS(execv, look_at, path, (PROGRAM), path, words)
STARTS(execvp, look_for, path, (PROGRAM), path, words)
STARTS(execve, look_at, path, (PROGRAM, char *const *environment), path, words, environment)
STARTS(execvpe, look_for, path, (PROGRAM, char *const *environment), path, words, environment)
STARTS(posix_spawn, look_at, path, (SPAWNED), process, path, actions, attributes, words,
       environment)
STARTS(posix_spawnp, look_for, path, (SPAWNED), process, path, actions, attributes, words,
       environment)

/* The function to be called in place of this one of the C library, which is at `real`. It
 * is `real` itself, except for functions that start programs. */
static uintptr_t start_replaced(const char *function, uintptr_t real)
{
#define REPLACED(name)                                                                             \
    if (strcmp(function, #name) == 0)                                                              \
        return real_##name = (__typeof__(real_##name))real, (uintptr_t)start_##name;
    REPLACED(execv)
    REPLACED(execvp)
    REPLACED(execve)
    REPLACED(execvpe)
    REPLACED(posix_spawn)
    REPLACED(posix_spawnp)
#undef REPLACED
    return real;
}

/* ---- nvcc and linkers ------------------------------------------------------------------------ */

/* Nvcc and linkers that a command starts below the command emu go through it,
 * because their words may have to be changed (nvcc.c). So it does not matter how a
 * makefile finds nvcc: by PATH, by CUDA_HOME or by a path of its own.
 *
 * Not noticed: an nvcc or a linker that is itself linked statically. */

/* Is it nvcc, or a linker such as ld, ld.gold or x86_64-linux-gnu-ld? */
static bool is_tool(const char *path)
{
    static const char *const linkers[] = {"ld", "ld.bfd", "ld.gold", "ld.lld", "ld.mold"};
    const char *name = audit_last_part(path);
    size_t length = strlen(name);
    if (strcmp(name, "nvcc") == 0) return true;
    for (size_t i = 0; i < sizeof linkers / sizeof *linkers; i++) {
        size_t end = strlen(linkers[i]);
        if (length < end || strcmp(name + length - end, linkers[i]) != 0) continue;
        if (length == end || name[length - end - 1] == '-') return true;
    }
    return false;
}

/* A script called nvcc or ld stays as it is: what it starts is looked at in its turn. */
static bool is_script(const char *path)
{
    char mark[2] = "";
    FILE *file = fopen(path, "r");
    if (file == NULL) return false;
    size_t read = fread(mark, 1, sizeof mark, file);
    fclose(file);
    return read == sizeof mark && memcmp(mark, "#!", sizeof mark) == 0;
}

/* glibc calls it before the program's own code runs. EMU_CHANGED is the process in which the
 * command emu has already been. */
__attribute__((constructor)) static void go_through_emu(int count, char **words)
{
    const char *emu = getenv("EMU_CHANGER"), *process = getenv("EMU_CHANGED"),
               *path = (const char *)getauxval(AT_EXECFN);
    if (emu == NULL || path == NULL || count < 1 || !is_tool(path)) return;
    if (is_script(path) || (process != NULL && atol(process) == (long)getpid())) return;
    char **all = calloc((size_t)count + 3, sizeof *all);
    if (all == NULL) return;
    all[0] = (char *)"emu-tool"; /* main.c */
    all[1] = (char *)path;
    memcpy(all + 2, words, (size_t)count * sizeof *words);
    execv(emu, all);
    audit_say("cannot run %s, so the words of %s are not changed: %s", emu, path, strerror(errno));
    free(all);
}

/* ---- what the dynamic linker tells ----------------------------------------------------------- */

/*
 * What the dynamic linker tells of a program that the command emu has started, and of
 * the programs that are started by it (man 7 rtld-audit). The command names this library in
 * LD_AUDIT.
 *
 * - A program that looks for NVIDIA's libcudart.so.13 gets the emulator's, even if an RPATH or a
 *   call of dlopen says where NVIDIA's is.
 * - A program that would run on NVIDIA's runtime, and so without the emulator, is ended with the
 *   sentence that the command emu says of it: without a GPU its results would be wrong.
 * - Functions that start a program go through those above.
 * - A library that needs a GPU is named: one that holds NVIDIA's runtime when one of its functions
 *   is first called, and one that loads CUDA's driver when it does so. The program goes on, since
 *   it may do without.
 *
 * The linker loads this library into a namespace of its own, with its own C library. It is never
 * built with sanitizers.
 */

enum { USAGE_ERROR = 2 }; /* as the command emu exits */

#define RUNTIME    "libcudart.so"
#define RUNTIME_13 "libcudart.so.13"

unsigned la_version(unsigned version) { return version < LAV_CURRENT ? version : LAV_CURRENT; }

/* ---- sentences ------------------------------------------------------------------------------- */

static void audit_say(const char *format, ...)
{
    char sentence[3 * PATH_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    fputs("emu: ", stderr);
    visible_print(stderr, sentence, strlen(sentence));
    fputc('\n', stderr);
}

static const char *audit_last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static void find_program(char path[PATH_MAX])
{
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
    path[length > 0 ? length : 0] = '\0';
}

/* The name of an object; that of the program is empty. */
static void name_object(const struct link_map *map, char name[PATH_MAX])
{
    if (map->l_name[0] == '\0')
        find_program(name);
    else
        snprintf(name, PATH_MAX, "%s", audit_last_part(map->l_name));
}

static bool is_library(const char *name, const char *library)
{
    size_t length = strlen(library);
    return strncmp(name, library, length) == 0 && (name[length] == '\0' || name[length] == '.');
}

static bool is_c_library(const struct link_map *map)
{
    return is_library(audit_last_part(map->l_name), "libc.so");
}

/* ---- what is loaded -------------------------------------------------------------------------- */

enum { MOST = 64 }; /* objects of which notes are kept */

struct objects {
    const struct link_map *maps[MOST];
    size_t count;
};
static struct objects with_runtime; /* that of NVIDIA */
static struct objects named;        /* because they need a GPU: each is named once */

static bool has(const struct objects *o, const struct link_map *map)
{
    for (size_t i = 0; i < o->count; i++)
        if (o->maps[i] == map) return true;
    return false;
}

/* False: it has been added before, or there are too many. */
static bool add(struct objects *o, const struct link_map *map)
{
    if (o->count == MOST || has(o, map)) return false;
    o->maps[o->count++] = map;
    return true;
}

static void audit_tell_of_refusal(void)
{
    const char *seen = getenv("EMU_SEEN");
    FILE *file = seen != NULL ? fopen(seen, "a") : NULL;
    if (file == NULL) return;
    fputc('0', file);
    fclose(file);
}

static bool is_linked_with_ours; /* the program, statically: its driver API is in it, too */

static void judge_program(void)
{
    char path[PATH_MAX];
    find_program(path);
    enum runtime runtime = elf_runtime(path);
    is_linked_with_ours = runtime == RUNTIME_OURS;
    const char *why = elf_refusal(runtime);
    if (why == NULL) return;
    audit_say("%s %s", path, why);
    audit_tell_of_refusal();
    _exit(USAGE_ERROR);
}

static void tell_of_library(const struct link_map *map)
{
    char program[PATH_MAX];
    if (!has(&with_runtime, map) || !add(&named, map)) return;
    find_program(program);
    audit_say(
        "%s, which %s calls, has NVIDIA's runtime linked into it, and that needs a GPU: its calls "
        "fail on the emulator, which runs kernels of programs that use libcudart.so.13; do without "
        "this library, or run on a GPU",
        audit_last_part(map->l_name), program);
}

/* The flags that it returns ask for news of functions when they are first called: those of the C
 * library, and those of libraries that need a GPU. Further calls cost nothing. */
unsigned la_objopen(struct link_map *map, Lmid_t namespace, uintptr_t *cookie)
{
    *cookie = (uintptr_t)map;
    if (namespace != LM_ID_BASE) return 0;
    if (is_c_library(map)) return LA_FLG_BINDTO | LA_FLG_BINDFROM;
    if (map->l_name[0] == '\0') judge_program();
    /* linux-vdso.so.1 is no file */
    bool has_runtime =
        strchr(map->l_name, '/') != NULL && elf_runtime(map->l_name) == RUNTIME_NVIDIA;
    if (has_runtime) add(&with_runtime, map);
    return has_runtime ? LA_FLG_BINDTO | LA_FLG_BINDFROM : LA_FLG_BINDFROM;
}

/* Another object may get the same map. */
unsigned la_objclose(uintptr_t *cookie)
{
    for (size_t i = 0; i < with_runtime.count; i++)
        if ((uintptr_t)with_runtime.maps[i] == *cookie)
            with_runtime.maps[i] = with_runtime.maps[--with_runtime.count];
    return 0;
}

/* ---- what is looked for ---------------------------------------------------------------------- */

/* The name of NVIDIA's driver or of a part of it; NULL: it is none. */
static const char *driver_name(const char *name)
{
    static const char *const drivers[] = {"libcuda.so", "libnvidia-ml.so", "libnvcuvid.so"};
    for (size_t i = 0; i < sizeof drivers / sizeof *drivers; i++)
        if (is_library(name, drivers[i])) return drivers[i];
    return NULL;
}

static void tell_of_driver(const struct link_map *by, const char *name)
{
    char object[PATH_MAX];
    if (!add(&named, by)) return;
    name_object(by, object);
    audit_say(
        "%s loads %s, a part of CUDA's driver, which needs a GPU: what it does with that fails on "
        "the emulator, which takes the place of libcudart.so.13, and of libcuda.so except for "
        "NVIDIA's own runtime",
        object, name);
}

static void tell_of_version(const struct link_map *by, const char *name)
{
    char object[PATH_MAX];
    name_object(by, object);
    audit_say("%s loads %s, and the emulator takes the place of " RUNTIME_13
              " alone; build it with CUDA "
              "13",
              object, name);
}

/* The path of the emulator's library that takes the place of another one of NVIDIA's (libs/);
 * NULL: the emulator has no such library. That of the driver only has its names: a second driver
 * API would have devices of its own. */
static char *find_stand_in(const char *name, const char *ours)
{
    static char path[PATH_MAX];
    bool is_driver = is_linked_with_ours && is_library(name, "libcuda.so");
    if (is_driver) name = "libcuda.so";
    if (ours == NULL ||
        (!is_library(name, "libcublas.so") && !is_library(name, "libcurand.so") && !is_driver))
        return NULL;
    int folder = (int)(audit_last_part(ours) - ours);
    int length = snprintf(path, sizeof path, "%.*slibraries/lib/%s", folder, ours, name);
    return length < (int)sizeof path && access(path, R_OK) == 0 ? path : NULL;
}

/* Does the emulator's runtime take the place of this library? It is the driver, too, but NVIDIA's
 * runtime asks a driver for more than is documented. */
static bool is_ours(const char *name, const struct link_map *by)
{
    if (strcmp(name, RUNTIME) == 0 || strcmp(name, RUNTIME_13) == 0) return true;
    return is_library(name, "libcuda.so") && !has(&with_runtime, by) && !is_linked_with_ours;
}

char *la_objsearch(const char *path, uintptr_t *cookie, unsigned how)
{
    const char *name = audit_last_part(path), *ours = getenv("EMU_LIBRARY");
    const struct link_map *by = (const struct link_map *)*cookie;
    if (how != LA_SER_ORIG) return (char *)path;
    if (ours != NULL && is_ours(name, by)) return (char *)ours;
    char *stand_in = find_stand_in(name, ours);
    if (stand_in != NULL) return stand_in;
    if (driver_name(name) != NULL)
        tell_of_driver(by, name);
    else if (is_library(name, RUNTIME))
        tell_of_version(by, name);
    return (char *)path;
}

/* ---- functions ------------------------------------------------------------------------------- */

uintptr_t la_symbind64(Elf64_Sym *symbol, unsigned index, uintptr_t *by, uintptr_t *of,
                       unsigned *flags, const char *name)
{
    (void)index, (void)flags;
    const struct link_map *library = (const struct link_map *)*of;
    if (is_c_library(library)) return start_replaced(name, symbol->st_value);
    if (*by != *of) tell_of_library(library);
    return symbol->st_value;
}
