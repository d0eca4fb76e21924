/*
 * test_cc_passes.c — what the passes of the compiler make of a few lines: how many of an
 * instruction stand in PTX.
 */
#include "compiled.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

/* The body of a kernel with the parameters (float *p, const float *q, float a, float b, float c,
 * int n), in which t is the thread's number and s a shared array; and an instruction, and how often
 * it stands in PTX. */
struct expectation {
    const char *body, *instruction;
    int count;
};

static int times(const char *text, const char *word)
{
    int count = 0;
    for (const char *at = text; (at = strstr(at, word)); at += strlen(word)) count++;
    return count;
}

static void expect(const struct expectation *e)
{
    char text[2000];
    snprintf(text, sizeof text,
             "__global__ void k(float *p, const float *q, float a, float b, float c, int n)\n"
             "{\n    extern __shared__ __align__(16) float s[];\n"
             "    int t = threadIdx.x;\n    %s\n}\n",
             e->body);
    struct cc_result *result = compiled("k.cu", text);
    cr_assert(result->ptx, "not compiled: %s", e->body);
    cr_expect_eq(times(result->ptx, e->instruction), e->count, "%s: %d of \"%s\", not %d:\n%s",
                 e->body, times(result->ptx, e->instruction), e->instruction, e->count,
                 result->ptx);
    cc_free(result);
}

