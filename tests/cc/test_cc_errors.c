/*
 * test_cc_errors.c — what the compiler of CUDA C says of wrong texts: where, and in which sentence,
 * and nothing more; and the command upcc, which prints it.
 */
#include "compiled.h"
#include "tests/support/command.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct row {
    const char *text, *said;
};

/* In a kernel the text is line 2, from column 1 on. */
#define KERNEL(text) "__global__ void k(float *out, const float *in, int n) {\n" text "\n}\n"
#define REFUSED      ": nvcc accepts this, the page's compiler does not"

static void check(const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char *said = said_of(rows[i].text);
        cr_expect_str_eq(said, rows[i].said, "of:\n%s\nit says:\n%s\nand not:\n%s", rows[i].text,
                         said, rows[i].said);
        free(said);
    }
}

#define CHECK(rows) check(rows, sizeof(rows) / sizeof((rows)[0]))

Test(cc_errors, mistakes_of_beginners)
{
    static const struct row rows[] = {
        {KERNEL("int i = threadIdx;"),
         "2:9 `threadIdx` has three parts: threadIdx.x, threadIdx.y and threadIdx.z"},
        {KERNEL("int i = threadIdx.w;"), "2:19 `threadIdx` has the parts x, y and z only"},
        {KERNEL("threadIdx.x = 1;"), "2:1 the built-in variables of a thread cannot be changed"},
        {KERNEL("__shared__ float t[n];"), "2:20 the size of a __shared__ array has to be a "
                                           "constant"},
        {KERNEL("float t[n];"), "2:9 the size of an array has to be a constant"},
        {KERNEL("__shared__ float t[];"), "2:18 the size of `t` is missing"},
        {KERNEL("extern __shared__ float t[4];"),
         "2:25 `t` gets its size at the launch, so it is declared with []"},
        {KERNEL("__shared__ int t = 0;"), "2:18 `t` is __shared__, and begins without values"},
        {KERNEL("k<<<1, 2>>>(out, in, n);"),
         "2:2 `<<<` launches a kernel, and this is device code"},
        {KERNEL("k(out, in, n);"), "2:1 `k` is a kernel, and cannot be called from device code"},
        {KERNEL("__syncthreads;"), "2:1 `__syncthreads` is named here, but not called"},
        {KERNEL("if (n = 3) out[0] = 1;"), "warning 2:7 this = assigns, and does not compare"},
        {KERNEL("n == 3;"), "warning 2:3 the value of this is computed, and not used"},
        {KERNEL("for (int i = 0; i < n; i++);\nout[0] = 1;"),
         "warning 2:28 after this ; the for has no statement"},
        {KERNEL("in[0] = 1;"),
         "2:1 this element is const: its pointer or array was declared with const"},
        {KERNEL("malloc(4);"),
         "2:1 `malloc` belongs to the host's library, and this is device code"},
        {KERNEL("return 1;"), "2:8 a kernel returns nothing: it stores its results"},
        {KERNEL("out[1.5] = 1;"), "2:5 an index is an integer, and this is `double`"},
        {KERNEL("printf(\"%d\\n\");"),
         "warning 2:1 the format of printf asks for 1 value, and here are 0"},
        {KERNEL("int *p = out;"),
         "2:10 the initial value is of type `float *`, and has to be `int *`"},
        {KERNEL("float x = in;"),
         "2:11 the initial value is of type `const float *`, and has to be `float`"},
        {"int f(int x) { return x; }\n__global__ void k(int *o) { o[0] = f(1); }\n",
         "2:36 `f` is a function of the host, and this is device code"},
        {"int x;\n__global__ void k(int *o) { o[0] = x; }\n",
         "2:36 `x` is a variable of the host, and this is device code"},
        {"__global__ int k(int *o) { o[0] = 1; return 1; }\n",
         "1:16 the kernel `k` cannot return a `int`"},
        {"__global__ k(int *o) { o[0] = 1; }\n", "1:12 the kernel `k` has no type"},
        {"void k(int *o) { o[0] = 1; }\nint main() { k<<<1, 2>>>(0); }\n",
         "1:6 `k` is launched with <<< >>>, but it is no kernel"},
        {"__global__ void k(int *o) {}\nint main() { k<<<1, 2>>>(0, 1); }\n",
         "2:14 the kernel `k` takes 1 argument, and gets 2"},
        {"__global__ void scan(int *o) {}\nint main() { scna<<<1, 2>>>(0); }\n",
         "2:14 there is no kernel `scna` before this"},
        {"__device__ int f(int a) { return a; }\n__global__ void k(int *o) { o[0] = f(1, 2); }\n",
         "2:36 `f` takes 1 argument, and here are 2"},
        {"__global__ void k(uint32_t *o) { o[0] = 1; }\n", "1:19 `uint32_t` is not declared here"},
    };
    CHECK(rows);
}

