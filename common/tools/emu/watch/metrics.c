/* metrics.c — the metrics by their names, computed from the counters. */
#include "count.h"

static double wavefronts_of(const struct emu_shared *s) { return (double)s->wavefronts; }
static double conflicts(const struct emu_shared *s) { return wavefronts_of(s) - (double)s->ideal; }
static double source_ideal_of(const struct emu_shared *s) { return (double)s->source_ideal; }
static double excessive(const struct emu_shared *s)
{
    return wavefronts_of(s) - source_ideal_of(s);
}

static double ratio(double of, double to) { return to > 0 ? of / to : 0; }

/* Loads, stores, atomics and copies together, as on ncu's Source page. */
#define ALL(f, c)                                                                                  \
    (f(&(c)->shared_ld) + f(&(c)->shared_st) + f(&(c)->shared_atom) + f(&(c)->shared_copy))

/* PTX instructions of a class; for METRICS below. */
#define CLASS_METRIC(name, word, help)                                                             \
    METRIC(class_##name, "emu__ptx_inst_executed_class_" word ".sum", "inst", false, false, help,  \
           (double)c->classes[EMU_CLASS_##name])

/* METRIC(function, name, unit, by default, is a ratio, help, value computed from the counts c) */
#define METRICS                                                                                    \
    METRIC(conflicts_ld, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", "", true,     \
           false, "bank conflicts of loads from shared memory", conflicts(&c->shared_ld))          \
    METRIC(conflicts_st, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", "", true,     \
           false, "bank conflicts of stores to shared memory", conflicts(&c->shared_st))           \
    METRIC(wavefronts_ld, "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", "", true, false, \
           "wavefronts of loads from shared memory", wavefronts_of(&c->shared_ld))                 \
    METRIC(wavefronts_st, "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", "", true, false, \
           "wavefronts of stores to shared memory", wavefronts_of(&c->shared_st))                  \
    METRIC(requests_ld, "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "request", true, false, \
           "warp instructions that load from global memory, cp.async included",                    \
           (double)c->global_ld.requests)                                                          \
    METRIC(requests_st, "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", "request", true, false, \
           "warp instructions that store to global memory", (double)c->global_st.requests)         \
    METRIC(sectors_ld, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "sector", true, false,    \
           "32-byte sectors that those loads touch", (double)c->global_ld.sectors)                 \
    METRIC(sectors_st, "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", "sector", true, false,    \
           "32-byte sectors that those stores touch", (double)c->global_st.sectors)                \
    METRIC(per_request_ld, "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio", \
           "sector/request", false, true, "sectors per load request",                              \
           ratio((double)c->global_ld.sectors, (double)c->global_ld.requests))                     \
    METRIC(per_request_st, "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio", \
           "sector/request", false, true, "sectors per store request",                             \
           ratio((double)c->global_st.sectors, (double)c->global_st.requests))                     \
    METRIC(shared_wavefronts, "memory_l1_wavefronts_shared", "", false, false,                     \
           "wavefronts of shared memory: ncu's Source page", ALL(wavefronts_of, c))                \
    METRIC(shared_ideal, "memory_l1_wavefronts_shared_ideal", "", false, false,                    \
           "the Source page's ideal: wavefronts that the active lanes' bytes would fill",          \
           ALL(source_ideal_of, c))                                                                \
    METRIC(shared_excessive, "derived__memory_l1_wavefronts_shared_excessive", "", false, false,   \
           "wavefronts beyond that ideal; may exceed the bank conflicts", ALL(excessive, c))       \
    METRIC(shared_loads, "smsp__sass_inst_executed_op_shared_ld.sum", "inst", false, false,        \
           "warp instructions that load from shared memory, ldmatrix not included",                \
           (double)(c->shared_ld.instructions - c->ldmatrix.instructions))                         \
    METRIC(shared_stores, "smsp__sass_inst_executed_op_shared_st.sum", "inst", false, false,       \
           "warp instructions that store to shared memory, stmatrix not included",                 \
           (double)(c->shared_st.instructions - c->stmatrix.instructions))                         \
    METRIC(fadd, "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", "inst", true, false,       \
           "threads that executed a float add or subtract", (double)c->adds[EMU_ADD_F32])          \
    METRIC(dadd, "smsp__sass_thread_inst_executed_op_dadd_pred_on.sum", "inst", false, false,      \
           "the same for double", (double)c->adds[EMU_ADD_F64])                                    \
    METRIC(hadd, "smsp__sass_thread_inst_executed_op_hadd_pred_on.sum", "inst", false, false,      \
           "the same for half", (double)c->adds[EMU_ADD_F16])                                      \
    METRIC(active_lanes, "smsp__thread_inst_executed_per_inst_executed.ratio", "", false, true,    \
           "active lanes per PTX warp instruction",                                                \
           ratio((double)c->lanes, (double)c->instructions))                                       \
    METRIC(add_i32, "emu__thread_inst_executed_op_iadd32.sum", "inst", false, false,               \
           "threads that executed a 32-bit integer add or subtract", (double)c->adds[EMU_ADD_I32]) \
    METRIC(add_i64, "emu__thread_inst_executed_op_iadd64.sum", "inst", false, false,               \
           "the same for 64 bits", (double)c->adds[EMU_ADD_I64])                                   \
    METRIC(barriers, "emu__inst_executed_op_barrier.sum", "inst", true, false,                     \
           "warp instructions that are barriers of a block", (double)c->barriers)                  \
    METRIC(instructions, "emu__ptx_inst_executed.sum", "inst", false, false,                       \
           "PTX warp instructions; a GPU executes others, which ptxas makes of them",              \
           (double)c->instructions)                                                                \
    CLASS_METRIC(INTEGER, "integer", "of those, integer arithmetic")                               \
    CLASS_METRIC(F16, "f16", "of those, arithmetic on 16-bit floats")                              \
    CLASS_METRIC(F32, "f32", "of those, arithmetic on floats")                                     \
    CLASS_METRIC(F64, "f64", "of those, arithmetic on doubles")                                    \
    CLASS_METRIC(LOGIC, "logic", "of those, logic and shifts")                                     \
    CLASS_METRIC(COMPARE, "compare", "of those, comparisons and selections")                       \
    CLASS_METRIC(CONVERT, "convert", "of those, conversions")                                      \
    CLASS_METRIC(MOVE, "move", "of those, moves")                                                  \
    CLASS_METRIC(LOAD, "load", "of those, loads of any state space")                               \
    CLASS_METRIC(STORE, "store", "of those, stores to any state space")                            \
    CLASS_METRIC(ATOMIC, "atomic", "of those, atomics")                                            \
    CLASS_METRIC(COPY, "copy", "of those, asynchronous copies")                                    \
    CLASS_METRIC(WARP, "warp", "of those, shuffles, votes, reductions of a warp")                  \
    CLASS_METRIC(SYNC, "sync", "of those, barriers and fences")                                    \
    CLASS_METRIC(MATRIX, "matrix", "of those, of tensor cores")                                    \
    CLASS_METRIC(CONTROL, "control", "of those, branches, calls, exits")                           \
    CLASS_METRIC(OTHER, "other", "of those, none of these")                                        \
    METRIC(atom_wavefronts, "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum", "", false,   \
           false, "wavefronts of atomics on shared memory", wavefronts_of(&c->shared_atom))        \
    METRIC(atom_conflicts, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_atom.sum", "",       \
           false, false, "bank conflicts of atomics on shared memory", conflicts(&c->shared_atom)) \
    METRIC(atom_only_requests, "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum", "request",     \
           false, false, "atomics on global memory with a result",                                 \
           (double)c->global_atom.requests)                                                        \
    METRIC(atom_sectors, "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum", "sector", false,      \
           false, "sectors of those", (double)c->global_atom.sectors)                              \
    METRIC(red_only_requests, "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum", "request",       \
           false, false, "atomics on global memory without one", (double)c->global_red.requests)   \
    METRIC(red_sectors, "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum", "sector", false, false, \
           "sectors of those", (double)c->global_red.sectors)                                      \
    METRIC(copy_conflicts,                                                                         \
           "smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_ldgsts.sum", "", false,    \
           false, "bank conflicts of cp.async, where it reads and where it writes",                \
           conflicts(&c->shared_copy))                                                             \
    METRIC(copy_wavefronts, "emu__wavefronts_mem_shared_op_ldgsts.sum", "", false, false,          \
           "wavefronts of cp.async; ncu has more in some copies with .cg",                         \
           wavefronts_of(&c->shared_copy))                                                         \
    METRIC(copy_requests, "smsp__sass_l1tex_t_requests_pipe_lsu_mem_global_op_ldgsts.sum",         \
           "request", false, false, "warp instructions cp.async that read",                        \
           (double)c->copies.requests)                                                             \
    METRIC(copy_sectors, "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ldgsts.sum", "sector", \
           false, false, "sectors of those", (double)c->copies.sectors)                            \
    METRIC(copy_instructions, "smsp__sass_inst_executed_op_ldgsts.sum", "inst", false, false,      \
           "warp instructions cp.async", (double)c->shared_copy.instructions)                      \
    METRIC(cached_requests, "l1tex__t_requests_pipe_lsu_mem_global_op_ldgsts_cache_access.sum",    \
           "request", false, false, "warp instructions cp.async.ca",                               \
           (double)c->copies.cached_requests)                                                      \
    METRIC(cached_sectors, "l1tex__t_sectors_pipe_lsu_mem_global_op_ldgsts_cache_access.sum",      \
           "sector", false, false, "sectors of those", (double)c->copies.cached_sectors)           \
    METRIC(row_loads, "smsp__sass_inst_executed_op_ldsm.sum", "inst", false, false,                \
           "warp instructions ldmatrix, and LDSM for loads of wmma",                               \
           (double)c->ldmatrix.instructions)                                                       \
    METRIC(row_load_wavefronts,                                                                    \
           "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldsm.sum", "", false, false,   \
           "wavefronts of those, which are part of op_ld", wavefronts_of(&c->ldmatrix))            \
    METRIC(row_load_conflicts,                                                                     \
           "smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_ldsm.sum", "", false,      \
           false, "bank conflicts of those", conflicts(&c->ldmatrix))                              \
    METRIC(row_stores, "smsp__sass_inst_executed_op_shared_stsm.sum", "inst", false, false,        \
           "warp instructions stmatrix", (double)c->stmatrix.instructions)                         \
    METRIC(row_store_wavefronts,                                                                   \
           "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_stsm.sum", "", false, false,   \
           "wavefronts of those, which are part of op_st", wavefronts_of(&c->stmatrix))            \
    METRIC(row_store_conflicts,                                                                    \
           "smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_stsm.sum", "", false,      \
           false, "bank conflicts of those", conflicts(&c->stmatrix))                              \
    METRIC(local_requests_ld, "l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum", "request", false,  \
           false, "requests of loads from local memory, one per 4-byte word",                      \
           (double)c->local_ld.requests)                                                           \
    METRIC(local_sectors_ld, "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum", "sector", false,     \
           false, "sectors of those", (double)c->local_ld.sectors)                                 \
    METRIC(local_requests_st, "l1tex__t_requests_pipe_lsu_mem_local_op_st.sum", "request", false,  \
           false, "requests of stores to local memory, one per 4-byte word",                       \
           (double)c->local_st.requests)                                                           \
    METRIC(local_sectors_st, "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum", "sector", false,     \
           false, "sectors of those", (double)c->local_st.sectors)                                 \
    METRIC(constant_divergent, "sm__idc_divergent_instructions.sum", "", false, false,             \
           "loads from constant memory by several addresses", (double)c->constant_divergent)       \
    METRIC(constant_replays, "sm__idc_divergent_instruction_replays.sum", "", false, false,        \
           "repetitions of those, one for each further address", (double)c->constant_replays)      \
    METRIC(atom_requests, "emu__requests_mem_global_op_atom_red.sum", "request", false, false,     \
           "warp instructions that are atomics on global memory",                                  \
           (double)(c->global_atom.requests + c->global_red.requests))                             \
    METRIC(bytes_ld, "emu__bytes_mem_global_op_ld.sum", "byte", false, false,                      \
           "bytes that lanes loaded from global memory", (double)c->global_ld.bytes)               \
    METRIC(bytes_st, "emu__bytes_mem_global_op_st.sum", "byte", false, false,                      \
           "bytes that lanes stored to global memory", (double)c->global_st.bytes)                 \
    METRIC(moved_ld, "emu__bytes_moved_global_op_ld.sum", "byte", false, false,                    \
           "bytes of the sectors, or by --model of the transactions, of loads",                    \
           (double)c->global_ld.moved)                                                             \
    METRIC(moved_st, "emu__bytes_moved_global_op_st.sum", "byte", false, false,                    \
           "the same of stores", (double)c->global_st.moved)                                       \
    METRIC(utilization_ld, "emu__bus_utilization_global_op_ld.ratio", "", false, true,             \
           "with --model: of the bytes that loads moved, the part that was needed",                \
           ratio((double)c->global_ld.needed, (double)c->global_ld.moved))                         \
    METRIC(utilization_st, "emu__bus_utilization_global_op_st.ratio", "", false, true,             \
           "the same of stores", ratio((double)c->global_st.needed, (double)c->global_st.moved))

#define METRIC(function, name, unit, by_default, is_ratio, help, value)                            \
    static double function(const struct emu_counts *c) { return value; }
METRICS
#undef METRIC

#define METRIC(function, name, unit, by_default, is_ratio, help, value)                            \
    {name, unit, help, by_default, is_ratio, function},
static const struct metric metrics[] = {METRICS};
#undef METRIC

const struct metric *metric_at(size_t index)
{
    return index < sizeof metrics / sizeof *metrics ? &metrics[index] : NULL;
}

/* The metric whose name is the first `length` characters of `name`, or NULL. */
static const struct metric *find(const char *name, size_t length)
{
    const struct metric *m;
    for (size_t i = 0; (m = metric_at(i)) != NULL; i++)
        if (strlen(m->name) == length && memcmp(m->name, name, length) == 0) return m;
    return NULL;
}

static bool contains(const struct metric *const list[], size_t count, const struct metric *m)
{
    for (size_t i = 0; i < count; i++)
        if (list[i] == m) return true;
    return false;
}

size_t metrics_choose(const char *names, const struct metric *chosen[], char *wrong, size_t size)
{
    size_t count = 0;
    const struct metric *m;
    if (names == NULL) {
        for (size_t i = 0; (m = metric_at(i)) != NULL; i++)
            if (m->by_default) chosen[count++] = m;
        return count;
    }
    for (;;) {
        size_t length = strcspn(names, ",");
        m = find(names, length);
        if (m == NULL) {
            snprintf(wrong, size, "%.*s", (int)length, names);
            return 0;
        }
        if (!contains(chosen, count, m)) chosen[count++] = m;
        if (names[length] == '\0') return count;
        names += length + 1;
    }
}