static const struct expectation table[] = {
    /* Loads */
    {"p[0] = q[t] + q[t];", "ld.global", 1},
    {"p[0] = s[t]; p[1] = s[t];", "ld.shared", 1},            // global is not shared
    {"s[t] = a; p[0] = s[t];", "ld.shared", 0},               // the stored value
    {"s[t] = a; s[n] = b; p[0] = s[t];", "ld.shared", 1},     // n may be t
    {"s[t] = a; s[t + 1] = b; p[0] = s[t];", "ld.shared", 0}, // t + 1 is not t
    {"s[t] = a; __syncthreads(); p[0] = s[t];", "ld.shared", 1},
    {"float x = q[0]; p[n] = a; p[1] = x + q[0];", "ld.global", 2}, // p may be q
    {"for (int i = 0; i < n; i++) s[i] = q[7];", "ld.global", 1},
    // a or b, by the way that was taken
    {"if (n) { s[t] = a; p[1] = c; } else { s[t] = b; p[2] = c; } p[0] = s[t];", "mov.f32", 2},
    /* Strings differ by their text */
    {"printf(\"one\"); printf(\"two\");", ".global .align 1 .b8 $str", 2},
    {"if (n) printf(\"a\"); else printf(\"b\");", ".global .align 1 .b8 $str", 2},
    /* Stores */
    {"p[0] = a; p[0] = b;", "st.global", 1},
    {"p[0] = a; p[1] = q[0]; p[0] = b;", "st.global", 3},
    {"s[t] = a; __syncthreads(); s[t] = b;", "st.shared", 2},
    {"int x[2]; x[0] = n; x[1] = t; p[0] = x[1];", ".local", 0},
    {"int x[4]; x[n & 3] = t; p[0] = x[1];", "ld.local", 1},
    /* Neighbours */
    {"s[2 * t] = a; s[2 * t + 1] = b;", "st.shared.v2", 1},
    {"s[4 * t] = a; s[4 * t + 1] = b; s[4 * t + 2] = c; s[4 * t + 3] = a;", "st.shared.v4", 1},
    {"s[t] = a; s[t + 1] = b;", "v2", 0}, // no multiple of 8 bytes
    {"s[2 * t + 1] = a; s[2 * t + 2] = b;", "v2", 0},
    {"p[2 * t] = a; p[2 * t + 1] = b;", "v2", 0},              // p is a multiple of 4 only
    {"s[2 * t] = a; p[0] = s[n]; s[2 * t + 1] = b;", "v2", 0}, // n may be 2 t
    {"p[t] = s[2 * t] + s[2 * t + 1];", "ld.shared.v2", 1},
    /* Branches */
    {"if (t > n) a = a + b; p[t] = a;", "selp", 1},
    {"if (t > n) a = a / b; p[t] = a;", "selp", 0}, // a division takes long
    {"if (t > n) a = q[t]; p[t] = a;", "selp", 0},  // and so may an access
    {"if (t > n) s[t] = q[t] + q[n]; else s[t] = q[t];", "ld.global", 2},
    {"if (t > n) s[t] = q[t] + q[n]; else s[t] = q[t];", "st.shared", 1},
    {"if (n) s[t] = a; else s[t] = b;", "st.shared", 1},
    {"if (t > n) __syncthreads(); else __syncthreads();", "bar.sync", 2},
    {"for (int i = 0; i < n; i++) __syncthreads();", "bar.sync", 1},
    {"while (n-- > 0) { if (n == t) continue; __syncthreads(); }", "bar.sync", 1},
    /* Sums */
    {"p[0] = a * b + c;", "fma.rn.f32", 1},
    {"p[0] = a * b - c;", "fma.rn.f32", 0}, // nvcc leaves it to ptxas
    {"p[0] = a * b + c; p[1] = a * b;", "fma.rn.f32", 0},
    {"p[0] = a * b + c; p[1] = a * b + 1;", "fma.rn.f32", 2},
    {"p[0] = a * 2;", "add.f32", 1},
    {"p[0] = a / 3;", "div.rn.f32", 1},
    {"p[0] = 1 + 2 * 3 - 7;", "add.", 0},
    {"p[0] = sqrtf(a);", "sqrt.rn.f32", 1},
    {"for (int i = 0; i < n; i++) c += a * b; p[0] = c;", "fma", 0}, // a * b leaves the loop
    /* Loops */
    {"for (int i = 0; i < 3; i++) p[i] = a;", "st.global", 3},
    {"for (int i = 0; i < n; i++) p[i] = a;", "st.global", 1},
    {"for (int i = 0; i < 3; i++) for (int j = 2; j > i; j--) p[i + j] = a;", "st.global", 3},
    {"for (int i = 64; i > 0; i >>= 1) __syncthreads();", "bar.sync", 7},
    {"for (int i = 0; i < 1000; i++) p[i] = a;", "st.global", 1}, // too many copies
    {"\n#pragma unroll 1\nfor (int i = 0; i < 3; i++) p[i] = a;", "st.global", 1},
    {"\n#pragma unroll 2\nfor (int i = 0; i < 3; i++) p[i] = a;", "st.global", 1},
    {"\n#pragma unroll\nfor (int i = 0; i < 3; i++) p[i] = a;", "st.global", 3},
    {"for (int i = 0; i < 3; i++) { if (q[i] > a) break; p[i] = a; }", "st.global", 3},
    {"int i = 0; for (; i < 3; i++) if (q[i] > a) break; p[i] = a;", "ld.global", 3},
    {"int x[3]; for (int i = 0; i < 3; i++) x[i] = t; p[0] = x[1];", ".local", 0},
    {"for (int i = 0; i < 2; i++) c += q[t]; p[0] = c;", "ld.global", 1},
    {"for (int i = 0; i < n; i++) c += 1; p[0] = c;", "bra", 2},
    {"while (q[0] > a) { n++; } p[0] = a;", "bra", 2}, // it may not end
    /* Conversions */
    {"unsigned short u = (signed char)n; p[0] = u;", "cvt.u32.u16", 1}, // 65535 for -1
    {"unsigned short u = (unsigned char)n; p[0] = u;", "cvt.u32.u16", 0},
    {"p[0] = float(n);", "cvt.rn.f32.s32", 1},
    /* Addresses of an unsigned index may wrap: (unsigned)n + 1u may be 0, so that its address is
     * not that of n and 4 bytes more. */
    {"p[(unsigned)n + 1u] = a;", "+4]", 0},
    {"p[n + 1] = a;", "+4]", 1},
    {"s[(unsigned)n + 1u] = a;", "+4]", 1}, // shared addresses have 32 bits
    /* Divisions without a result are left to the machine */
    {"n = 1 / 0; p[n] = a;", "div.s32", 1},
    {"n = 1 % 0; p[n] = a;", "rem.s32", 1},
    {"n = (-2147483647 - 1) / -1; p[n] = a;", "div.s32", 1},
    {"n = 7 / 2; p[n] = a;", "div.s32", 0},
    /* A sum that is not needed may overflow: n + 2147483637 is computed for x whether t > 5 or not;
     * y, which is equal, may overflow. */
    {"int x = t > 5 ? (n + 2147483632) + 5 : 0; p[0] = x;"
     "int y = (int)(((unsigned)n + 2147483632u) + 5u); p[y + 2147483648l] = a;",
     "8589934592", 1},
    /* A pointer is chosen in a loop that is unrolled: x points to s or to p, and so does y. */
    {"float *x, *y; for (int i = 0; i < 1; i++)"
     "    if (q[t] > a) { x = s; p[1] = b; } else { x = p; p[2] = b; }"
     "if (q[n] > c) { y = x; p[3] = b; } else { y = s; p[4] = b; } y[7] = a;",
     "st.shared", 0},
};

Test(cc_passes, what_stands_in_ptx)
{
    for (size_t k = 0; k < sizeof table / sizeof *table; k++) expect(&table[k]);
}
