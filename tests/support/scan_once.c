#include "scan_once.h"

#include "common/harness/run/device.h"
#include "common/step/element.h"
#include "common/harness/input/input.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define SEED 39 /* seed of the random numbers; any number is suitable */

const struct step *const scan_steps[SCAN_STEPS] = {&step01, &step02, &step03, &step04,
                                                   &step05, &step06, &step07, &step08,
                                                   &step09, &step10, &step11, &step12};

const struct step *scan_step(int number)
{
    for (int i = 0; i < SCAN_STEPS; i++)
        if (scan_steps[i]->number == number) return scan_steps[i];
    cr_assert(false, "no step of these tests has the number %d", number);
    return NULL;
}

int variant_count(const struct step *step)
{
    int count = 0;
    while (step->variants != NULL && step->variants[count] != NULL) count++;
    return count > 0 ? count : 1;
}

const char *variant_name(const struct step *step, int variant)
{
    return step->variants != NULL ? step->variants[variant] : "";
}

/* Begins every message of a test: which scan it was. */
#define SCAN_FORMAT "step %d %s, n = %zu, offset %zu%s: "
#define SCAN_ARGS(scan)                                                                            \
    (scan)->step->number, variant_name((scan)->step, (scan)->variant), (scan)->n, (scan)->offset,  \
        (scan)->in_place ? ", in place" : ""

static void make(struct buffer *buffer, size_t bytes, size_t offset, const struct scan *scan)
{
    struct fault fault;
    int code = buffer_make(buffer, bytes, offset, scan->step->on_host, "a buffer", &fault);
    cr_assert(code == 0, SCAN_FORMAT "%s", SCAN_ARGS(scan), fault.text);
}

static void expect_undamaged(const struct buffer *buffer, const char *what, const struct scan *scan)
{
    char damage[200] = "";
    struct fault fault;
    int code = buffer_check(buffer, what, 1, damage, sizeof damage, &fault);
    cr_assert(code == 0 && !*damage, SCAN_FORMAT "%s", SCAN_ARGS(scan), damage);
}

cudaError_t scan_once(const struct scan *scan, const void *in, void *out)
{
    const struct step *step = scan->step;
    enum element element = step_element(step, scan->variant);
    size_t size = element_size(element), sum_size = element_size(element_of_sum(element));
    size_t bytes = scan->n * size, sum_bytes = scan->n * sum_size;
    size_t space = step->workspace != NULL ? step->workspace(scan->n, scan->variant) : 0;
    struct buffer from, to, workspace = {0};

    make(&from, bytes, scan->offset * size, scan);
    make(&to, sum_bytes, scan->offset * sum_size, scan);
    if (space > 0) make(&workspace, space, 0, scan);
    if (step->clear_workspace) cr_assert(cudaMemset(workspace.data, 0, space) == cudaSuccess);

    /* In place, the buffer of the output holds the input. */
    struct buffer *holds_input = scan->in_place ? &to : &from;
    cr_assert(buffer_upload(holds_input, 0, in, bytes) == cudaSuccess);

    cudaError_t error =
        step->scan(to.data, holds_input->data, scan->n, scan->variant, workspace.data, NULL);
    if (error == cudaSuccess && !step->on_host) error = cudaDeviceSynchronize();
    if (error == cudaSuccess) {
        cr_assert(buffer_download(&to, 0, out, sum_bytes) == cudaSuccess);
        expect_undamaged(&from, "the input", scan);
        expect_undamaged(&to, "the output", scan);
        if (space > 0) expect_undamaged(&workspace, "the workspace", scan);
    }
    if (error == cudaSuccess && !scan->in_place) {
        void *after = malloc(bytes);
        cr_assert(after != NULL && buffer_download(&from, 0, after, bytes) == cudaSuccess);
        cr_assert(memcmp(after, in, bytes) == 0, SCAN_FORMAT "the input has changed",
                  SCAN_ARGS(scan));
        free(after);
    }
    buffer_free(&from);
    buffer_free(&to);
    if (space > 0) buffer_free(&workspace);
    return error;
}

struct outcome run_in_harness(const struct step *step, const struct options *o, bool emulated)
{
    struct fault fault = {0};
    struct input input;
    struct subject subject;
    struct runs runs;
    struct outcome outcome;
    subject_open(&subject, step, o);
    subject.element = step_element(step, o->variant);
    int code = input_generate(&input, subject.element, o->n, o->real, o->seed, &fault);
    if (!code) code = runs_open(&runs, &subject, &input, emulated, &fault);
    if (!code) code = runs_do(&runs, &outcome, &fault);
    cr_assert(code == 0, "%s %s: %s", step->name, variant_name(step, o->variant), fault.text);
    runs_close(&runs);
    input_free(&input);
    return outcome;
}

static bool from_file;

struct verdict scan_verdict(const struct scan *scan, const void *in, const void *out)
{
    const struct step *step = scan->step;
    enum element element = step_element(step, scan->variant);
    double *reference = NULL;

    if (step->reference != NULL) {
        reference = malloc(scan->n * sizeof(double));
        cr_assert(reference != NULL);
        step->reference(reference, in, scan->n, scan->variant);
    }
    struct problem problem = {.element = element,
                              .in = in,
                              .n = scan->n,
                              .inclusive = step->inclusive,
                              .reference = reference,
                              .any_order = from_file && step->any_order};
    double depth = step_depth(step, scan->n, scan->variant);
    struct verdict verdict = verify_all(&problem, out, depth, 0);
    free(reference);
    return verdict;
}

struct verdict expect_right(const struct scan *scan, const void *in)
{
    enum element sum = element_of_sum(step_element(scan->step, scan->variant));
    void *out = malloc(scan->n * element_size(sum));
    cr_assert(out != NULL);
    cudaError_t error = scan_once(scan, in, out);
    cr_assert(error == cudaSuccess, SCAN_FORMAT "%s", SCAN_ARGS(scan), cudaGetErrorString(error));
    struct verdict verdict = scan_verdict(scan, in, out);
    cr_assert(verdict.right, SCAN_FORMAT "out[%zu] is %s and should be %s (%s)", SCAN_ARGS(scan),
              verdict.first[0].index, verdict.first[0].got, verdict.first[0].want, verdict.cause);
    cr_assert(verdict.checked == scan->n);
    free(out);
    return verdict;
}

struct verdict expect_right_from_file(const struct scan *scan, const void *in)
{
    from_file = true;
    struct verdict verdict = expect_right(scan, in);
    from_file = false;
    return verdict;
}

/* Lasts until the next call. */
static const void *generate(enum element element, size_t n, bool real)
{
    static struct input input;
    struct fault fault;

    input_free(&input);
    cr_assert(input_generate(&input, element, n, real, SEED, &fault) == 0, "%s", fault.text);
    return input.data;
}

const float *random_floats(size_t n, bool real) { return generate(ELEMENT_F32, n, real); }

const void *random_input(const struct step *step, int variant, size_t n, bool real)
{
    return generate(step_element(step, variant), n, real);
}
