/* functions.c — the table of scan.h's functions. */
#include "scan.h"

#define CALL(name, ...)                                                                            \
    static cudaError_t call_##name(const struct scan_call *c)                                      \
    {                                                                                              \
        return scan_##name(c->workspace, c->bytes, c->out, c->in, __VA_ARGS__ c->n, c->options,    \
                           c->stream);                                                             \
    }
#define CALL_ONE(name, In, Out) CALL(name, )
SCAN_WITH_ALL_HEADS(CALL_ONE)
SCAN_WITH_SOME_HEADS(CALL_ONE)
CALL(affine_f32, c->second, )
CALL(affine_f64, c->second, )
CALL(decay_f32, (float)c->keep, (float)c->take, )
CALL(decay_f64, c->keep, c->take, )
CALL(sight_f32, c->second, c->eye, )

#define ROW(name, In, second, Out, all_heads)                                                      \
    {#name, sizeof(In), second, sizeof(Out), (In)0.5 != 0, all_heads, call_##name},
#define ALL_HEADS(name, In, Out)  ROW(name, In, 0, Out, true)
#define SOME_HEADS(name, In, Out) ROW(name, In, 0, Out, false)
const struct scan_function scan_functions[] = {
    SCAN_WITH_ALL_HEADS(ALL_HEADS) SCAN_WITH_SOME_HEADS(SOME_HEADS)
    ROW(affine_f32, float, sizeof(float), float, false)
    ROW(affine_f64, double, sizeof(double), double, false)
    ROW(decay_f32, float, 0, float, false)
    ROW(decay_f64, double, 0, double, false)
    ROW(sight_f32, float, sizeof(float), int32_t, false)
    {0}};
