/*
 * program.c — main and what it calls of the host, as a kernel of one thread. Its functions are read
 * after the file, each when it is called first: so what main does not need may lie outside of the
 * subset.
 *
 *     cudaMalloc(&a, 8)        host_call("cudaMalloc", {&a, 8})
 *     k<<<2, 32>>>(a)          host_call("_Z1kPi", {2, 1, 1, 32, 1, 1, 0, a})
 */
#include "ast.h"
#include "parser.h"

#include <string.h>

/* common/tools/emu/ops/host_call.c does what these functions do. */
const char PROGRAM[] =
    "main dim3 upsweep_main "
    "enum cudaError { cudaSuccess, cudaErrorInvalidValue, cudaErrorMemoryAllocation };"
    "enum cudaMemcpyKind { cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost,"
    "    cudaMemcpyDeviceToDevice, cudaMemcpyDefault };"
    "enum { EXIT_SUCCESS, EXIT_FAILURE };"
    "typedef cudaError cudaError_t; typedef unsigned long cudaEvent_t;"
    "typedef unsigned long cudaStream_t; typedef unsigned dim3[3];"
    "extern \"C\" {"
    "void exit(int); void free(void *); void *malloc(size_t bytes);"
    "void *calloc(size_t count, size_t bytes) {"
    "  char *to = (char *)malloc(count *= bytes);"
    "  for (size_t i = 0; to && i < count; i++) to[i] = 0;"
    "  return to; }"
    "int atoi(const char *) { return 0; }" /* main has no arguments */
    "unsigned long long strtoull(const char *, char **, int) { return 0; }"
    "cudaError cudaMalloc(void *to, size_t bytes); cudaError cudaFree(void *);"
    "cudaError cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind);"
    "cudaError cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind,"
    "    cudaStream_t stream = 0);"
    "cudaError cudaMemset(void *to, int value, size_t bytes);"
    "cudaError cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream = 0);"
    "cudaError cudaDeviceSynchronize(); cudaError cudaGetLastError();"
    "cudaError cudaPeekAtLastError();"
    "cudaError cudaEventCreate(cudaEvent_t *) { return cudaSuccess; }" /* times are 0 */
    "cudaError cudaEventRecord(cudaEvent_t, cudaStream_t stream = 0) { return cudaSuccess; }"
    "cudaError cudaEventElapsedTime(float *to, cudaEvent_t, cudaEvent_t)"
    "{ return *to = 0, cudaSuccess; }"
    "cudaError cudaEventSynchronize(cudaEvent_t) { return cudaDeviceSynchronize(); }"
    "cudaError cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }"
    "const char *cudaGetErrorString(cudaError error) {"
    "  switch (error) {"
    "  case 0: return \"no error\";"
    "  case 1: return \"invalid argument\";"
    "  case 2: return \"out of memory\";"
    "  case 9: return \"invalid configuration argument\";"
    "  case 21: return \"invalid copy direction for memcpy\";"
    "  case 700: return \"an illegal memory access was encountered\";"
    "  case 701: return \"too many resources requested for launch\";"
    "  case 702: return \"the launch timed out and was terminated\";"
    "  case 716: return \"misaligned address\";"
    "  case 719: return \"unspecified launch failure\";"
    "  }"
    "  return \"unrecognized error code\"; }"
    "__global__ void upsweep_main() { exit(main(1, nullptr)); } }";

bool is_host_code(const struct parser *p) { return p->function != NULL && p->function->is_host; }

/* Does a file choose by __CUDA_ARCH__? It is preprocessed once, as for the device. */
static bool has_architecture(const struct parser *p, int file)
{
    const struct token *token = lex(p->diagnostics, file);
    while (token != NULL && !is_token(token, "__CUDA_ARCH__")) token = token->next;
    return token != NULL;
}

bool read_host(struct parser *p, const struct token *token, const struct name *name)
{
    struct token *here = p->token, *before = p->previous;
    struct scope *scope = p->scope;
    struct function *function = p->function;
    p->token = name->begin;
    p->scope = p->global;
    p->function = NULL;
    if (sees(p, "<")) refuse(p, token, "a template of a function of the host");
    if (name->is_again) refuse_overload(p, token);
    const struct specifiers s = read_specifiers(p);
    const struct declarator d = read_declarator(p, &s);
    if (name->is_function && d.name != NULL)
        read_function(p, &s, d, NULL, NULL);
    else if (p->stumbled_at == NULL)
        read_variables(p, &s, d);
    const struct name *now = find_name(p, token);
    if (now->kind == NAME_FUNCTION && is_token(token, "main") && now->function->parameter_count > 2)
        refuse(p, token, "main with more than two parameters");
    if (is_token(token, "main") && has_architecture(p, name->begin->at.file))
        refuse(p, token, "main in a file with __CUDA_ARCH__");
    bool is_right = p->stumbled_at == NULL && now->kind != NAME_HOST;
    p->stumbled_at = NULL;
    p->token = here;
    p->previous = before;
    p->scope = scope;
    p->function = function;
    return is_right;
}

