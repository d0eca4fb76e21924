/* parser.c — words that CUDA C++ has and the subset has not, and names of the host's libraries. */
#include "parser.h"

#include <string.h>

/* A * at the end stands for any letters. */
struct word {
    const char *pattern, *what;
};

static const struct word REFUSED[] = {
    {"goto", "goto"},
    {"asm", "inline assembly"},
    {"__asm*", "inline assembly"},
    {"volatile", "volatile"},
    {"struct", "a struct"},
    {"class", "a class"},
    {"union", "a union"},
    {"auto", "auto"},
    {"decltype", "decltype"},
    {"typename", "a template on a type"},
    {"operator", "an operator of one's own"},
    {"namespace", "a namespace"},
    {"using", "using"},
    {"this", "a class"},
    {"new", "new"},
    {"delete", "delete"},
    {"try", "an exception"},
    {"throw", "an exception"},
    {"thread_local", "thread_local"},
    {"register", "register"},
    {"*_cast", "a cast of C++"},
    {"__managed__", "managed memory"},
    {"__grid_constant__", "__grid_constant__"},
    {"__attribute__", "__attribute__"},
    {"atomic*", "an atomic operation"},
    {"__shfl*", "a shuffle"},
    {"__reduce_*", "a reduction of a warp"},
    {"__match_*", "a vote"},
    {"__ballot*", "a vote"},
    {"__any*", "a vote"},
    {"__all_sync", "a vote"},
    {"__all", "a vote"},
    {"__activemask", "a vote"},
    {"__syncwarp", "__syncwarp()"},
    {"__syncthreads_*", "a barrier that counts"},
    {"__threadfence*", "a fence"},
    {"__ldg", "__ldg()"},
    {"cooperative_groups", "cooperative groups"},
    {"cg", "cooperative groups"},
    {"std", "the C++ library"},
    {"cub", "CUB"},
    {"thrust", "Thrust"},
    {"clock", "clock()"},
    {"clock64", "clock64()"},
    {"assert", "assert()"},
    {"__trap", "__trap()"},
    {"__half*", "a number of 16 bits"},
    {"half", "a number of 16 bits"},
    {"dim3", "dim3 in device code"},
    {"make_*", "a vector type"},
    {"__builtin_*", "a built-in function of the compiler"},
    {"__nanosleep", "__nanosleep()"},
};

static const char *const MATH[] = {
    "sin",
    "cos",
    "tan",
    "exp",
    "exp2",
    "log",
    "log2",
    "log10",
    "pow",
    "floor",
    "ceil",
    "round",
    "trunc",
    "fmod",
    "rint",
    "rsqrt",
    "tanh",
    "hypot",
    "cbrt",
    "isnan",
    "sinf",
    "cosf",
    "tanf",
    "expf",
    "exp2f",
    "logf",
    "log2f",
    "log10f",
    "powf",
    "floorf",
    "ceilf",
    "roundf",
    "truncf",
    "fmodf",
    "rintf",
    "rsqrtf",
    "tanhf",
    "copysignf",
    "isinf",
    "atan2f",
    "__popc",
    "__popcll",
    "__ffs",
    "__ffsll",
    "__clz",
    "__clzll",
    "__brev",
    "__mul24",
    "__fadd_rn",
    "__fmul_rn",
    "__expf",
    "__logf",
    "__sinf",
    "__cosf",
    "__powf",
    "__fdividef",
    "__saturatef",
    "__int_as_float",
    "__float_as_int",
    "__float_as_uint",
    "__uint_as_float",
    "__umulhi",
    "__mulhi",
};

static const char *const LIBRARY[] = {
    "malloc",
    "calloc",
    "realloc",
    "free",
    "memcpy",
    "memset",
    "memmove",
    "strlen",
    "strcmp",
    "strcpy",
    "puts",
    "putchar",
    "fprintf",
    "scanf",
    "exit",
    "abort",
    "rand",
    "srand",
    "time",
    "fopen",
    "fclose",
    "fputs",
    "qsort",
    "cout",
    "cerr",
    "endl",
    "vector",
    "string",
    "getenv",
    "atoi",
    "stderr",
    "stdout",
    "cudaMalloc",
    "cudaFree",
    "cudaMemcpy",
    "cudaMemset",
    "cudaDeviceSynchronize",
    "cudaGetLastError",
    "cudaGetErrorString",
};

const char *const BUILT_IN_NAMES[] = {
    "threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize", "__syncthreads",
    "printf",    "min",      "max",      "abs",     "sqrtf",    "fabsf",
    "fminf",     "fmaxf",    "fmaf",     "float",   "double",   "unsigned",
    "const",     "return",   "while",    "break",   "continue", "sizeof",
    "true",      "false",    NULL};

static bool matches(const struct token *token, const char *pattern)
{
    size_t length = strlen(pattern), size = (size_t)token->length;
    if (pattern[0] == '*')
        return size >= length - 1 &&
               memcmp(token->text + size - (length - 1), pattern + 1, length - 1) == 0;
    if (pattern[length - 1] == '*')
        return size >= length - 1 && memcmp(token->text, pattern, length - 1) == 0;
    return is_token(token, pattern);
}

static bool is_among(const struct token *token, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (is_token(token, words[i])) return true;
    return false;
}

/* float4, int2, uchar3 … */
static bool is_vector(const struct token *token)
{
    static const char *const ELEMENTS[] = {"float", "double", "int",      "uint",
                                           "char",  "uchar",  "short",    "ushort",
                                           "long",  "ulong",  "longlong", "ulonglong"};
    char last = token->text[token->length - 1];
    struct token element = *token;
    element.length--;
    return last >= '1' && last <= '4' &&
           is_among(&element, ELEMENTS, sizeof(ELEMENTS) / sizeof(ELEMENTS[0]));
}

const char *refused_word(struct parser *p, const struct token *token)
{
    for (size_t i = 0; i < sizeof(REFUSED) / sizeof(REFUSED[0]); i++)
        if (matches(token, REFUSED[i].pattern)) return REFUSED[i].what;
    if (is_vector(token)) return cc_format(p->arena, "the vector type %s", text_of(p, token));
    if (is_among(token, MATH, sizeof(MATH) / sizeof(MATH[0])))
        return cc_format(p->arena, "the function %s", text_of(p, token));
    return NULL;
}

bool is_library_name(const struct token *token)
{
    return is_among(token, LIBRARY, sizeof(LIBRARY) / sizeof(LIBRARY[0]));
}
