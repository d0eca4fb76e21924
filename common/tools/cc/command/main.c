/*
 * main.c — the command upcc, which compiles device code to PTX, or says what is wrong:
 *
 *     upcc FILE.cu [-o FILE.ptx] [-I FOLDER] [-D NAME=VALUE] [--instance NAME<…>] [--check]
 */
#define _GNU_SOURCE /* strdup */
#include "common/tools/cc/cc.h"
#include "common/files/option_table.h"
#include "common/files/visible.h"
#include "common/files/files.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- diagnostics ----------------------------------------------------------------------------- */

static const char *const RED = "\033[1;31m", *const YELLOW = "\033[1;33m", *const BOLD = "\033[1m",
                         *const PLAIN = "\033[0m";

static const char *find_line(const char *text, int line)
{
    if (text != NULL && strncmp(text, "\xEF\xBB\xBF", 3) == 0) text += 3; // a mark of UTF-8
    for (; line > 1 && text != NULL; line--) {
        text = strchr(text, '\n');
        if (text != NULL) text++;
    }
    return text;
}

/* The line, and below it a caret and as many ~ as what is wrong is long. Tabs stay tabs. */
static void print_line(FILE *to, const struct cc_diagnostic *d, const char *line)
{
    size_t length = strcspn(line, "\r\n"), before = (size_t)d->column - 1;
    fprintf(to, "%5d | ", d->line);
    for (size_t i = 0, part; i < length; i += part + (i + part < length)) {
        part = strcspn(line + i, "\t\r\n");
        visible_print(to, line + i, part);
        if (i + part < length) fputc('\t', to);
    }
    fprintf(to, "\n      | ");
    for (size_t i = 0; i < before && i < length; i++)
        if ((line[i] & 0xC0) != 0x80) fputc(line[i] == '\t' ? '\t' : ' ', to);
    fputc('^', to);
    for (size_t i = 1; i < (size_t)d->length && before + i < length; i++) fputc('~', to);
    fputc('\n', to);
}

/* "scan.cu:12:5: error: …", the line, a caret below it, and the hint. `text` is the file's, or
 * NULL. */
static void print_diagnostic(FILE *to, const struct cc_diagnostic *d, const char *text, bool colour)
{
    bool error = d->severity == CC_ERROR;
    visible_print(to, d->file, strlen(d->file));
    fprintf(to, ":%d:%d: %s%s:%s ", d->line, d->column,
            !colour ? ""
            : error ? RED
                    : YELLOW,
            error ? "error" : "warning", colour ? PLAIN : "");
    fputs(colour ? BOLD : "", to);
    visible_print(to, d->text, strlen(d->text));
    fputs(colour ? PLAIN : "", to);
    fputc('\n', to);
    const char *line = find_line(text, d->line);
    if (line != NULL) print_line(to, d, line);
    if (d->hint != NULL) {
        fputs("      = ", to);
        visible_print(to, d->hint, strlen(d->hint));
        fputc('\n', to);
    }
}

/* ---- the command line ------------------------------------------------------------------------ */

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
    bool check, help, version;
    struct file *files;
};

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
    char *text = malloc(LARGEST_FILE + 1);
    if (text == NULL) return NULL;
    size_t size = fread(text, 1, LARGEST_FILE, stream);
    text[size] = '\0'; /* of a text with zeros the compiler would see the beginning only */
    int error = size == LARGEST_FILE ? EFBIG : strlen(text) < size ? EILSEQ : 0;
    if (error == 0) return realloc(text, size + 1);
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
    const char *path = arguments->output;
    int error = result->ptx ? whole_file_write(path, result->ptx, strlen(result->ptx)) : 0;
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
    print_all(arguments, result);
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
