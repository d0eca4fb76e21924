/* input_part.c — makes or reads a rank's part of the input. */
#include "input_part.h"

#include "common/harness/print/print.h"

#define SECOND_SEED 0x2ED /* b is independent of a, as in step 16 */

int source_open(struct source *s, const struct request *request, const struct options *options,
                struct fault *fault)
{
    *s = (struct source){.request = request, .options = options, .n = options->n};
    if (!options->input) return 0;
    int code = npy_file_open(&s->input, options->input, fault);
    if (code) return code;
    s->n = s->input.header.n;
    if (!request->second) return 0;
    code = npy_file_open(&s->second, request->second, fault);
    if (!code && s->second.header.n != s->n)
        code = fail(fault, EXIT_USAGE, "%s has %zu element%s, and %s %zu; they have to agree.",
                    request->second, s->second.header.n, plural(s->second.header.n), options->input,
                    s->n);
    if (code) source_close(s);
    return code;
}

void source_close(struct source *s)
{
    npy_file_close(&s->input);
    npy_file_close(&s->second);
}

/* Random bits become real numbers from -1 to 1, as in step 16. */
static void make_reals(struct input *input)
{
    for (size_t i = 0; i < input->n; i++) {
        uint32_t bits = ((const uint32_t *)input->data)[i];
        ((float *)input->data)[i] = (float)((double)(bits >> 8) * 0x1p-23 - 1);
    }
}

static int make_factors(struct input *input, struct input_part part, uint64_t seed,
                        struct fault *fault)
{
    int code = input_generate_bits_part(input, ELEMENT_F32, part, seed, fault);
    if (!code) make_reals(input);
    return code;
}

int source_read(struct source *s, struct many_part mine, struct input *in, struct input *second,
                struct fault *fault)
{
    const struct options *o = s->options;
    enum element element = s->request->element;
    struct input_part part = {.first = mine.begin, .count = mine.count, .whole = s->n};
    *in = *second = (struct input){.element = element};
    if (o->input) {
        int code = npy_file_read(&s->input, in, element, part, fault);
        if (!code && s->request->second)
            code = npy_file_read(&s->second, second, element, part, fault);
        return code;
    }
    if (!s->request->affine) return input_generate_part(in, element, part, o->real, o->seed, fault);
    int code = make_factors(in, part, o->seed, fault);
    return code ? code : make_factors(second, part, o->seed ^ SECOND_SEED, fault);
}
