/*
 * request.h — what the user asks step 17 for, beside the harness's options.
 */
#ifndef STEP17_REQUEST_H
#define STEP17_REQUEST_H

#include "common/harness/input/input.h"
#include "common/step/options.h"
#include "parts/shape.h"

enum exchange_choice { CHOOSE_MPI, CHOOSE_NCCL, CHOOSE_PEER, CHOOSE_EXSCAN, CHOOSE_ANY };

struct request {
    bool affine;        /* --op affine; otherwise a sum */
    const char *type;   /* --type; NULL: a .npy file's, or f32 */
    const char *second; /* --second; NULL: not given */
    enum exchange_choice exchange;
    double wait; /* --wait: seconds for the other ranks; 0: no limit */

    /* Filled in by many_request_check(). */
    enum element element;
    enum many_op op;
};

extern const struct step_option many_options[];
extern const char *const exchange_names[];

void *many_request_open(void); /* the verb (step.h); free() closes it */

/* Do the options go together? Opens the .npy file for its type if --type leaves that to the file.
 * Returns 0 or EXIT_USAGE. */
int many_request_check(struct request *, const struct options *, struct fault *);

/* What decides which exchanges are possible. */
struct surroundings {
    int ranks, machines, gpus; /* gpus: different ones */
    bool emulated;
    bool peers; /* each rank has a GPU of its own, and they reach each other's memory */
    bool nccl;  /* the program was built with NCCL */
};

/* What was asked for or, if that is CHOOSE_ANY, peer if it is possible, and else mpi. Returns 0, or
 * EXIT_USAGE if what was asked for is impossible here. */
int choose_exchange(const struct surroundings *, enum exchange_choice asked,
                    enum exchange_choice *chosen, struct fault *);

/* All options by name and value, as text: for ranks to compare. */
#define SETTINGS_MOST 20
#define SETTING_TEXT  300
struct settings {
    struct {
        char name[12], value[SETTING_TEXT];
        uint64_t sum; /* of all characters: `value` may have been cut */
    } is[SETTINGS_MOST];
    size_t count;
};
void settings_of(const struct request *, const struct options *, struct settings *);

/* Returns 0 if both are the same, or EXIT_USAGE and the first difference. */
int settings_compare(const struct settings *own, const struct settings *of_rank_0, struct fault *);

/* ---- a part of the input --------------------------------------------------------------------- */

/*
 * A rank's part of the input: of files, or of random numbers.
 *
 * Element i is the same for any number of ranks.
 */

/* Where the elements come from. */
struct source {
    const struct request *request;
    const struct options *options;
    size_t n;                      /* of the whole */
    struct npy_file input, second; /* .file is NULL: not given */
};

/* Opens the files. Returns 0, or EXIT_USAGE; then there is nothing to close. */
int source_open(struct source *, const struct request *, const struct options *, struct fault *);
void source_close(struct source *);

/* Reads or makes the part; second->data stays NULL without a second input. The caller frees both
 * by input_free, also after a fault. */
int source_read(struct source *, struct many_part, struct input *in, struct input *second,
                struct fault *);

#endif
