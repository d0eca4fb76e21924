/* nvcc.c — `emu make`: finds nvcc, and changes the words of nvcc and of linkers. */
#define _GNU_SOURCE /* popen, memfd_create, O_CLOEXEC */
#include "command.h"
#include "common/files/visible.h"
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- saying each change once ----------------------------------------------------------------- */

/* Adds a line to the file in memory, if it is not yet there. Several tools may do so at a time.
 * False: there is no such file, for example because the command emu has ended. */
static bool add_line(const char *path, const char *sentence)
{
    char line[2 * PATH_MAX];
    bool is_said = false;
    int file = open(path, O_RDWR | O_APPEND | O_CLOEXEC);
    FILE *said = file >= 0 ? fdopen(file, "r+") : NULL;
    if (said == NULL) return false;
    flock(file, LOCK_EX);
    while (fgets(line, sizeof line, said) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        is_said = is_said || strcmp(line, sentence) == 0;
    }
    if (!is_said) {
        fseek(said, 0, SEEK_END);
        fprintf(said, "%s\n", sentence);
    }
    fclose(said);
    return true;
}

/* Says a sentence on stderr: once for all tools below a command, when the command has ended. */
__attribute__((format(printf, 1, 2))) static void say_change(const char *format, ...)
{
    char sentence[2 * PATH_MAX];
    const char *file = getenv(settings[SETTING_CHANGES].variable);
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    if (file == NULL || !add_line(file, sentence)) emu_note("%s", sentence);
}

/* ---- finds nvcc, and what its toolkit lacks -------------------------------------------------- */

/* Stores `folder`/`rest` if it is a program. A folder of NULL or "" has none. */
static bool try_folder(const char *folder, const char *rest, char path[PATH_MAX])
{
    if (folder == NULL || *folder == '\0') return false;
    int length = snprintf(path, PATH_MAX, "%s/%s", folder, rest);
    return length < PATH_MAX && access(path, X_OK) == 0;
}

/* Where `make setup` puts CUDA: build/cuda, if this command is build/emu/emu. */
static bool in_build(char path[PATH_MAX])
{
    char own[PATH_MAX];
    emu_own_folder(own);
    return try_folder(own, "../cuda/bin/nvcc", path);
}

/* Among the packages of the python3 in PATH. Python itself knows where they are: in a virtual
 * environment, in the user's home, or beside Python. */
static bool in_python(char path[PATH_MAX])
{
    FILE *python = popen("python3 -c '\n"
                         "import os, sys\n"
                         "for folder in filter(None, sys.path):\n"
                         "    for package in \"cu13\", \"cuda_nvcc\":\n"
                         "        print(os.path.join(folder, \"nvidia\", package))\n"
                         "' 2>/dev/null",
                         "r");
    char line[PATH_MAX];
    bool found = false;
    if (python == NULL) return false;
    while (fgets(line, sizeof line, python) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        found = found || try_folder(line, "bin/nvcc", path);
    }
    pclose(python);
    return found;
}

/* Beside the Python package that this command is a part of, SITE/upsweep/bin/emu: that of its extra
 * nvcc. Who installs it wants no other one, whatever a machine's set-up has put into CUDA_HOME. */
static bool beside_package(char path[PATH_MAX])
{
    char folder[PATH_MAX];
    emu_own_folder(folder);
    for (int up = 0; up < 2; up++)
        if (strrchr(folder, '/') != NULL) *strrchr(folder, '/') = '\0';
    return try_folder(folder, "nvidia/cu13/bin/nvcc", path);
}

bool nvcc_find(char path[PATH_MAX])
{
    return beside_package(path) || try_folder(getenv("CUDA_HOME"), "bin/nvcc", path) ||
           program_path("nvcc", path) || try_folder("/usr/local/cuda", "bin/nvcc", path) ||
           in_build(path) || in_python(path);
}