Test(cc_errors, grammar)
{
    static const struct row rows[] = {
        {KERNEL("int a = 3\nint b = 4;\nout[0] = a + b\nout[1] = b;"),
         "2:9 a ; is missing after `3`\n4:14 a ; is missing after `b`"},
        {KERNEL("while (n < 3 {\nn++; }"), "2:12 a ) is missing before `{`"},
        {KERNEL("out[0] = 3 +;\nout[1] = ofset;"),
         "2:13 a value is missing before `;`\n3:10 `ofset` is not declared here"},
        {KERNEL("else n = 1;"), "2:1 this else has no if before it"},
        {KERNEL("break;"), "2:1 break stands outside of a loop"},
        {KERNEL("int y[2] = {1, 2, 3};\nint z = out;"),
         "2:19 the array has 2 elements, and here is one more\n"
         "3:9 the initial value is of type `float *`, and has to be `int`"},
        {KERNEL("switch (n) { case 1: break; case 1: break; }"),
         "2:29 this label stands in the switch a second time"},
        {KERNEL("int n2 = 08;"), "2:10 `08` is no number: it has a letter too many"},
        {"__global__ void k(int *o) {\nif (o) {\no[0] = 1;\n}\n__global__ void l(int *o) {}\n",
         "5:1 a } is missing before this: the function `k` of line 1 has no end"},
        {"__global__ void k(int *o) {\nif (o) {\no[0] = 1;\n}\n",
         "1:17 a } is missing: the function `k` has no end"},
        {"__global__ void k(int *o) {}\n}\n", "2:1 this } closes nothing"},
        {"__device__ int f(int);\n__global__ void k(int *o) { o[0] = f(1); }\n",
         "2:36 `f` is declared, but has no body"},
        {KERNEL("int i = 1;\nfloat i = 2;"),
         "3:7 `i` is declared a second time; the first time is in line 2"},
        {"static_assert(1 > 2, \"no\");\n", "1:1 static_assert does not hold: \"no\""},
    };
    CHECK(rows);
}

