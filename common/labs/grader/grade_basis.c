/*
 * grade_basis.c — what points depend on besides a submission. Rows and PTX that were made with
 * something else are made again, so that one table never mixes two ways of grading.
 */
#define _GNU_SOURCE
#include "grader.h"
#include "common/labs/compile.h"
#include "hash.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file that cannot be read adds nothing: what needs it fails later, and says why. */
static uint64_t add_file(uint64_t bits, const char *folder, const char *name)
{
    char path[PATH_MAX];
    struct stat status;
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= PATH_MAX) return bits;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return bits;
    void *bytes = MAP_FAILED;
    if (fstat(file, &status) == 0 && status.st_size > 0)
        bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    if (bytes == MAP_FAILED) return bits;
    bits = hash_bytes(bits, bytes, (size_t)status.st_size);
    munmap(bytes, (size_t)status.st_size);
    return bits;
}

static uint64_t solution_of(const struct grader *grader)
{
    char source[32];
    snprintf(source, sizeof source, "reference%d.cu", grader->lab->number);
    return add_file(grader->compiler, grader->programs, source);
}

/* The labs' table and the scorer are in the programs. */
static uint64_t scorer_of(const struct grader *grader)
{
    uint64_t bits = hash_bytes(grader->solution, &grader->weights, sizeof grader->weights);
    bits = add_file(bits, grader->programs, "grade-labs");
    return add_file(bits, grader->programs, "run-lab");
}

/* A compiler's own program differs from version to version. */
static uint64_t compiler_of(const struct grader *grader)
{
    const char *arguments[COMPILE_ARGUMENTS];
    if (grader->own_compiler) return add_file(HASH_NONE, grader->programs, "../cc/upcc");
    uint64_t bits = add_file(HASH_NONE, grader->toolkit.folder, "bin/nvcc");
    compile_arguments("nvcc", SOURCE_INSIDE, "ptx", arguments);
    for (size_t i = 0; arguments[i] != NULL; i++)
        bits = hash_bytes(bits, arguments[i], strlen(arguments[i]) + 1);
    return bits;
}

void grade_basis(struct grader *grader)
{
    grader->compiler = compiler_of(grader);
    grader->solution = solution_of(grader);
    grader->scorer = scorer_of(grader);
}
