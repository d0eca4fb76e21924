/*
 * main.c — the command upcc: compiles the device code of a file to PTX, or says what is wrong.
 *
 *     upcc FILE.cu [-o FILE.ptx] [-I FOLDER] [-D NAME=VALUE] [--instance NAME<…>] [--check]
 */
#define _GNU_SOURCE /* strdup */
#include "common/cc/cc.h"
#include "common/command/option_table.h"
#include "common/files/whole_file.h"
#include "print.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COMPILED = 0, REFUSED = 1, MOST = 100, LARGEST_FILE = 16 << 20 };

/* Files are kept until the end, since the compiler and messages need their texts. */
struct file {
    char *path, *text;
    struct file *next;
};

struct list {
    const char *texts[MOST];
    size_t count;
};

struct arguments {
    struct list folders, defines, instances;
    const char *source, *output;
    bool check, json, help, version;
    struct file *files;
};

/* ---- the command line ------------------------------------------------------------------------ */

static int add(struct list *list, const char *value, struct fault *fault)
{
    if (list->count == MOST)
        return fail(fault, EXIT_USAGE, "\"%s\" is one option too many of its kind.", value);
    list->texts[list->count++] = value;
    return 0;
}

static int add_folder(void *to, const char *value, struct fault *fault)
{
    return add(&((struct arguments *)to)->folders, value, fault);
}

static int add_define(void *to, const char *value, struct fault *fault)
{
    return add(&((struct arguments *)to)->defines, value, fault);
}

static int add_instance(void *to, const char *value, struct fault *fault)
{
    return add(&((struct arguments *)to)->instances, value, fault);
}

static const struct option_row rows[] = {
    {"output", "FILE", "where to write PTX; default: standard output", NULL, NULL, 'o',
     offsetof(struct arguments, output)},
    {"include", "FOLDER", "look for headers there, too", add_folder, NULL, 'I', 0},
    {"define", "NAME=VALUE", "define a macro", add_define, NULL, 'D', 0},
    OPTION("instance", "NAME<...>", "compile this instance of a template, too", add_instance),
    OPTION_FLAG("check", "find errors, and write no PTX", struct arguments, check),
    OPTION_FLAG("json", "print errors, warnings and PTX as JSON", struct arguments, json),
    OPTION_FLAG("version", "print what it compiles to", struct arguments, version),
    OPTION_FLAG("help", "print this help", struct arguments, help),
};
static const struct option_table table = {rows, sizeof rows / sizeof *rows};

static int read_options(int count, char **argument, struct arguments *arguments,
                        struct fault *fault)
{
    struct command_line line = {.count = count, .arguments = argument, .at = 1};
    int code = option_take_all(table, &line, arguments, &arguments->source, 1, fault);
    if (code || arguments->source || arguments->help || arguments->version) return code;
    return fail(fault, EXIT_USAGE,
                "The name of a file is missing: upcc FILE.cu; --help says more.");
}

static int print_help(void)
{
    puts("upcc FILE.cu [options]: compile the device code of a file to PTX.\n"
         "It knows a subset of CUDA C, and refuses the rest by name. nvcc knows all of it, and\n"
         "compiles to faster code. The exit code is 0 if the file was compiled, 1 if there are\n"
         "errors in it, 2 if the command is wrong, and 3 if the machine failed.\n");
    option_print(table, 24, stdout);
    return 0;
}

/* ---- files ----------------------------------------------------------------------------------- */

static char *read_stream(FILE *stream)
{
    size_t size = 0, room = 1 << 16;
    char *text = malloc(room + 1);
    while (text != NULL) {
        size += fread(text + size, 1, room - size, stream);
        if (size < room || room >= LARGEST_FILE) break;
        char *larger = realloc(text, 2 * room + 1);
        if (larger == NULL) free(text);
        text = larger;
        room *= 2;
    }
    if (text == NULL) return NULL;
    text[size] = '\0'; /* of a text with zeros the compiler would see the beginning only */
    int error = size == LARGEST_FILE ? EFBIG : strlen(text) < size ? EILSEQ : 0;
    if (error == 0) return text;
    free(text);
    errno = error;
    return NULL;
}