Test(cc_errors, what_is_not_in_the_subset_is_named)
{
    static const struct row rows[] = {
        {KERNEL("float4 v = make_float4(1, 2, 3, 4);\nout[0] = v.x + v.y;"),
         "2:1 the vector type float4" REFUSED},
        {KERNEL("auto f = [](int x) { return x; };\nf(1);"), "2:1 auto" REFUSED},
        {KERNEL("n = [](int x) { return x; }(1);"), "2:5 a lambda" REFUSED},
        {KERNEL("int &r = n;\nr = 3;"), "2:5 a reference" REFUSED},
        {KERNEL("atomicAdd(out, 1.0f);"), "2:1 an atomic operation" REFUSED},
        {KERNEL("n = __shfl_up_sync(~0u, n, 1);"), "2:5 a shuffle" REFUSED},
        {KERNEL("n = __ballot_sync(~0u, n);"), "2:5 a vote" REFUSED},
        {KERNEL("struct point { int x; } p;\np.x = 3;"), "2:1 a struct" REFUSED},
        {KERNEL("goto end;"), "2:1 goto" REFUSED},
        {KERNEL("end: n = 1;"), "2:1 a label for goto" REFUSED},
        {KERNEL("asm(\"nop;\");"), "2:1 inline assembly" REFUSED},
        {KERNEL("volatile int x = 1;"), "2:1 volatile" REFUSED},
        {KERNEL("static int x;"), "2:1 a static variable of a function" REFUSED},
        {KERNEL("n = static_cast<int>(2.5);"), "2:5 a cast of C++" REFUSED},
        {KERNEL("out[0] = sinf(1);"), "2:10 the function sinf" REFUSED},
        {KERNEL("int x(3);"), "2:6 an initial value in parentheses" REFUSED},
        {"template <typename T> __device__ T f(T x) { return x; }\n"
         "__global__ void k(int *o) { o[0] = f<int>(1) + f(2); }\n",
         "1:11 a template on a type" REFUSED},
        {"__device__ int f(int n) { return n < 2 ? 1 : n * f(n - 1); }\n",
         "1:50 `f` calls itself here" REFUSED},
        {"__device__ int f(int n) { return n; }\n__device__ int f(float n) { return 1; }\n",
         "2:16 overloading, a second function `f` with other parameters" REFUSED},
        {"template <int N> __global__ void k(int *o) { }\n__global__ void k(int *o) { }\n",
         "2:17 overloading, a second function `k` with other parameters" REFUSED},
        {"__global__ void k(int *o) { }\n__global__ void k(int *o) { }",
         "2:17 `k` has a body already, in line 1"},
        {"namespace a { __global__ void k(int *o) {} }\n", "1:1 a namespace" REFUSED},
    };
    CHECK(rows);
}

/* As nvcc says them, too. */
Test(cc_errors, narrow_cases_and_names_of_a_for)
{
    static const struct row rows[] = {
        {KERNEL("for (int i = 0; i < n; i++) { int i = 5; out[i] = 0; }"),
         "2:35 `i` is declared a second time; the first time is in line 2"},
        {KERNEL("for (int i = 0; i < n; i++) if (i) { int i = 5; out[i] = 0; }"), ""},
        {KERNEL("for (int i = 0; i < n; i++) { { int i = 5; out[i] = 0; } }"), ""},
        {KERNEL("switch (n) { case 4294967296: n = 1; }"),
         "2:19 this value does not fit into `int`, by which the switch chooses"},
        {KERNEL("switch (n) { case 3000000000u: n = 1; }"),
         "2:19 this value does not fit into `int`, by which the switch chooses"},
        {KERNEL("unsigned u = n;\nswitch (u) { case -1: n = 1; }"),
         "3:19 this value does not fit into `unsigned`, by which the switch chooses"},
        {KERNEL("unsigned long u = n;\nswitch (u) { case -1: n = 1; }"),
         "3:19 this value does not fit into `unsigned long`, by which the switch chooses"},
        {KERNEL("long u = n;\nswitch (u) { case -1: case 3000000000u: n = 1; }"), ""},
        {KERNEL("char u = n;\nswitch (u) { case 300: n = 1; }"), ""}, // a char is promoted
        {KERNEL("do n--; while (n > 0);\nn = sizeof n + sizeof -n + sizeof out[0] * 2;"), ""},
        {"\xEF\xBB\xBF" KERNEL("out[0] = m;"), "2:10 `m` is not declared here"},
        {"\xEF\xBB\xBF#fi\n", "1:2 there is no directive #fi"},
    };
    CHECK(rows);
}

