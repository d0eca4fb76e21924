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
#define PRINTS(what) " in the format of printf does not print a value of type `" what "`"

static const struct row rows[] = {
    /* Mistakes of beginners */
    {KERNEL("int i = threadIdx;"),
     "2:9 `threadIdx` has three parts: threadIdx.x, threadIdx.y and threadIdx.z"},
    {KERNEL("int i = threadIdx.w;"), "2:19 `threadIdx` has the parts x, y and z only"},
    {KERNEL("threadIdx.x = 1;"), "2:1 the built-in variables of a thread cannot be changed"},
    {KERNEL("__shared__ float t[n];"), "2:20 the size of a __shared__ array has to be a constant"},
    {KERNEL("float t[n];"), "2:9 the size of an array has to be a constant"},
    {KERNEL("__shared__ float t[];"), "2:18 the size of `t` is missing"},
    {KERNEL("extern __shared__ float t[4];"),
     "2:25 `t` gets its size at the launch, so it is declared with []"},
    {KERNEL("__shared__ int t = 0;"), "2:18 `t` is __shared__, and begins without values"},
    {KERNEL("k<<<1, 2>>>(out, in, n);"), "2:2 `<<<` launches a kernel, and this is device code"},
    {KERNEL("k(out, in, n);"), "2:1 `k` is a kernel, and cannot be called from device code"},
    {KERNEL("__syncthreads;"), "2:1 `__syncthreads` is named here, but not called"},
    {KERNEL("if (n = 3) out[0] = 1;"), "warning 2:7 this = assigns, and does not compare"},
    {KERNEL("n == 3;"), "warning 2:3 the value of this is computed, and not used"},
    {KERNEL("for (int i = 0; i < n; i++);\nout[0] = 1;"),
     "warning 2:28 after this ; the for has no statement"},
    {KERNEL("in[0] = 1;"),
     "2:1 this element is const: its pointer or array was declared with const"},
    {KERNEL("malloc(4);"), "2:1 `malloc` belongs to the host's library, and this is device code"},
    {KERNEL("return 1;"), "2:8 a kernel returns nothing: it stores its results"},
    {KERNEL("out[1.5] = 1;"), "2:5 an index is an integer, and this is `double`"},
    {KERNEL("printf(\"%d\\n\");"),
     "warning 2:1 the format of printf asks for 1 value, and here are 0"},
    {KERNEL("int *p = out;"), "2:10 the initial value is of type `float *`, and has to be `int *`"},
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
    /* Grammar */
    {KERNEL("int a = 3\nint b = 4;\nout[0] = a + b\nout[1] = b;"),
     "2:9 a ; is missing after `3`\n4:14 a ; is missing after `b`"},
    {KERNEL("while (n < 3 {\nn++; }"), "2:12 a ) is missing before `{`"},
    {KERNEL("out[0] = 3 +;\nout[1] = ofset;"),
     "2:13 a value is missing before `;`\n3:10 `ofset` is not declared here"},
    {KERNEL("else n = 1;"), "2:1 this else has no if before it"},
    {KERNEL("break;"), "2:1 break stands outside of a loop"},
    {KERNEL("while (n) break; break;"), "2:18 break stands outside of a loop"},
    {KERNEL("int y[2] = {1, 2, 3};\nint z = out;"),
     "2:19 the array has 2 elements, and here is one more\n"
     "3:9 the initial value is of type `float *`, and has to be `int`"},
    {KERNEL("switch (n) { case 1: break; case 1: break; }"),
     "2:29 this label stands in the switch a second time"},
    {KERNEL("n = threadIdx.w +\nofset;"),
     "2:15 `threadIdx` has the parts x, y and z only\n3:1 `ofset` is not declared here"},
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
    /* What is not in the subset is named */
    {KERNEL("auto f = [](int x) { return x; };\nf(1);"), "2:1 auto" REFUSED},
    {KERNEL("n = [](int x) { return x; }(1);"), "2:5 a lambda" REFUSED},
    {KERNEL("int &r = n;\nr = 3;"), "2:5 a reference" REFUSED},
    {KERNEL("struct point { int x; } p;\np.x = 3;"), "2:1 a struct" REFUSED},
    {KERNEL("goto end;"), "2:1 goto" REFUSED},
    {KERNEL("end: n = 1;"), "2:1 a label for goto" REFUSED},
    {KERNEL("static int x;"), "2:1 a static variable of a function" REFUSED},
    {KERNEL("n = static_cast<int>(2.5);"), "2:5 a cast of C++" REFUSED},
    {KERNEL("out[0] = sinf(1);"), "2:10 the function sinf" REFUSED},
    {KERNEL("int x(3);"), "2:6 an initial value in parentheses" REFUSED},
    {"__device__ int f(int n) { return n < 2 ? 1 : n * f(n - 1); }\n",
     "1:50 `f` calls itself here" REFUSED},
    {"__device__ int f(int n) { return n; }\n__device__ int f(float n) { return 1; }\n",
     "2:16 overloading, a second function `f` with other parameters" REFUSED},
    {"template <int N> __global__ void k(int *o) { }\n__global__ void k(int *o) { }\n",
     "2:17 overloading, a second function `k` with other parameters" REFUSED},
    {"__global__ void k(int *o) { }\n__global__ void k(int *o) { }",
     "2:17 `k` has a body already, in line 1"},
    {"namespace a { __global__ void k(int *o) {} }\n", "1:1 a namespace" REFUSED},
    /* Structs, instructions and assembly */
    {KERNEL("float4 v;\nv.q = 1;"), "3:3 `float4` has no member `q`"},
    {KERNEL("float4 *v = (float4 *)out;\nv.x = 1;"), "3:2 `float4 *` has no member `x`"},
    {KERNEL("out->x = 1;"), "2:4 `float *` has no member `x`"},
    {KERNEL("float4 v;\nout[0] = v;"),
     "3:10 what is assigned is of type `float4`, and has to be `float`"},
    {KERNEL("float4 v, w;\nv = v + w;"), "3:7 `+` does not take `float4` and `float4`"},
    {KERNEL("float2 v = {1};\nprintf(\"%f\", v);"), "3:14 printf takes no `float2`"},
    {KERNEL("float2 v = make_float2(1);"), "2:12 `make_float2` takes 2 arguments, and here is 1"},
    {KERNEL("const float2 v = {1, 2};\nv.x = 3;"), "3:2 `v` is const, and keeps its value"},
    {KERNEL("float2 v = {1, 2, 3};"), "2:19 `}` is missing before `3`"},
    {KERNEL("n = __shfl_up_sync(n, 1);"), "2:5 `__shfl_up_sync` takes 4 arguments, and here are 2"},
    {KERNEL("out = __shfl_xor_sync(~0u, out, 1);"),
     "2:28 a shuffle takes a number, and this is of type `float *`"},
    {KERNEL("atomicAdd(in, 1.0f);"), "2:11 `atomicAdd` takes no `const float *`"},
    {KERNEL("atomicMin(out, 1.0f);"), "2:11 `atomicMin` takes no `float *`"},
    {KERNEL("atomicAdd_block(out, 1.0f);"), "2:1 an atomic operation" REFUSED},
    {KERNEL("__popc(n);"), "warning 2:1 the value of this is computed, and not used"},
    {KERNEL("asm(\"nop;\");\n"
            "asm volatile(\"mov.u32 %0, %%laneid;\" : \"=r\"(n) :: \"memory\");"),
     ""},
    {KERNEL("asm(\"mov.u32 %0, 1;\" : \"=l\"(n));"),
     "2:29 \"=l\" stands for an integer or pointer of 8 bytes, and this is of type `int`"},
    {KERNEL("asm(\"mov.u32 %1, 1;\" : \"=r\"(n));"), "2:5 %1 in the assembly: it has 1 operands"},
    {KERNEL("asm(\"mov.u32 %0, %laneid;\" : \"=r\"(n));"),
     "2:5 a % in assembly is followed by the number of an operand"},
    {KERNEL("asm(\"nop;\" : \"=r\"(n + 1));"),
     "2:21 what is assigned to has to be a variable or an element"},
    {KERNEL("asm(\"nop;\" : : \"h\"(n));"), "2:16 the constraint \"h\" here" REFUSED},
    {KERNEL("volatile float *v = out;\nout = v;"),
     "3:7 what is assigned is of type `volatile float *`, and has to be `float *`"},
    {"template <typename T> __device__ T f(T x) { return x; }\n"
     "template <int N, typename T> __device__ T g(const T *x) { return x[N]; }\n"
     "__global__ void k(int *o) { o[0] = f<int>(1) + f(2) + g<0>(o) + g<0, int>(o); }\n",
     ""},
    {"template <typename T> __device__ T f(int x) { return x; }\n"
     "__global__ void k(int *o) { o[0] = f(2); }\n",
     "2:36 `f` is a template: its arguments are missing"},
    /* Cases that do not fit, and names of a for, as nvcc says them, too */
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
    /* Values and the format of printf: nvcc warns of the same lines */
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
    /* Of other kinds */
    {KERNEL("enum nothing x = 1;"), "2:6 there is no enum `nothing`"},
    {KERNEL("enum;"), "2:5 an enum needs a name, or { and its constants"},
    {KERNEL("enum e { A, 3 };"),
     "2:13 the name of a constant is missing before `3`\n3:1 this } closes nothing"},
    {KERNEL("enum e { A = 2147483647, B };"),
     "2:26 an enumerator of the page's compiler is an int"},
    {KERNEL("enum class e { A };"), "2:6 an enum class" REFUSED},
    {KERNEL("enum e : int { A };"), "2:8 an enum with a type of its own" REFUSED},
    {KERNEL("static_assert(n, \"no\");"),
     "2:15 the condition of static_assert has to be a constant"},
    {KERNEL("unsigned float x = 1;"), "2:1 these words are no type together"},
    {KERNEL("float t[-1];"), "2:9 an array cannot have -1 elements"},
    {KERNEL("float t[1 << 30][1 << 30];"), "2:11 an array cannot have 1073741824 elements"},
    {KERNEL("void t[4];"), "2:7 there is no array of `void`"},
    {KERNEL("int (*f)(int);"), "2:9 a pointer to a function" REFUSED},
    {KERNEL("n = sizeof(int x);"), "2:16 a type stands here, and `x` is too much"},
    {KERNEL("__align__(3) int x = 1;"), "2:12 an alignment is a power of two"},
    {KERNEL("n = (int){1};"), "2:10 a compound literal" REFUSED},
    {KERNEL("n = sizeof(void);"), "2:5 `void` has no size here"},
    {"__global__ {}\n", "1:12 a type is missing before `{`"},
    {"template __global__ void f<1>(int *);\n",
     "1:10 an instance of a template is missing after `template`"},
    {"__global__ void k(__shared__ int x) {}\n",
     "1:34 a parameter is not __shared__: each thread has its own"},
    {"__global__ void k(void x) {}\n", "1:24 a parameter cannot be of type `void`"},
    {"__global__ void k(int n, ...) {}\n", "1:26 a function of any number of arguments" REFUSED},
    {"__device__ int f(int n, int m = n) { return n; }\n",
     "1:33 a default that is no constant" REFUSED},
    {"__global__ __device__ void k(int *x) {}\n", "1:28 `k` is either __global__ or __device__"},
    {"__device__ void __launch_bounds__(128) f(int *x) {}\n",
     "1:40 __launch_bounds__ is for kernels"},
    {"__global__ void __launch_bounds__(2048) k(int *x) {}\n",
     "1:39 a block has 1 to 1024 threads"},
    {KERNEL("n = '\\q';"), "2:5 there is no such character after \\"},
    {KERNEL("n = 'ab';"), "2:5 one character stands between the quotes ' and '"},
    {KERNEL("n = '';"), "2:5 one character stands between the quotes ' and '"},
    {KERNEL("n = \"text\";"), "2:5 a string in device code stands only in printf"},
    {KERNEL("const char *s = \"text\";"), "2:17 a string in device code stands only in printf"},
    {KERNEL("out[0] = in[0] % 2;"), "2:16 `%` does not take `float` and `int`"},
    {KERNEL("out = out + in;"), "2:11 `+` does not take `float *` and `const float *`"},
    {KERNEL("n = &3;"), "2:5 & takes the address of a variable, and this is a value"},
    {KERNEL("n = *n;"), "2:5 * follows a pointer, and this is of type `int`"},
    {KERNEL("out[0] = ~in[0];"), "2:10 `~` does not take `float`"},
    {KERNEL("out[0] = n ? out : 1;"),
     "2:12 what ? chooses between is of one type, and not `float *` and `int`"},
    {KERNEL("out = (float *)in[0];"), "2:7 `float` cannot be cast to `float *`"},
    {KERNEL("n = (int)out;"), "2:5 `float *` cannot be cast to `int`"},
    {KERNEL("n = ((n;"), "2:7 a ) is missing before `;`"},
    {KERNEL("n = 1"), "2:5 a ; is missing after `1`"},
    {KERNEL("printf(n);"), "2:1 printf begins with a string"},
    {KERNEL("printf(\"%d\\n\", k);"), "2:16 the function `k` is named here, but not called"},
    {KERNEL("out[0] = abs(3u);"), "2:10 `abs` takes a number with a sign"},
    {"template <int N> __device__ int f(int x) { return N * x; }\n__global__ void k(int *x) { "
     "x[0] = f(1); }\n",
     "2:36 `f` is a template: its arguments are missing"},
    {"template <int N> __device__ int f(int x) { return N * x; }\n__global__ void k(int *x) { "
     "x[0] = f<1, 2>(1); }\n",
     "2:41 `>` is missing before `2`"},
    {"template <int N> __device__ int f(int x) { return N * x; }\n__global__ void k(int *x) { "
     "x[0] = f<x[0]>(1); }\n",
     "2:38 an argument of a template has to be a constant"},
    {"template <int N> __device__ int f(int x);\n__global__ void k(int *x) { x[0] = f<1>(1); "
     "}\n",
     "2:36 the template `f` has no body before this"},
    {"template <int... N> __global__ void k(int *x) { }\n",
     "1:14 a template of any number of parameters" REFUSED},
    {"template <float F> __global__ void k(int *x) { }\n", "1:11 a template on a `float`" REFUSED},
    {"template <int N> __global__ void k(int *x) { }\ntemplate <> __global__ void k<3>(int *x) "
     "{ }\n",
     "2:10 a template's special case" REFUSED},
    {"template <int N> __global__ void k(int *x) {}\ntemplate <int N> __global__ void k(float "
     "*x) {}\n",
     "2:34 a second template of this name" REFUSED},
    {KERNEL("n = std::min(n, 1);"), "2:5 the C++ library" REFUSED},
    {KERNEL("n = n[0];"), "2:5 only an array or a pointer has elements, and this is `int`"},
    {KERNEL("n = 3(4);"), "2:5 what stands before ( is no function"},
    {KERNEL("n = int;"), "2:5 a value is missing before the type `int`"},
    {KERNEL("if (int i = n) n = 1;"), "2:5 a declaration in a condition" REFUSED},
    {KERNEL("if constexpr (true) n = 1;"), "2:4 if constexpr" REFUSED},
    {KERNEL("for (float x : in) n = 1;"), "2:14 a for over a range" REFUSED},
    {KERNEL("#pragma unroll 0\nfor (int i = 0; i < n; i++) n--;"),
     "2:9 a loop is unrolled 1 to 1024 times"},
    {KERNEL("#pragma unroll\nn = 1;"), "2:9 #pragma unroll stands before a loop"},
    {KERNEL("switch (in[0]) { case 1: n = 2; }"), "2:9 a switch chooses by an integer"},
    {KERNEL("switch (n) n = 2;"), "2:12 a switch needs { and its cases"},
    {KERNEL("switch (n) { case 1: { case 2: n = 1; } }"),
     "2:24 a label stands directly between { and } of its switch"},
    {KERNEL("switch (n) { case 1 ... 3: n = 1; }"), "2:21 case with ..." REFUSED},
    {KERNEL("case 1: n = 1;"), "2:1 a label stands directly between { and } of its switch"},
    {"__device__ int f(int n) { return; }\n", "1:27 `f` returns a `int`, which is missing here"},
    {"__device__ void f(int n) { return n; }\n", "1:35 a void function returns nothing"},
    {KERNEL("typedef int whole;"), "2:1 a typedef in a function" REFUSED},
    {"__device__ int v = f(1);\n", "1:20 `f` is not declared here"},
    {KERNEL("int t[2] = {.x = 1};"), "2:13 an initialiser with a designator" REFUSED},
    {KERNEL("char t[4] = \"abc\";"), "2:13 an array that begins with a string" REFUSED},
    {KERNEL("int t[2] = 3;"), "2:12 an array begins with values in { and }"},
    {KERNEL("extern int x;"), "2:1 extern of a variable that is not __shared__" REFUSED},
    {KERNEL("__device__ int x;"), "2:1 a } is missing before this: the function `k` of line 1 "
                                  "has no end\n3:1 this } closes nothing"},
    {KERNEL("void x;"), "2:6 `x` is of type void, which has no values"},
    {"__global__ void k(int *x) { extern __shared__ float t[]; }\n__global__ void l(int *x) { "
     "extern __shared__ int t[]; }\n",
     "2:51 `t` is an array of `float` in another function"},
    {KERNEL("const int x;"), "2:11 `x` is const, and needs a value to begin with"},
    {KERNEL("int = 3;"), "2:5 a name is missing before `=`"},
    {KERNEL("int x:3;"), "2:6 a ; is missing before `:`"},
    {KERNEL("int n = 3;"), "2:5 `n` is declared a second time; the first time is in line 1"},
    {"__global__ void k(int *x) { x[0] = k; }\n",
     "1:36 the function `k` is named here, but not called"},
    {"template <int N> __global__ void k(int *x) {}\nint main() { int *x; k<<<1, 2>>>(x); }\n",
     "2:22 the kernel `k` is a template: its arguments are missing"},
    {"__device__ int f(int n)[4] { return 0; }\n", "1:24 a ; is missing before `[`"},
};