/* Is it the nvcc that pip installs with CUDA 13's package nvidia-cuda-nvcc? */
static bool is_pips(const char *path)
{
    static const char end[] = "/nvidia/cu13/bin/nvcc";
    size_t length = strlen(path);
    return length >= strlen(end) && strcmp(path + length - strlen(end), end) == 0;
}

size_t nvcc_pip_folders(const char *nvcc, char **words)
{
    static char own[PATH_MAX + 16], emulators[PATH_MAX + 8];
    char library[PATH_MAX];
    if (!is_pips(nvcc)) return 0;
    snprintf(own, sizeof own, "-L%.*s/lib", (int)(strlen(nvcc) - strlen("/bin/nvcc")), nvcc);
    emu_library_folder(library);
    snprintf(emulators, sizeof emulators, "-L%s", library);
    words[0] = own;
    words[1] = emulators;
    return 2;
}

void nvcc_offer(void)
{
    char path[PATH_MAX];
    const char *others = getenv("PATH") != NULL ? getenv("PATH") : "/usr/bin:/bin";
    bool first = beside_package(path);
    if (!first && (program_path("nvcc", path) || !nvcc_find(path))) return;
    *strrchr(path, '/') = '\0';
    char *list = emu_text("%s:%s", first ? path : others, first ? others : path);
    emu_set("PATH", list);
    free(list);
    *strrchr(path, '/') = '\0';
    if (getenv("CUDA_HOME") == NULL) emu_set("CUDA_HOME", path);
    if (getenv("CUDA_PATH") == NULL) emu_set("CUDA_PATH", path);
}

size_t nvcc_stand_ins(const char *nvcc, char **words)
{
    static const char *const headers[] = {"cublas_v2.h", "curand.h"};
    char folder[PATH_MAX];
    int has = 0, top = (int)(strlen(nvcc) - strlen("/bin/nvcc"));
    for (int i = 0; i < 2 && top > 0; i++) {
        char *header = emu_text("%.*s/include/%s", top, nvcc, headers[i]);
        has += access(header, R_OK) == 0;
        free(header);
    }
    if (has == 2) return 0;
    emu_library_folder(folder);
    words[0] = "-isystem";
    words[1] = emu_text("%s/libraries/include", folder);
    words[2] = emu_text("-L%s/libraries/lib", folder);
    return NVCC_STAND_INS;
}

/* ---- replaces architectures that this nvcc no longer knows, and asks for PTX ----------------- */

enum { MOST = 100 };

static unsigned known[MOST];
static size_t count;

/* Asks nvcc, once. An nvcc that does not answer leaves the list empty. */
static void read_known(const char *nvcc)
{
    static bool is_read;
    if (is_read) return;
    is_read = true;
    emu_set("EMU_NVCC", nvcc);
    FILE *list = popen("unset EMU_CHANGER; \"$EMU_NVCC\" --list-gpu-arch 2>/dev/null", "r");
    if (list == NULL) return;
    while (count < MOST && fscanf(list, " compute_%u", &known[count]) == 1) count++;
    pclose(list);
    unsetenv("EMU_NVCC");
}

/* The architecture itself, or the next one that nvcc knows; 0: it knows no later one. */
static unsigned next_known(unsigned architecture)
{
    unsigned next = 0;
    for (size_t i = 0; i < count; i++)
        if (known[i] >= architecture && (next == 0 || known[i] < next)) next = known[i];
    return next;
}

/* What the value of an option is. */
enum option_value { ARCH, CODE, GENCODE, CUDART, FILES, OTHER_TOOLS, NO_VALUE };

/* The length of a name's part before its number, such as "sm_"; 0: no name begins there. */
static size_t prefix_at(const char *text, const char *at)
{
    static const char *const prefixes[] = {"sm_", "compute_", "lto_"};
    if (at > text && (isalnum((unsigned char)at[-1]) || at[-1] == '_')) return 0;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        size_t length = strlen(prefixes[i]);
        if (strncmp(at, prefixes[i], length) == 0 && isdigit((unsigned char)at[length]))
            return length;
    }
    return 0;
}