/* nvcc warns of the same lines. */
Test(cc_errors, values_and_the_format_of_printf)
{
#define PRINTS(what) " in the format of printf does not print a value of type `" what "`"
    static const struct row rows[] = {
        {KERNEL("printf(\"%d\", out[0]);"), "warning 2:14 %d" PRINTS("double")},
        {KERNEL("printf(\"%f\", n);"), "warning 2:14 %f" PRINTS("int")},
        {KERNEL("printf(\"%-5ld\", n);"), "warning 2:17 %-5ld" PRINTS("int")},
        {KERNEL("printf(\"%d\", 3LL);"), "warning 2:14 %d" PRINTS("long long")},
        {KERNEL("printf(\"%*d\", 2.0, n);"), "warning 2:15 %*" PRINTS("double")},
        {KERNEL("printf(\"%s\", out);"), "warning 2:14 %s" PRINTS("float *")},
        {KERNEL("printf(\"%p\", n);"), "warning 2:14 %p" PRINTS("int")},
        {KERNEL("printf(\"%q\", n);"),
         "warning 2:8 a % in the format of printf begins no conversion, such as %d or %f"},
        {KERNEL("printf(\"50 %\");"),
         "warning 2:8 a % in the format of printf begins no conversion, such as %d or %f"},
        {KERNEL("printf(\"%*d\", n);"),
         "warning 2:1 the format of printf asks for 2 values, and here is 1"},
        {KERNEL("printf(\"%d%% %5.2f %c %u %lld %zu %p %s %*d %hd\\n\", n, out[0], 'a', 3, 4LL,\n"
                "sizeof n, out, \"x\", 3, n, n);"),
         ""},
    };
    CHECK(rows);
}

Test(cc_errors, the_nearest_name_is_meant)
{
    struct cc_result *result = checked("text.cu", KERNEL("int offset = 1;\nout[0] = ofset;"));
    cr_assert(result->count == 1);
    cr_expect_str_eq(result->diagnostics[0].hint, "did you mean `offset`?");
    cr_expect(result->diagnostics[0].length == 5);
    cc_free(result);
}

Test(cc_errors, there_is_an_end_of_them)
{
    char text[10000] = "__global__ void k(int *o) {\n";
    for (int i = 0; i < 100; i++) strcat(text, "o[0] = 1 +;\n");
    struct cc_result *result = checked("text.cu", strcat(text, "}\n"));
    cr_expect(result->errors == 20, "%zu errors", result->errors);
    cc_free(result);
}

/* ---- upcc ------------------------------------------------------------------------------------ */

TestSuite(cc_command, .init = command_init, .fini = command_fini);

#define UPCC "top=$PWD; cd $t && $top/build/cc/upcc "
#define K    "k.cu -I h -D THREE=3 --instance 'k<7>' "
#define PUT                                                                                        \
    "cd $t && mkdir h && echo '#define TWO 2' >h/two.h && printf '#include \"two.h\"\n"            \
    "template <int N> __global__ void k(int *x) { x[0] = N * TWO * THREE; }\n' >k.cu"

Test(cc_command, options)
{
    expect_status(0, PUT);
    expect_status(0, "export MALLOC_PERTURB_=85; " UPCC K "-o k.ptx 2>&1");
    cr_expect_str_eq(output, "");
    expect_status(0, "grep 'entry\\|42' $t/k.ptx");
    cr_expect_str_eq(output, ".visible .entry _Z1kILi7EEvPi(\n\tmov.u32 \t%r1, 42;\n");
    expect_status(0, UPCC "-Ih --define=THREE=3 k.cu --instance='k<7>' | cmp - k.ptx 2>&1");
    expect_status(0, UPCC K "--check 2>&1");
    cr_expect_str_eq(output, "");
    expect_status(0, UPCC K "--json --output=j.ptx 2>&1 && cmp j.ptx k.ptx");
    expect("{\"diagnostics\":[],\n\"ptx\":\"//\\n// Compiled by");
    expect("(\\n\\u0009.param .u64 _Z1kILi7EEvPi_param_0\\n)");
    expect_status(0, UPCC K "--json");
    expect(".file\\u00091 \\\"k.cu\\\"\\n");
    expect_status(0, UPCC "--version");
    cr_expect_str_eq(output, "upcc: a subset of CUDA C to PTX 9.0 for sm_90\n");
    expect_status(0, UPCC "--help");
    expect("errors in it, 2 if the command is wrong, and 3 if the machine failed.\n\n"
           "  -o, --output FILE     where to write PTX; default: standard output\n");
    expect("\n  --help                print this help\n");
}

