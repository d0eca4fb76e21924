#include "scan_verbs.h"

#include "common/harness/input/input.h"
#include "common/harness/print/print.h"
#include "common/step/element.h"
#include "common/step/options.h"
#include "result.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define VERB_PIECE ((size_t)1 << 20) /* elements written to the output at a time */

static int plan(const struct subject *s, struct input *input, struct fault *fault)
{
    (void)fault;
    *input = (struct input){.element = s->element, .n = s->options->n};
    return 0;
}

static int read_file(const struct subject *s, struct input *input, struct fault *fault)
{
    const struct options *o = s->options;
    int code = input_read(input, s->element, o->input, s->step->max_n, fault);
    if (code) return code;
    char where[PATH_MAX + 40];
    snprintf(where, sizeof where, "the length of %s", strcmp(o->input, "-") ? o->input : "stdin");
    code = options_check_n(s->step, input->n, where, fault);
    if (code) input_free(input);
    return code;
}

static int input(const struct subject *s, struct input *input, struct fault *fault)
{
    const struct options *o = s->options;
    if (o->input) return read_file(s, input, fault);
    return input_generate(input, s->element, o->n, o->real, o->seed, fault);
}

static struct needs needs(const struct subject *s, size_t n)
{
    const struct step *step = s->step;
    size_t size = element_size(element_of_sum(s->element));
    return (struct needs){.result = n * size,
                          .result_element = size,
                          .workspace =
                              step->workspace ? step->workspace(n, s->options->variant) : 0};
}

static cudaError_t launch(const struct subject *s, const struct call *c)
{
    return s->step->scan(c->out, c->in, c->n, s->options->variant, c->workspace, c->stream);
}

static int write_pieces(struct output *output, struct result *result, void *piece, size_t n,
                        size_t size, struct fault *fault)
{
    for (size_t start = 0; start < n; start += VERB_PIECE) {
        size_t count = n - start < VERB_PIECE ? n - start : VERB_PIECE;
        int code = result_read(result, start * size, piece, count * size, fault);
        if (code) {
            output_abandon(output);
            return code;
        }
        code = output_add(output, piece, count, fault);
        if (code) return code;
    }
    return output_end(output, fault);
}

static int write(const struct subject *s, const struct input *input, struct result *result,
                 struct fault *fault)
{
    enum element element = element_of_sum(s->element);
    size_t n = input->n, size = element_size(element);
    struct output output;
    int code = output_begin(&output, s->options->output, element, n, fault);
    if (code) return code;
    void *piece = allocated(malloc((n < VERB_PIECE ? n : VERB_PIECE) * size));
    code = write_pieces(&output, result, piece, n, size, fault);
    free(piece);
    return code;
}

/* Each element is read once and written once. */
static void describe(const struct subject *s, size_t n, struct description *d)
{
    size_t sum = element_size(element_of_sum(s->element));
    d->least_bytes = (double)n * (double)(element_size(s->element) + sum);
}

const struct verbs scan_verbs = {
    .plan = plan,
    .input = input,
    .needs = needs,
    .launch = launch,
    .write = write,
    .describe = describe,
    .sums = true,
};

void subject_open(struct subject *s, const struct step *step, const struct options *options)
{
    *s = (struct subject){.step = step,
                          .options = options,
                          .verbs = step->verbs ? step->verbs : &scan_verbs,
                          .element = step->element};
    if (s->verbs->open) s->self = allocated(s->verbs->open());
}

void subject_close(struct subject *s)
{
    if (s->verbs->close) s->verbs->close(s->self);
    s->self = NULL;
}

size_t subject_files(const struct subject *s, struct own_file files[OWN_FILES])
{
    return s->verbs->files ? s->verbs->files(s->self, files) : 0;
}

static bool own_to_stdout(const struct own_file *own)
{
    return own->written && own->path && output_is_stdout(own->path);
}

/* The harness's own option whose result goes to stdout; NULL: none. */
static const char *option_to_stdout(const struct options *o)
{
    if (o->output && output_is_stdout(o->output)) return "--output";
    return o->trace && output_is_stdout(o->trace) ? "--trace" : NULL;
}

bool subject_uses_stdout(const struct subject *s)
{
    struct own_file own[OWN_FILES];
    size_t count = subject_files(s, own);
    for (size_t i = 0; i < count; i++)
        if (own_to_stdout(&own[i])) return true;
    return option_to_stdout(s->options) != NULL;
}

/* Two results on stdout would be mixed. */
int subject_check_files(const struct subject *s, struct fault *fault)
{
    const struct options *o = s->options;
    const char *first = option_to_stdout(o);
    struct own_file own[OWN_FILES];
    size_t count = subject_files(s, own);
    if (o->trace && o->output && output_is_stdout(o->trace) && output_is_stdout(o->output))
        return fail(fault, EXIT_USAGE,
                    "--output and --trace both go to stdout; write one of them to a file.");
    for (size_t i = 0; i < count; i++) {
        if (!own_to_stdout(&own[i])) continue;
        if (first)
            return fail(fault, EXIT_USAGE,
                        "%s and %s both go to stdout; write one of them to a file.", first,
                        own[i].option);
        first = own[i].option;
    }
    return 0;
}

bool subject_shifts(const struct subject *s) { return s->options->inclusive && s->verbs->sums; }