/* What the options name that the emulated GPU could run, the newest of each; 0: nothing. */
static struct {
    unsigned arch, ptx;
    char suffix;             /* of arch, such as the a of compute_90a; '\0': none */
    bool has_arch, has_code; /* the options -arch and -code: the first alone leaves PTX */
} named;

/* The emulated GPU's compute capability. */
static unsigned newest(void)
{
    const char *key = getenv(settings[SETTING_GPU].variable);
    const struct emu_gpu *gpu = key != NULL ? emu_gpu_find(key) : emu_gpu_at(0);
    return gpu != NULL ? (unsigned)(10 * gpu->major + gpu->minor) : 0;
}

/* A name with a suffix is taken only for the emulated GPU itself. */
static void note_name(unsigned number, char suffix, bool is_arch, bool is_ptx)
{
    bool has_suffix = suffix == 'a' || suffix == 'f';
    if (number > newest() || (has_suffix && number != newest())) return;
    if (is_ptx && number > named.ptx) named.ptx = number;
    if (!is_arch || number < named.arch) return;
    named.arch = number;
    if (has_suffix) named.suffix = suffix;
}

/* Writes the number at `at` as nvcc knows it. Returns the end of the number, and stores what was
 * written. A name with a letter behind the number, such as sm_90a, has no successor and stays. */
static const char *put_number(FILE *out, const char *at, unsigned *number)
{
    char *end;
    unsigned long old = strtoul(at, &end, 10);
    unsigned next = old < 10000 ? next_known((unsigned)old) : 0;
    *number = (unsigned)old;
    if (next == 0 || next == old || isalnum((unsigned char)*end) || *end == '_') {
        fwrite(at, 1, (size_t)(end - at), out);
        return end;
    }
    *number = next;
    say_change("nvcc gets architecture %u (sm_%u, compute_%u) in place of %lu, which this"
                   " toolkit no longer knows",
                   next, next, next, old);
    fprintf(out, "%u", next);
    return end;
}

/* A copy of an option's value, to be freed, in which each architecture that this nvcc no longer
 * knows has become the next one that it knows. Each change is said once. */
static char *architectures_known(const char *nvcc, const char *text, enum option_value by)
{
    char *changed;
    size_t size;
    FILE *out = allocated(open_memstream(&changed, &size));
    /* Their only PTX is for the newest GPU that nvcc knows; that of native is none. */
    bool is_all = by == ARCH && (strncmp(text, "all", 3) == 0 || strcmp(text, "native") == 0);
    if (is_all) note_name(newest(), '\0', true, false);
    named.has_code |= is_all || by == CODE;
    for (const char *at = text; *at != '\0';) {
        size_t prefix = prefix_at(text, at);
        if (prefix == 0) {
            fputc(*at++, out);
            continue;
        }
        unsigned number;
        const char *mark = at > text && at[-1] == '"' ? at - 1 : at;
        bool is_arch = by == ARCH || (mark - text >= 5 && strncmp(mark - 5, "arch=", 5) == 0),
             is_ptx = *at == 'c' && !is_arch;
        read_known(nvcc);
        fwrite(at, 1, prefix, out);
        at = put_number(out, at + prefix, &number);
        note_name(number, *at, is_arch, is_ptx);
        named.has_arch |= by == ARCH;
    }
    fclose(out);
    return changed;
}

/* What -gencode has to add, since these options would leave no PTX that the emulated GPU can run:
 * that of the newest architecture that they name. NULL: nothing. */
static const char *architectures_ptx(void)
{
    if (named.ptx != 0 || named.arch == 0 || (named.has_arch && !named.has_code)) return NULL;
    char *name = emu_text("compute_%u%.1s", named.arch, &named.suffix);
    say_change("nvcc gets -gencode arch=%s,code=%s, since PTX is what the emulator runs", name,
                   name);
    return emu_text("arch=%s,code=%s", name, name);
}