/* ---- dim3 ------------------------------------------------------------------------------------ */

bool is_dim3(const struct type *type) { return type->kind == TYPE_ARRAY && type->name != NULL; }

void read_dim3(struct parser *p, struct expr **parts, bool is_list)
{
    const struct type *number = type_basic(TYPE_UNSIGNED);
    is_list |= takes(p, "dim3");
    const char *end = sees(p, "{") ? "}" : ")";
    int count = 0;
    if (is_list) go_past(p);
    for (int k = 0; k < 3; k++) parts[k] = integer(p, number, 1, p->token->at);
    do {
        if (is_list && sees(p, end)) break;
        struct expr *e = read_conditional(p);
        for (int k = 0; k < 3 && is_dim3(e->type); k++) {
            struct expr *index = integer(p, number, k, e->at);
            struct expr *part = build_binary(p, OP_ADD, value_of(p, e), index, e->at);
            parts[k] = value_of(p, dereference(p, part, e->at));
        }
        if (!is_dim3(e->type)) parts[count++] = fit(p, e, number, "a number of blocks or threads");
    } while (is_list && count < 3 && takes(p, ","));
    if (is_list) needs(p, end);
}

/* ---- launches -------------------------------------------------------------------------------- */

struct expr *call_host(struct parser *p, struct expr *call, const char *name)
{
    struct expr *string = new_expr(p, EXPR_STRING, NULL, call->at);
    struct expr **arguments =
        arena_take(p->arena, ((size_t)call->argument_count + 1) * sizeof(*arguments));
    string->string = name;
    string->length = (int64_t)strlen(name);
    string->type = type_pointer(p->arena, type_basic(TYPE_CHAR));
    arguments[0] = string;
    if (call->argument_count > 0)
        memcpy(arguments + 1, call->arguments, (size_t)call->argument_count * sizeof(*arguments));
    *call = (struct expr){.kind = EXPR_BUILTIN, .type = call->type, .at = call->at,
                          .arguments = arguments, .argument_count = call->argument_count + 1};
    call->builtin = BUILTIN_HOST;
    return call;
}

struct expr *read_launch(struct parser *p, struct token *name, struct function *kernel)
{
    enum { SHAPE = 7 };
    const struct type *bytes = type_basic(TYPE_UNSIGNED_LONG);
    struct expr *call = new_expr(p, EXPR_CALL, type_basic(TYPE_VOID), name->at);
    for (; call->argument_count < SHAPE; call->argument_count++)
        call->arguments = cc_grow(p->arena, call->arguments, (size_t)call->argument_count,
                                  sizeof(*call->arguments));
    needs(p, "<<<");
    read_dim3(p, call->arguments, false);
    needs(p, ",");
    read_dim3(p, call->arguments + 3, false);
    bool is_dynamic = takes(p, ",");
    call->arguments[6] = is_dynamic ? fit(p, read_conditional(p), bytes, "a number of bytes")
                                    : integer(p, bytes, 0, name->at);
    if (takes(p, ",")) read_conditional(p); /* a stream: all is in order */
    needs(p, ">>>");
    read_arguments(p, call);
    if (p->stumbled_at != NULL) return unknown(p, name->at);
    int count = call->argument_count - SHAPE;
    if (count != kernel->parameter_count && p->diagnostics->errors == 0) /* nor find_launches */
        complain(p, name->at, NULL, "the kernel `%s` takes %d arguments, and gets %d",
                 kernel->name, kernel->parameter_count, count);
    const struct symbol *parameter = kernel->parameters;
    for (int i = SHAPE; i < call->argument_count && parameter != NULL; i++) {
        if (parameter->type->kind == TYPE_STRUCT) refuse(p, name, "a launch with a struct in main");
        call->arguments[i] = fit(p, call->arguments[i], parameter->type, "this argument");
        parameter = parameter->next;
    }
    note_call(p, kernel, name->at);
    return call_host(p, call, kernel->mangled);
}
