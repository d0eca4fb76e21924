/* sass.c — which machine instructions access memory, and how. */
#include "count.h"

/* The lowest nine bits are the operation. The three bits above say where the operands come from (a
 * register, a uniform register, a constant). This matters only for ATOMS: the form without an
 * operand is ATOMS.POPC.INC. */
enum {
    OPERATION_BITS = 0x1ff,
    LD = 0x180,
    LDG = 0x181,
    LDS = 0x184,
    ST = 0x185,
    STG = 0x186,
    STS = 0x188,
    ATOM = 0x18a,
    ATOM_CAS = 0x18b,
    ATOMS = 0x18c,
    ATOMS_CAS = 0x18d,
    RED = 0x18e,
    ATOMG = 0x1a8,
    ATOMG_CAS = 0x1a9,
    LDG_256 = 0x17e, /* two vectors of registers, since sm_100 */
    STG_256 = 0x17f,
    ATOM_FLOAT = 0x1a2, /* on floating-point numbers, since sm_90 */
    ATOMG_FLOAT = 0x1a3,
    RED_FLOAT = 0x1a6,
    LDGSTS = 0x1ae, /* cp.async */
    LDSM = 0x03b,   /* ldmatrix */
    STSM = 0x044,   /* stmatrix */
    FFMA = 0x023,
    DFMA = 0x02b,
    HFMA2 = 0x031,
    HFMA2_MMA = 0x035, /* the same on other units, sm_80 to sm_90 */
};

enum {
    GUARD_SHIFT = 12, /* bits 12 to 15: the guard predicate */
    NEVER = 0xf,      /* !PT */
    SIZE_SHIFT = 9,   /* in the upper 64 bits: three bits with the operand's size */
    SIZE_BITS = 7,
    FORM_BITS = 0xe00,
    NO_OPERAND = 0xe00,
    ROW_FORM = 0x800, /* of LDSM and STSM */
    ROW_BYTES = 16,
    REGISTER_FORM = 0x200, /* of FFMA and the like: the second operand is a register */
    NUMBER_FORM = 0x800,   /* it is a number */
    RZ = 0xff,             /* the register that is 0 */
};

static uint64_t word(const unsigned char *p)
{
    uint64_t value = 0;
    for (int i = 7; i >= 0; i--) value = value << 8 | p[i];
    return value;
}

/* U8, S8, U16, S16, 32, 64, 128 */
static const uint8_t access_bytes[] = {1, 1, 2, 2, 4, 8, 16, 0};
/* U32, S32, U64, F32, F16x2, S64, F64; from sm_90 on S64 has the place of F32 */
static const uint8_t atomic_bytes[] = {4, 4, 8, 4, 4, 8, 8, 0};
static const uint8_t atomic_bytes_90[] = {4, 4, 8, 8, 16, 8, 8, 0};
static const uint8_t float_bytes[] = {4, 4, 8, 16, 0, 0, 0, 8}; /* F16x2, F32, F32x2, F32x4, F64 */
static const uint8_t cas_bytes[] = {4, 4, 8, 8, 16, 0, 0, 0};
static const uint8_t copy_bytes_100[] = {4, 0, 8, 0, 16, 0, 0, 0};

static struct sass_access row_access(uint64_t low)
{
    if ((low & FORM_BITS) != ROW_FORM) return (struct sass_access){0};
    bool loads = (low & OPERATION_BITS) == LDSM;
    return (struct sass_access){loads ? ACCESS_LOAD_ROWS : ACCESS_STORE_ROWS, PTX_SHARED,
                                ROW_BYTES};
}

struct sass_access sass_access(const unsigned char *instruction, unsigned arch)
{
    uint64_t low = word(instruction);
    unsigned size = word(instruction + 8) >> SIZE_SHIFT & SIZE_BITS;
    const uint8_t *integer = arch >= 90 ? atomic_bytes_90 : atomic_bytes;
    const uint8_t *copy = arch >= 100 ? copy_bytes_100 : access_bytes;
    if ((low >> GUARD_SHIFT & NEVER) == NEVER) return (struct sass_access){0};
    switch (low & OPERATION_BITS) {
    case LD: return (struct sass_access){ACCESS_LOAD, PTX_GENERIC, access_bytes[size]};
    case LDG: return (struct sass_access){ACCESS_LOAD, PTX_GLOBAL, access_bytes[size]};
    case LDG_256: return (struct sass_access){ACCESS_LOAD, PTX_GLOBAL, 32};
    case LDS: return (struct sass_access){ACCESS_LOAD, PTX_SHARED, access_bytes[size]};
    case ST: return (struct sass_access){ACCESS_STORE, PTX_GENERIC, access_bytes[size]};
    case STG: return (struct sass_access){ACCESS_STORE, PTX_GLOBAL, access_bytes[size]};
    case STG_256: return (struct sass_access){ACCESS_STORE, PTX_GLOBAL, 32};
    case STS: return (struct sass_access){ACCESS_STORE, PTX_SHARED, access_bytes[size]};
    case ATOM: return (struct sass_access){ACCESS_ATOMIC, PTX_GENERIC, integer[size]};
    case ATOM_CAS: return (struct sass_access){ACCESS_ATOMIC, PTX_GENERIC, cas_bytes[size]};
    case ATOM_FLOAT: return (struct sass_access){ACCESS_ATOMIC, PTX_GENERIC, float_bytes[size]};
    case ATOMS: return (struct sass_access){ACCESS_ATOMIC, PTX_SHARED, integer[size]};
    case ATOMS_CAS: return (struct sass_access){ACCESS_ATOMIC, PTX_SHARED, cas_bytes[size]};
    case ATOMG:
    case RED: return (struct sass_access){ACCESS_ATOMIC, PTX_GLOBAL, integer[size]};
    case ATOMG_CAS: return (struct sass_access){ACCESS_ATOMIC, PTX_GLOBAL, cas_bytes[size]};
    case ATOMG_FLOAT:
    case RED_FLOAT: return (struct sass_access){ACCESS_ATOMIC, PTX_GLOBAL, float_bytes[size]};
    case LDGSTS: return (struct sass_access){ACCESS_COPY, PTX_GLOBAL, copy[size]};
    case LDSM:
    case STSM: return row_access(low);
    default: return (struct sass_access){0};
    }
}

bool sass_is_reduction(const unsigned char *instruction)
{
    uint64_t low = word(instruction);
    switch (low & OPERATION_BITS) {
    case RED:
    case RED_FLOAT: return true;
    case ATOMS: return (low & FORM_BITS) == NO_OPERAND;
    default: return false;
    }
}

unsigned sass_fused(const unsigned char *instruction)
{
    uint64_t low = word(instruction), form = low & FORM_BITS;
    uint32_t number = form == NUMBER_FORM ? low >> 32 & 0x7fff7fff : 0; /* without signs */
    bool has_zero = (low >> 24 & RZ) == RZ || (word(instruction + 8) & RZ) == RZ ||
                    (form == REGISTER_FORM && (low >> 32 & RZ) == RZ);
    if (has_zero || (low >> GUARD_SHIFT & NEVER) == NEVER) return 0;
    switch (low & OPERATION_BITS) {
    case FFMA: return number == 0x3f800000 ? 0 : 4;
    case DFMA: return number == 0x3ff00000 ? 0 : 8;
    case HFMA2:
    case HFMA2_MMA: return number == 0x3c003c00 || number == 0x3f803f80 ? 0 : 2;
    default: return 0;
    }
}