/* ---- the words of a command line, as nvcc.c changes them ------------------------------------- */

/* An option's value is in its own word, after "=", or in the next word. Files of options are read,
 * too: the tool gets a changed copy in memory in their place. */

/* A list of words that ends with NULL. */
struct word_list {
    char **at;
    size_t count;
};

/* Adds a word, which is not copied. */
static void words_add(struct word_list *words, const char *word)
{
    words->at = grown(words->at, words->count + 1, sizeof *words->at);
    words->at[words->count++] = (char *)word;
    words->at[words->count] = NULL;
}

/* Does a word end so? */
static bool word_ends(const char *word, const char *end)
{
    size_t length = strlen(word), tail = strlen(end);
    return length >= tail && strcmp(word + length - tail, end) == 0;
}

/* ---- one word -------------------------------------------------------------------------------- */

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
    if (value <= GENCODE) return architectures_known(change->nvcc, text, value);
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

static char *change_linkers_word(struct change *change, const char *word)
{
    if (word[0] == '@') {
        char *name = change_files(change, word + 1), *whole = emu_text("@%s", name);
        free(name);
        return whole;
    }
    if (strcmp(word, "-lcudart_static") != 0 && !word_ends(word, "libcudart_static.a"))
        return emu_text("%s", word);
    say_change("the linker gets -lcudart in place of NVIDIA's static runtime, so that the"
                   " emulator can take its place");
    return emu_text("-lcudart");
}