Test(cc_errors, each_is_said_where_it_is)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *said = said_of(rows[i].text);
        cr_expect_str_eq(said, rows[i].said, "of:\n%s\nit says:\n%s\nand not:\n%s", rows[i].text,
                         said, rows[i].said);
        free(said);
    }
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
    expect_status(0, "echo '__global__ void k(int *x) { *x == 1; }' >$t/w.cu");
    expect_status(0, UPCC "w.cu 2>&1 >/dev/null");
    expect("w.cu:1:32: warning: the value of this is computed, and not used\n");
}

Test(cc_command, refuses)
{
    static const char *const rows[][2] = {
        {"", "The name of a file is missing: upcc FILE.cu; --help says more."},
        {"k.cu l.cu", "\"l.cu\" is one argument too many; see --help."},
        {"--no k.cu", "\"--no\" is no option; --help lists them."},
        {"k.cu --include", "--include needs a value; --help says which."},
        {"none.cu", "\"none.cu\" cannot be read: No such file or directory."},
        {"h", "\"h\" cannot be read: Is a directory."},
        {"zero.cu", "\"zero.cu\" cannot be read: it holds zero bytes; save it as UTF-8."},
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

Test(cc_command, colours_on_a_terminal)
{
    if (run("command -v script >/dev/null") != 0) cr_skip_test("there is no script(1)");
    expect_status(0, "echo '__global__ void k(int *x) { x[0] = yes; }' >$t/e.cu;"
                     "echo '__global__ void k(int *x) { *x == 1; }' >$t/w.cu");
    expect_status(1, "unset NO_COLOR; script -qec \"build/cc/upcc --check $t/e.cu\" /dev/null");
    expect("e.cu:1:36: \033[1;31merror:\033[0m \033[1m`yes` is not declared here\033[0m\r\n");
    expect_status(0, "NO_COLOR= script -qec \"build/cc/upcc --check $t/w.cu\" /dev/null");
    expect("w.cu:1:32: \033[1;33mwarning:\033[0m \033[1mthe value of this is computed");
    expect_status(1, "NO_COLOR=1 script -qec \"build/cc/upcc --check $t/e.cu\" /dev/null");
    expect_not("\033[");
}