Test(cc_command, what_it_says_of_wrong_texts)
{
    expect_status(0, "printf '\\t__global__ void k(int *x) {\\tint offset = yes;\\n\\n"
                     "/* ä */ if (ofset = 1) *x = 0; }' >$t/w.cu");
    expect_status(1, UPCC "w.cu -o w.ptx 2>&1; s=$?; test ! -e w.ptx && exit $s");
    cr_expect_str_eq(output, "w.cu:1:43: error: `yes` is not declared here\n"
                             "    1 | \t__global__ void k(int *x) {\tint offset = yes;\n"
                             "      | \t                           \t             ^~~\n"
                             "w.cu:3:14: error: `ofset` is not declared here\n"
                             "    3 | /* ä */ if (ofset = 1) *x = 0; }\n"
                             "      |             ^~~~~\n"
                             "      = did you mean `offset`?\n");
    expect_status(1, UPCC "w.cu --json 2>&1");
    cr_expect_str_eq(output,
                     "{\"diagnostics\":[\n"
                     "{\"severity\":\"error\",\"file\":\"w.cu\",\"line\":1,\"column\":43,"
                     "\"length\":3,\"text\":\"`yes` is not declared here\",\"hint\":null},\n"
                     "{\"severity\":\"error\",\"file\":\"w.cu\",\"line\":3,\"column\":14,"
                     "\"length\":5,\"text\":\"`ofset` is not declared here\","
                     "\"hint\":\"did you mean `offset`?\"}]}\n");
    expect_status(0, "echo '__global__ void k(int *x) { *x == 1; }' >$t/w.cu");
    expect_status(0, UPCC "w.cu --json");
    expect("{\"diagnostics\":[\n{\"severity\":\"warning\",");
    expect_status(0, UPCC "w.cu 2>&1 >/dev/null");
    expect("w.cu:1:32: warning: the value of this is computed, and not used\n");
}

Test(cc_command, refuses)
{
    static const char *const rows[][2] = {
        {"", "The name of a file is missing: upcc FILE.cu; --help says more."},
        {"k.cu l.cu", "\"l.cu\" is a second file; give one."},
        {"--no k.cu", "\"--no\" is not an option; --help lists them."},
        {"k.cu --include", "--include needs a value; --help says which."},
        {"none.cu", "\"none.cu\" cannot be read: No such file or directory."},
        {"h", "\"h\" cannot be read: Is a directory."},
        {"zero.cu", "\"zero.cu\" cannot be read: Invalid or incomplete multibyte or wide "
                    "character."},
        {"large.cu", "\"large.cu\" cannot be read: File too large."},
        {K "-o none/k.ptx", "\"none/k.ptx\" cannot be written: No such file or directory."},
        {K ">/dev/full", "\"stdout\" cannot be written: No space left on device."},
        {"k.cu $(yes -- -DX=1 | head -n 101)", "\"X=1\" is one option too many of its kind."},
    };
    expect_status(0, PUT "; head -c 9 /dev/zero >zero.cu; "
                         "head -c 20000000 /dev/zero | tr '\\0' ' ' >large.cu");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char said[200];
        snprintf(said, sizeof said, "upcc: %s\n", rows[i][1]);
        cr_expect(run(UPCC "2>&1 %s", rows[i][0]) == 2, "%s", rows[i][0]);
        cr_expect_str_eq(output, said);
    }
    expect_status(0, UPCC "k.cu -I h $(yes -- -DTHREE=3 | head -n 100) 2>&1");
}