static char *change_word(struct change *change, const char *word)
{
    return (change->nvcc != NULL ? change_nvccs_word : change_linkers_word)(change, word);
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
    FILE *out = allocated(open_memstream(&changed, &size));
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
    fclose(out);
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

/* The name of a changed copy, or that of a file which cannot be read. */
static char *change_file(const struct change *change, const char *path)
{
    char *text = read_text(path);
    if (text == NULL) return emu_text("%s", path);
    char *changed = change_text((struct change){change->nvcc, NO_VALUE}, text),
         *name = name_in_memory(changed);
    free(text);
    free(changed);
    return name;
}

/* Does so with several names, with commas between. */
static char *change_files(const struct change *change, const char *names)
{
    char *changed;
    size_t size;
    FILE *out = allocated(open_memstream(&changed, &size));
    for (size_t length; *names != '\0'; names += length) {
        length = strcspn(names, ",");
        char *path = emu_text("%.*s", (int)length, names), *name = change_file(change, path);
        fputs(name, out);
        if (names[length] == ',') fputc(names[length++], out);
        free(name);
        free(path);
    }
    fclose(out);
    return changed;
}

static void add_changed(struct word_list *words, const char *nvcc, char *const *own)
{
    struct change change = {nvcc, NO_VALUE};
    for (; *own != NULL; own++) words_add(words, change_word(&change, *own));
}

/* ---- changes the words of nvcc and of linkers below `emu make` ------------------------------- */

/* The dynamic linker starts this part of emu in place of each nvcc and each linker below a command
 * (audit.c). It becomes that program, which then runs in the same process: signals and exit
 * codes are its own, and nothing is left to remove. */

/* ---- nvcc ------------------------------------------------------------------------------------ */

/* Does nvcc compile or link anything? Otherwise it prints its version, for example. What a file of
 * options or -x stands for has any name. */
static bool has_input(char *const *own)
{
    static const char *const inputs[] = {".cu", ".cpp", ".cc", ".cxx", ".c",
                                         ".C",  ".o",   ".a",  ".so",  ".obj"};
    static const char *const options[] = {"-x", "--x", "-optf", "--options-file"};
    for (; *own != NULL; own++) {
        size_t length = strcspn(*own, "=");
        for (size_t i = 0; i < sizeof options / sizeof *options; i++)
            if (strlen(options[i]) == length && strncmp(*own, options[i], length) == 0) return true;
        for (size_t i = 0; **own != '-' && i < sizeof inputs / sizeof *inputs; i++)
            if (word_ends(*own, inputs[i])) return true;
    }
    return false;
}

/* Does nvcc link no shared runtime? Of a second -cudart it would warn, and a program that is linked
 * statically with the C library cannot have it. */
static bool has_no_shared(char *const *own)
{
    for (; *own != NULL; own++)
        if (word_ends(*own, "-cudart=none") || word_ends(*own, "-static") ||
            (own[1] != NULL && word_ends(*own, "-cudart") && strcmp(own[1], "none") == 0))
            return true;
    return false;
}

static void add_runtime(struct word_list *words)
{
    words_add(words, "-cudart");
    words_add(words, "shared");
    say_change("nvcc gets -cudart shared, so that the emulator can take the place of NVIDIA's"
                   " runtime");
}

/* Words before nvcc's own: later ones win. What is in nvcc's own variables is changed, too. */
static void add_nvccs(struct word_list *words, const char *nvcc, char *const *own,
                      const char *folder)
{
    static const char *const variables[] = {"NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS"};
    char *header = emu_text("%s/removed.h", folder), *pips[2], *stand_ins[NVCC_STAND_INS];
    if (has_input(own)) {
        if (!has_no_shared(own)) add_runtime(words);
        words_add(words, "-include");
        words_add(words, header);
        for (size_t i = 0, count = nvcc_pip_folders(nvcc, pips); i < count; i++)
            words_add(words, pips[i]);
        size_t count = nvcc_stand_ins(nvcc, stand_ins);
        for (size_t i = 0; i < count; i++) words_add(words, stand_ins[i]);
        if (count > 0)
            say_change("nvcc gets -isystem and -L with folders of %s/libraries, where it finds"
                           " the emulator's cuBLAS and cuRAND",
                           folder);
        say_change("nvcc gets -include %s, which brings back what CUDA 12 and 13 removed from"
                       " the runtime API",
                       header);
    }
    for (int i = 0; i < 2; i++)
        if (getenv(variables[i]) != NULL)
            emu_set(variables[i],
                    change_text((struct change){nvcc, NO_VALUE}, getenv(variables[i])));
    add_changed(words, nvcc, own);
    bool has_room = has_input(own); /* for PTX: a cubin has none */
    for (; *own != NULL; own++) has_room &= !word_ends(*own, "-cubin");
    const char *ptx = has_room ? architectures_ptx() : NULL;
    if (ptx != NULL) words_add(words, "-gencode"), words_add(words, ptx);
}

/* ---- linkers --------------------------------------------------------------------------------- */

/* The emulator's folder comes after all others, for toolkits without libcudart.so. A program
 * without any shared library stays so. */
static void add_linkers(struct word_list *words, char *const *own, const char *folder)
{
    bool is_static = false;
    for (size_t i = 0; own[i] != NULL; i++) is_static |= strcmp(own[i], "-static") == 0;
    for (; is_static && *own != NULL; own++) words_add(words, *own);
    if (is_static) return;
    add_changed(words, NULL, own);
    words_add(words, emu_text("-L%s", folder));
    words_add(words, emu_text("-L%s/libraries/lib", folder));
}

/* ---- the tool -------------------------------------------------------------------------------- */

void emu_start_tool(char **own)
{
    char *path = own[0], folder[PATH_MAX];
    struct word_list words = {0};
    emu_library_folder(folder);
    words_add(&words, own[1]);
    if (word_ends(path, "nvcc"))
        add_nvccs(&words, path, own + 2, folder);
    else
        add_linkers(&words, own + 2, folder);
    emu_set(settings[SETTING_CHANGED].variable, emu_text("%ld", (long)getpid()));
    execv(path, words.at);
    emu_refuse("cannot run %s: %s", path, strerror(errno));
}
