/*
 * test_submissions.c — README's loop over students' programs, as it is printed there: it comes to
 * its end whatever the programs do, and says of each what came of it.
 */
#include "tests/support/command.h"

#include <stdio.h>
#include <string.h>

TestSuite(submissions, .init = command_init, .fini = command_fini, .timeout = 300);

/* The lines of README.md from `make emu` to the end of the block. */
#define LOOP "sed -n '/^make emu && export/,/^```/p' README.md | grep -v '^```'"

#define MAKEFILE "lab: lab.cu\n\tnvcc -lineinfo -arch=compute_90 lab.cu -o lab\n"

/* Students' programs; the names of some folders have blanks in them. */
static const struct {
    const char *name, *source;
    int status;
    const char *finding; /* NULL: none, or no file */
} submissions[] = {
    {"1 endless kernel",
     "__global__ void k(int *p) { for (;;) atomicAdd(p, 1); }\n"
     "int main() { int *p; cudaMalloc(&p, 4); cudaMemset(p, 0, 4); k<<<1, 32>>>(p);\n"
     "             cudaDeviceSynchronize(); cudaFree(p); }\n",
     9, "its grid has run for 1 seconds"},
    {"2-endless-host",
     "__global__ void k() {}\n"
     "int main() { k<<<1, 1>>>(); cudaDeviceSynchronize();\n"
     "             for (volatile int i = 0;; i = 0) continue; }\n",
     124, NULL},
    {"3 does not compile", "__global__ void k() { a syntax error }\nint main() {}\n", 2, NULL},
    {"4 waits for an answer",
     "#include <cstdio>\n__global__ void k() {}\n"
     "int main() { k<<<1, 1>>>(); return getchar() == EOF ? 5 : 6; }\n",
     5, "ERROR SUMMARY: 0 errors"},
    {"5  a hazard",
     "__global__ void k(int *p) { __shared__ int s[64]; s[threadIdx.x] = 1;\n"
     "                            p[threadIdx.x] = s[63 - threadIdx.x]; }\n"
     "int main() { int *p; cudaMalloc(&p, 256); k<<<1, 64>>>(p); cudaDeviceSynchronize(); }\n",
     9, "hazard"},
    {"6 waits for ever",
     "__global__ void k(volatile int *p) { while (*p == 0) continue; }\n"
     "int main() { int *p; cudaMalloc(&p, 4); cudaMemset(p, 0, 4); k<<<1, 1>>>(p);\n"
     "             cudaDeviceSynchronize(); }\n",
     9, "lab.cu:1"},
    {"7-right",
     "__global__ void k(int *p) { *p = 7; }\n"
     "int main() { int *p, x = 0; cudaMalloc(&p, 4); k<<<1, 1>>>(p);\n"
     "             cudaMemcpy(&x, p, 4, cudaMemcpyDefault); cudaFree(p); return x - 7; }\n",
     0, "ERROR SUMMARY: 0 errors"},
};
enum { SUBMISSIONS = sizeof submissions / sizeof *submissions };

static void write_file(const char *name, const char *file, const char *text)
{
    char path[200];
    snprintf(path, sizeof path, "%s/submissions/%s/%s", folder, name, file);
    FILE *out = fopen(path, "w");
    cr_assert(out != NULL, "cannot write %s", path);
    cr_assert(fputs(text, out) >= 0 && fclose(out) == 0);
}

/* They are compiled before, as far as they can be: a busy machine may take longer for it than the
 * limit that this test sets. */
static void hand_in(void)
{
    for (int i = 0; i < SUBMISSIONS; i++) {
        const char *name = submissions[i].name;
        expect_status(0, "mkdir -p '%s/submissions/%s'", folder, name);
        write_file(name, "Makefile", MAKEFILE);
        write_file(name, "lab.cu", submissions[i].source);
    }
    expect_status(0, "ln -s $PWD/build $t/build && printf 'emu:\n\t@:\n' >$t/Makefile");
    run("export NVCC_PREPEND_FLAGS=\"$($emu --nvcc-flags)\" "
        "PATH=$(common/build/toolkit.sh)/bin:$PATH;"
        "for lab in $t/submissions/*/; do make -C \"$lab\" lab & done >/dev/null 2>&1; wait");
}

Test(submissions, the_loop_of_the_readme_ends)
{
#ifdef __SANITIZE_ADDRESS__
    cr_skip("nvcc would have to link the sanitized emulator; the ordinary build runs this.");
#endif
    hand_in();
    expect_status(0,
                  LOOP " >$t/loop && grep -c 'EMU_KERNEL_TIMEOUT=60$\\|timeout -k 5 300 ' $t/loop");
    cr_assert_str_eq(output, "2\n", "README's loop has no limits");
    expect_status(0,
                  "unset MAKEFLAGS MAKELEVEL; PATH=$(common/build/toolkit.sh)/bin:$PATH; "
                  "sed -i 's/TIMEOUT=60/TIMEOUT=1/; s/ 300 build/ 10 build/' $t/loop && cd $t && "
                  "EMU_TIMEOUT=1 sh ./loop 2>&1 </dev/zero");
    for (int i = 0; i < SUBMISSIONS; i++) {
        char line[100];
        snprintf(line, sizeof line, "submissions/%s/: %d\n", submissions[i].name,
                 submissions[i].status);
        expect(line);
    }
    for (int i = 0; i < SUBMISSIONS; i++) {
        if (submissions[i].finding == NULL) continue;
        expect_status(0, "cat $t/submissions/'%s'/findings", submissions[i].name);
        expect(submissions[i].finding);
    }
}