/* The text of a file, which is read once; NULL, with errno: it cannot be read. */
static const char *text_of(struct arguments *arguments, const char *path)
{
    for (struct file *file = arguments->files; file != NULL; file = file->next)
        if (strcmp(file->path, path) == 0) return file->text;
    FILE *stream = fopen(path, "rb");
    if (stream == NULL) return NULL;
    struct file *file = calloc(1, sizeof *file);
    if (file != NULL) {
        *file = (struct file){strdup(path), read_stream(stream), arguments->files};
        bool failed = file->path == NULL || file->text == NULL || ferror(stream);
        if (!failed)
            arguments->files = file;
        else
            free(file->path), free(file->text), free(file), file = NULL;
    }
    fclose(stream);
    return file == NULL ? NULL : file->text;
}

static const char *find_header(void *context, const char *path)
{
    struct arguments *arguments = context;
    const char *text = text_of(arguments, path);
    for (size_t i = 0; i < arguments->folders.count && text == NULL; i++) {
        char place[4096];
        int length = snprintf(place, sizeof place, "%s/%s", arguments->folders.texts[i], path);
        if (length < (int)sizeof place) text = text_of(arguments, place);
    }
    return text;
}

static void free_files(struct arguments *arguments)
{
    while (arguments->files != NULL) {
        struct file *next = arguments->files->next;
        free(arguments->files->path);
        free(arguments->files->text);
        free(arguments->files);
        arguments->files = next;
    }
}

/* ---- the compilation ------------------------------------------------------------------------- */

static void print_all(struct arguments *arguments, const struct cc_result *result)
{
    const char *no_colour = getenv("NO_COLOR");
    bool colour = isatty(STDERR_FILENO) && (no_colour == NULL || *no_colour == '\0');
    for (size_t i = 0; i < result->count; i++) {
        const struct cc_diagnostic *d = &result->diagnostics[i];
        print_diagnostic(stderr, d, find_header(arguments, d->file), colour);
    }
}

static int write_output(const struct arguments *arguments, const struct cc_result *result,
                        struct fault *fault)
{
    const char *path = arguments->json ? NULL : arguments->output;
    if (arguments->json) print_json(stdout, result);
    int error = fflush(stdout) != 0 ? errno : 0;
    if (error == 0 && result->ptx != NULL && (!arguments->json || arguments->output != NULL)) {
        path = arguments->output;
        error = whole_file_write(path, result->ptx, strlen(result->ptx));
    }
    if (error == 0) return 0;
    return fail(fault, EXIT_USAGE, "\"%s\" cannot be written: %s.", path == NULL ? "stdout" : path,
                strerror(error));
}

static int compile(struct arguments *arguments, struct fault *fault)
{
    const char *text = text_of(arguments, arguments->source);
    if (text == NULL)
        return fail(fault, EXIT_USAGE, "\"%s\" cannot be read: %s.", arguments->source,
                    errno == EILSEQ ? "it holds zero bytes; save it as UTF-8" : strerror(errno));
    const struct cc_options options = {.header = find_header,
                                       .context = arguments,
                                       .defines = arguments->defines.texts,
                                       .define_count = arguments->defines.count,
                                       .instances = arguments->instances.texts,
                                       .instance_count = arguments->instances.count,
                                       .check_only = arguments->check};
    struct cc_result *result = cc_compile(arguments->source, text, &options);
    if (result == NULL) return fail(fault, EXIT_DEVICE, "There is not enough memory.");
    if (!arguments->json) print_all(arguments, result);
    int code = write_output(arguments, result, fault);
    if (code == 0) code = result->errors > 0 ? REFUSED : COMPILED;
    cc_free(result);
    return code;
}

int main(int count, char **argument)
{
    struct fault fault = {0};
    struct arguments arguments = {0};
    signal(SIGPIPE, SIG_DFL); /* a reader that has enough ends it silently */
    int code = read_options(count, argument, &arguments, &fault);
    if (code == 0 && arguments.help) return print_help();
    if (code == 0 && arguments.version)
        return puts("upcc: a subset of CUDA C to PTX 9.0 for sm_90"), 0;
    if (code == 0) code = compile(&arguments, &fault);
    free_files(&arguments);
    return code == 0 || fault.code == 0 ? code : fault_say(&fault);
}
