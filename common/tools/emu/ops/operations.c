/* operations.c — finds operations by key, in the tables for this processor. */
#include "ops.h"
#if !defined __x86_64__
#endif

/* ---- the tables for this processor */

#define DECLARE(isa)                                                                               \
    extern const struct op_table ops_integer_##isa, ops_float_##isa, ops_compare_##isa,            \
        ops_bits_##isa, ops_move_##isa, ops_convert_##isa, ops_access_##isa, ops_half_##isa,       \
        ops_convert_small_##isa, ops_video_##isa, ops_param_##isa, ops_atomic_##isa,               \
        ops_address_##isa, ops_rules_##isa, ops_local_##isa, ops_texture_##isa,                    \
        ops_surface_##isa, ops_approx_##isa, ops_divide_##isa;
#define TABLES(isa)                                                                                \
    {                                                                                              \
        &ops_integer_##isa, &ops_float_##isa, &ops_compare_##isa, &ops_bits_##isa,                 \
            &ops_move_##isa, &ops_convert_##isa, &ops_access_##isa, &ops_half_##isa,               \
            &ops_convert_small_##isa, &ops_video_##isa, &ops_param_##isa, &ops_atomic_##isa,       \
            &ops_address_##isa, &ops_rules_##isa, &ops_local_##isa, &ops_texture_##isa,            \
            &ops_surface_##isa, &ops_approx_##isa, &ops_divide_##isa                               \
    }
enum { TABLE_COUNT = 19 };

#if defined EMU_HAS_base
DECLARE(base)
static const struct op_table *const tables_base[TABLE_COUNT] = TABLES(base);
#endif
#if defined EMU_HAS_v3
DECLARE(v3)
static const struct op_table *const tables_v3[TABLE_COUNT] = TABLES(v3);
#endif

/* ---- what code outside of the tables calls */

#if defined EMU_HAS_base
#define ANY(name) name##_base
#else
#define ANY(name) name##_v3
#endif

uint32_t ANY(access_door)(struct warp *, const struct insn *, struct access *);
uint32_t access_door_any(struct warp *w, const struct insn *i, struct access *access)
{
    return ANY(access_door)(w, i, access);
}

bool ANY(access_combine)(const struct insn *, void *at, const void *operand);
bool access_combine_any(const struct insn *i, void *at, const void *operand)
{
    return ANY(access_combine)(i, at, operand);
}

/* ---- operations by key */

static const struct op_table *const *tables(void)
{
#if defined EMU_HAS_v3
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
        __builtin_cpu_supports("bmi2"))
        return tables_v3;
#endif
#if defined EMU_HAS_base
    return tables_base;
#else
    fprintf(stderr, "emu: this CPU lacks AVX2, FMA or BMI2, for which this emulator was built; "
                    "`make emu` builds it for this one, too\n");
    exit(EXIT_FAILURE);
#endif
}

static const struct op *find_exact(const char *key)
{
    const struct op_table *const *all = tables();
    for (int t = 0; t < TABLE_COUNT; t++)
        for (size_t k = 0; k < all[t]->count; k++)
            if (!strcmp(all[t]->ops[k].key, key)) return &all[t]->ops[k];
    return NULL;
}

const struct op *op_find(const char *key)
{
    char other[64];
    const struct op *op = find_exact(key);
    const char *type = strrchr(key, '.');
    if (op || !type || strlen(key) >= sizeof other) return op;

    /* Signed and unsigned addition are one operation, and bits are unsigned numbers. */
    strcpy(other, key);
    char *kind = other + (type - key) + 1;
    if (*kind != 's' && *kind != 'b' && *kind != 'f') return NULL;
    /* Only moves and selections of floats are found as unsigned operations: they move bits. */
    if (*kind == 'f' && strncmp(key, "mov.", 4) && strncmp(key, "selp.", 5)) return NULL;
    *kind = 'u';
    return find_exact(other);
}

#if !defined __x86_64__
const struct op *op_of_function(op_fn function)
{
    const struct op_table *const *all = tables();
    for (int t = 0; t < TABLE_COUNT; t++)
        for (size_t k = 0; k < all[t]->count; k++)
            if (all[t]->ops[k].fn == function) return &all[t]->ops[k];
    return NULL;
}
#endif
