/* insn.h — decoded code: instructions and their operands, kernels, modules, and the operations by
 * name. */
#ifndef EMU_INSN_H
#define EMU_INSN_H

#include "ptx.h"
#include "common/tools/emu/emu.h"

/* ---- a decoded instruction and its operands -------------------------------------------------- */

/* decode_insn.c makes instructions from PTX; the machine and its operations carry them out.
 *
 * A warp instruction works on 32 lanes at once. So a register is an array of 32 values: 4 bytes per
 * lane for types up to 32 bits, 8 for 64-bit types. A predicate register is one 32-bit mask.
 * Constants have the same form, so an operation need not distinguish kinds of operands. */

enum {
    WARP = 32,
    MAX_VECTOR = 8,        /* elements of a .v8 access */
    MAX_ATOMIC_VECTOR = 4, /* elements of a vector atomic */
    SLOT_32 = WARP * 4,    /* bytes of a register of up to 32 bits */
    SLOT_64 = WARP * 8,    /* bytes of a 64-bit register */
    SLOT_ALIGNMENT = 64,
};
#define ALL_LANES UINT32_MAX

/* Windows of the generic address space. They lie outside the 47 bits of host pointers, so an
 * address's value tells its window. All other addresses are global memory. */
#define SHARED_WINDOW  UINT64_C(0x0100000000000000)
#define LOCAL_WINDOW   UINT64_C(0x0200000000000000)
#define PARAM_WINDOW   UINT64_C(0x0300000000000000)
#define CODE_WINDOW    UINT64_C(0x0400000000000000) /* functions, FUNCTION_BYTES apart */
#define WINDOW_BYTES   UINT64_C(0x0000000100000000)
#define FUNCTION_BYTES 16

struct warp;
struct insn;
struct call;
struct matrix_insn;

/* Carries out one instruction for the lanes in mask (never 0). */
typedef void (*op_fn)(struct warp *, const struct insn *, uint32_t mask);

/* The place of an operand's lanes: the two highest bits choose registers, special registers or
 * constants, and the others are a byte offset there. */
typedef uint32_t slot;
enum bank { BANK_REGISTERS, BANK_SPECIALS, BANK_CONSTANTS, BANK_COUNT };
#define SLOT_SPECIAL  UINT32_C(0x40000000) /* special registers, of the warp */
#define SLOT_CONSTANT UINT32_C(0x80000000) /* constants, of the kernel */
#define SLOT_OFFSET   UINT32_C(0x3fffffff) /* with neither bit: registers, of the frame */
#define NO_SLOT       UINT32_MAX

/* Instructions that the interpreter's loop carries out itself, at least in part. All others are
 * only a function, insn.fn. */
enum control {
    CONTROL_NONE,
    CONTROL_BRANCH,
    CONTROL_TABLE, /* brx.idx: a branch to one of a table of targets */
    CONTROL_EXIT,
    CONTROL_CALL,
    CONTROL_RETURN,        /* ret in a function; in a kernel, ret is CONTROL_EXIT */
    CONTROL_BARRIER,       /* bar.sync, barrier.sync, bar.red: wait for the block */
    CONTROL_ARRIVE,        /* bar.arrive */
    CONTROL_MEMBER_MASK,   /* shfl, vote, match, redux: wait for the lanes of the member mask; mma:
                            * for all */
    CONTROL_WARP_SYNC,     /* bar.warp.sync: the same, and lanes may wait at different ones */
    CONTROL_WAIT_CLUSTER,  /* barrier.cluster.wait: see machine/async.h */
    CONTROL_WAIT_MBARRIER, /* mbarrier.try_wait: see machine/async.h */
    CONTROL_SPIN,          /* nanosleep: let other warps run */
};

/* The counter that an instruction raises, besides that of executed instructions. */
enum tally {
    TALLY_NONE,
    TALLY_ADD,
    TALLY_BARRIER = TALLY_ADD + EMU_ADDS,
    TALLY_LOAD,
    TALLY_STORE,
    TALLY_ATOMIC,
    TALLY_COPY, /* cp.async: a global load and a shared store */
};

/* The role of a memory access in synchronisation (PTX ISA, "memory consistency model"): one of the
 * first four values, plus bits. */
enum order {
    ORDER_WEAK,
    ORDER_VOLATILE,
    ORDER_STRONG, /* relaxed, acquire, release */
    ORDER_ATOMIC,
    ORDER_KIND = 3,
    ORDER_RELEASE = 4,
    ORDER_BLOCK = 8,    /* scope .cta: strong only among the threads of a block */
    ORDER_ACQUIRE = 16, /* a fence that both acquires and releases has neither bit */
    /* ld.nc, ld.const, textures: weak loads that take memory for constant while the kernel runs */
    ORDER_CONSTANT = ORDER_WEAK | ORDER_BLOCK,
};

enum clamp { CLAMP_NONE, CLAMP_TO_UNIT, CLAMP_TO_POSITIVE };
enum combine { COMBINE_NONE, COMBINE_AND, COMBINE_OR, COMBINE_XOR }; /* setp.lt.and … */

/* The operations of atom, red and cp.reduce. */
enum atomic {
    ATOMIC_ADD,
    ATOMIC_MIN,
    ATOMIC_MAX,
    ATOMIC_AND,
    ATOMIC_OR,
    ATOMIC_XOR,
    ATOMIC_EXCHANGE,
    ATOMIC_CAS,
    ATOMIC_INC,
    ATOMIC_DEC
};

/* The operations by which lanes of a warp exchange values. */
enum shuffle { SHUFFLE_UP, SHUFFLE_DOWN, SHUFFLE_BUTTERFLY, SHUFFLE_INDEX };
enum vote { VOTE_ALL, VOTE_ANY, VOTE_UNIFORM, VOTE_BALLOT };
enum reduction { REDUCE_ADD, REDUCE_MIN, REDUCE_MAX, REDUCE_AND, REDUCE_OR, REDUCE_XOR };

enum clock { CLOCK_WARP, CLOCK_GLOBAL };

/* The result of bar.red. */
enum barrier_result { BARRIER_NOTHING, BARRIER_COUNT, BARRIER_AND, BARRIER_OR };

enum mbarrier {
    MBARRIER_INIT,
    MBARRIER_INVAL,
    MBARRIER_ARRIVE,
    MBARRIER_EXPECT,
    MBARRIER_COMPLETE,
    MBARRIER_TEST,
};
/* Variants of an arrival; the bits may be combined. */
enum arrival { ARRIVAL, ARRIVAL_DROP = 1, ARRIVAL_NO_COMPLETE = 2 };

/* How an atomic operation, or a copy that reduces, changes an element. */
struct atomic_kind {
    uint8_t operation; /* enum atomic */
    uint8_t type;      /* enum ptx_type */
    bool is_float;
};

/* insn.counted_bytes of an access that ptxas merged into another instruction's, which counts for
 * both; and of an atomic that is a reduction in the machine code: see count.h. */
enum { COUNTED_AS_REDUCTION = 254, COUNTED_WITH_ANOTHER = 255 };

/* An address operand: [base + offset]. */
struct address {
    slot base;
    uint8_t bytes; /* of the register: 4 or 8 */
    uint8_t space; /* enum ptx_space */
    int64_t offset;
};

/* The families of instructions. A family tells which member of insn's union is in use. */
enum family {
    FAMILY_OTHER, /* no member is used */
    FAMILY_ARITHMETIC,
    FAMILY_LOGIC,
    FAMILY_COMPARE,
    FAMILY_CONVERT,
    FAMILY_PACK,
    FAMILY_WIDE_MOVE,
    FAMILY_CLOCK,
    FAMILY_CVTA,
    FAMILY_ISSPACEP,
    FAMILY_ALLOCA,
    FAMILY_BRANCH,
    FAMILY_TABLE,
    FAMILY_CALL,
    FAMILY_BARRIER,
    FAMILY_WARP,
    FAMILY_MEMORY,
    FAMILY_ATOMIC,
    FAMILY_VECTOR_ATOMIC,
    FAMILY_MBARRIER,
    FAMILY_COPY,
    FAMILY_COPY_ARRIVAL,
    FAMILY_BULK,
    FAMILY_STORE_ASYNC,
    FAMILY_TEXTURE,
    FAMILY_MATRIX,
    FAMILY_GROUP,
};

/* brx.idx index, table */
struct table_insn {
    const uint32_t *targets; /* indices of instructions */
    uint32_t count;
    slot index; /* 32-bit register */
};

/* bar.sync, bar.arrive, bar.red; the result of bar.red is insn.d */
struct barrier_insn {
    slot number, threads; /* 32-bit registers; threads = NO_SLOT: the whole block */
    slot predicate;       /* of bar.red */
    bool negated;         /* the predicate is negated */
    uint8_t result;       /* enum barrier_result */
};

/* shfl, vote, match, redux, elect, bar.warp.sync; insn.d is the result, a, b and c are the sources
 * in PTX's order. */
struct warp_insn {
    slot members;   /* 32-bit register: the member mask */
    slot predicate; /* the second result, behind |; NO_SLOT: not used */
    union {
        uint8_t shuffle;   /* enum shuffle */
        uint8_t vote;      /* enum vote */
        uint8_t reduction; /* enum reduction */
    };
    bool negated; /* of vote: the predicate a */
};

/* ld, st */
struct memory_insn {
    uint32_t used_bytes;    /* of a widened load: a bit for each byte in use; 0: all */
    uint8_t checked_bytes;  /* these first bytes of a lane must be inside of memory */
    slot value[MAX_VECTOR]; /* a register for each element; NO_SLOT: a sink */
};

/* atom and red on vectors, on 16-bit numbers and on pairs of them. Atomics on one element of 4, 8
 * or 16 bytes have their operands in insn.d, b and c. */
struct vector_atomic_insn {
    slot source[MAX_ATOMIC_VECTOR];
    slot result[MAX_ATOMIC_VECTOR]; /* NO_SLOT: a sink, or the instruction is a red */
};

/* mbarrier.…; the operand in [ ] is the mbarrier; insn.d is the result, a state or a predicate */
struct mbarrier_insn {
    uint8_t operation; /* enum mbarrier */
    uint8_t arrival;   /* enum arrival */
    bool is_parity;    /* `phase` is a parity (32 bits), not a state (64 bits) */
    slot arrivals;     /* 32-bit register: of init and arrive; NO_SLOT: one */
    slot bytes;        /* 32-bit register: bytes to expect or to complete; NO_SLOT: none */
    slot phase;        /* of test_wait and try_wait */
};

/* cp.async: insn.element_bytes for each lane */
struct copy_insn {
    struct address to, from;
    slot source_bytes; /* 32-bit register: bytes to read, with zeros behind them; NO_SLOT: all */
    slot ignore;       /* predicate: lanes that read nothing; NO_SLOT: all lanes read */
    bool bypass;       /* .cg: bypass the L1 cache */
    bool fills;        /* source_bytes or ignore are not constant: LDGSTS.ZFILL in machine code */
};

/* cp.async.mbarrier.arrive; the operand in [ ] is the mbarrier */
struct copy_arrival_insn {
    bool noinc; /* the phase already counts this arrival */
};

/* cp.async.bulk, cp.reduce.async.bulk; cp.reduce also uses insn.atomic and insn.element_bytes. Of a
 * tensor, the address in global memory is that of the tensor map, and generic. */
struct bulk_insn {
    struct address to, from;
    struct address mbarrier; /* of a copy to shared memory */
    slot blocks;             /* of a multicast: a bit for each block; NO_SLOT: no multicast */
    bool reduces;
    uint8_t rank; /* dimensions of the tensor; 0: the bytes are in a row */
    union {
        slot bytes;              /* 32-bit register */
        const slot *coordinates; /* of a tensor: a 32-bit register for each dimension */
    };
};

/* st.async, and red.async, which also uses insn.atomic; the first operand in [ ] is insn.address */
struct store_async_insn {
    struct address mbarrier;
    bool reduces;
    slot value[MAX_ATOMIC_VECTOR]; /* a register for each element */
};

/* What an access outside of a surface does. */
enum boundary { BOUNDARY_TRAP, BOUNDARY_CLAMP, BOUNDARY_ZERO };

/* tex, tld4, suld, sust */
struct texture_insn {
    slot object;                   /* 64-bit register */
    slot coordinate[4];            /* 32-bit registers, as PTX writes them: a layer comes first */
    slot value[MAX_ATOMIC_VECTOR]; /* results, or what sust stores; NO_SLOT: a sink */
    slot resident;                 /* of tex and tld4: a predicate that becomes true, or NO_SLOT */
    uint8_t shape;                 /* enum emu_texture_shape that the object must have */
    uint8_t boundary;              /* enum boundary, of suld and sust */
    uint8_t channel;               /* of tld4 */
    bool by_integers;              /* the coordinates of tex are integers */
    bool stores;
};

/* cp.async.wait_group, wait_all and cp.async.bulk.wait_group */
struct group_insn {
    int64_t pending; /* number of latest groups that need not be complete, or WAIT_FOR_ALL */
    bool read;       /* .read: wait only until the source has been read */
};
enum { WAIT_FOR_ALL = -1 }; /* wait also for copies that are in no group */

/* ---- families that compute registers from registers ------------------------------------------ */

/* Modifiers that any floating-point operation may have. An operation with one of them runs inside a
 * wrapper, which calls `inner`. */
struct float_rules {
    op_fn inner;
    int rounding;  /* FE_… of <fenv.h> */
    bool flush;    /* .ftz */
    uint8_t clamp; /* enum clamp: .sat or .relu */
    uint8_t type;  /* enum ptx_type, of the result */
};

/* Copies of registers that are made before an operation: of its operands, with other signs, or of
 * what a later instruction will need (decode_passes.c). */
struct operand_copies {
    struct operand_copy {
        slot from, to;
        uint64_t signs; /* bits that change */
    } of[2];
    unsigned count;
    op_fn then;
};

struct arithmetic_insn {
    slot fourth;                   /* the fourth source, of bfi */
    bool carry_in, carry_out;      /* addc, subc, madc; .cc */
    uint8_t negated;               /* bit k: source k, a predicate, is */
    struct operand_copies *copies; /* NULL: none */
};

/* lop3; with a predicate: predicate = (d != 0) combined with `other` */
struct logic_insn {
    slot predicate, other; /* NO_SLOT: no predicate */
    uint8_t table;         /* the truth table */
    uint8_t combine;       /* enum combine */
    bool negated;          /* `other` is */
};

/* setp, set; d is a predicate, or a register that becomes `yes` or 0 */
struct compare_insn {
    slot other;    /* the predicate that the comparison is combined with */
    slot opposite; /* the second destination of setp; NO_SLOT: none */
    uint32_t yes;
    uint8_t combine;    /* enum combine */
    bool negated;       /* `other` is */
    bool has_predicate; /* d is a predicate: setp */
};

/* cvt; insn.is_signed refers to the result. A type of up to 32 bits may be in a 64-bit register,
 * wide_source or wide_result. Then a or d is a 32-bit register in between. */
struct convert_insn {
    slot wide_source, wide_result; /* NO_SLOT: the register is as wide as the type */
};

/* ---- other moves ----------------------------------------------------------------------------- */

/* mov between a register and a vector of its parts, the lowest part first. If the register is
 * insn.d, the parts are sources; if it is insn.a, they are results. */
struct pack_insn {
    slot part[MAX_VECTOR]; /* NO_SLOT: a sink */
};

/* mov.b128: the lower half, then the upper one */
struct wide_move_insn {
    slot from[2], to[2];
};

/* mov from %clock, %globaltimer and their halves; insn.lane_bytes is d's */
struct clock_insn {
    uint8_t which; /* enum clock */
    uint8_t shift; /* 32: the upper half */
    uint8_t loop;  /* instructions of the loop that only waits for this clock; 0: none */
};

/* cvta, and mov of the address of a function's local variable: d = a + distance */
struct cvta_insn {
    int64_t distance;
};

struct isspacep_insn {
    uint8_t space; /* enum ptx_space */
};

/* alloca; insn.d becomes the address of the bytes */
struct alloca_insn {
    slot bytes, top; /* 64-bit registers; top: the end of the stack, which alloca moves */
    int64_t alignment;
};

struct insn {
    op_fn fn; /* NULL if `control` says it all */
    /* Destination and sources, named as in the PTX ISA. NO_SLOT: not used, or in the union. */
    slot d, a, b, c;
    slot guard; /* predicate; lanes whose bit differs from guard_flip's execute */
    uint32_t guard_flip;
    uint8_t control, tally, family; /* enums of these names */
    uint8_t order;                  /* enum order, of accesses, arrivals and fences */
    uint8_t lane_bytes; /* 4 or 8, of registers whose size varies (ld, st, atom, shfl, …) */
    bool is_signed;     /* the type is */
    /* What one lane of a memory access moves; 0 for other instructions. */
    uint8_t element_bytes, elements;
    uint8_t counted_bytes; /* per lane, if it is not the size of the access: see fidelity.c */
    struct atomic_kind atomic;
    uint32_t line; /* index into the kernel's line table */
    const struct ptx_instruction *source;
    union {
        struct {
            struct float_rules rules;
            union {
                struct arithmetic_insn arithmetic; /* FAMILY_ARITHMETIC */
                struct logic_insn logic;           /* FAMILY_LOGIC */
                struct compare_insn compare;       /* FAMILY_COMPARE */
                struct convert_insn convert;       /* FAMILY_CONVERT */
            };
        };
        struct pack_insn pack;           /* FAMILY_PACK */
        struct wide_move_insn wide_move; /* FAMILY_WIDE_MOVE */
        struct clock_insn clock;         /* FAMILY_CLOCK */
        struct cvta_insn cvta;           /* FAMILY_CVTA */
        struct isspacep_insn isspacep;   /* FAMILY_ISSPACEP */
        struct alloca_insn alloca;       /* FAMILY_ALLOCA */
        uint32_t target;                 /* FAMILY_BRANCH: index of the instruction to go to */
        struct table_insn table;         /* FAMILY_TABLE */
        const struct call *call;         /* FAMILY_CALL */
        struct barrier_insn barrier;     /* FAMILY_BARRIER */
        struct {
            struct warp_insn warp;            /* FAMILY_WARP; of FAMILY_MATRIX only the members */
            const struct matrix_insn *matrix; /* FAMILY_MATRIX */
        };
        struct copy_insn copy;           /* FAMILY_COPY */
        struct bulk_insn bulk;           /* FAMILY_BULK */
        struct group_insn group;         /* FAMILY_GROUP */
        struct texture_insn texture;     /* FAMILY_TEXTURE */
        struct {
            struct address address; /* the operand in [ ]; also of FAMILY_ATOMIC */
            union {
                struct memory_insn memory;             /* FAMILY_MEMORY */
                struct vector_atomic_insn vector;      /* FAMILY_VECTOR_ATOMIC */
                struct mbarrier_insn mbarrier;         /* FAMILY_MBARRIER */
                struct copy_arrival_insn copy_arrival; /* FAMILY_COPY_ARRIVAL */
                struct store_async_insn store_async;   /* FAMILY_STORE_ASYNC */
            };
        };
    };
};

/* The register of an instruction's result, and that of its second result, a predicate. NO_SLOT: the
 * instruction has no such result, or it is a vector. (insn.c) */
slot insn_result(const struct insn *);
slot insn_second_result(const struct insn *);
/* Does the instruction write the register? */
bool insn_writes(const struct insn *, slot);

/* The number of instructions to which a branch may go, and their indices. 0: the instruction is not
 * a branch. */
static inline uint32_t insn_target_count(const struct insn *i)
{
    return i->control == CONTROL_BRANCH ? 1 : i->control == CONTROL_TABLE ? i->table.count : 0;
}

static inline uint32_t insn_target(const struct insn *i, uint32_t k)
{
    return i->control == CONTROL_TABLE ? i->table.targets[k] : i->target;
}

/* ---- a kernel's code ------------------------------------------------------------------------- */

/* A kernel's decoded code: its instructions, the functions that it calls, its source
 * lines, and the sizes that a launch needs. */

/* A special register that keeps one value for the whole life of a warp. The machine writes its
 * value into a register when the warp starts. */
struct special {
    uint8_t which, lane_bytes; /* 0: a predicate */
    slot slot;
    uint64_t offset; /* for SPECIAL_SHARED_ADDRESS */
};

#define NOT_LOCAL UINT32_MAX

struct kernel_kinds;

/* A function of the module as part of one kernel's code. Its parameters, its results and the .param
 * variables of its calls lie in one area of the frame, which has area_bytes bytes per lane. */
struct callee {
    const struct ptx_function *function;
    uint32_t entry; /* index of its first instruction */
    size_t register_bytes, area_bytes, local_bytes;
    unsigned params;
    const unsigned *param_offset, *param_size;
    unsigned result_offset, result_size; /* size 0: no result */
    slot local_base; /* 64-bit register: start of its local memory; NO_SLOT: unused */
    slot stack_top;  /* 64-bit register: the place of the next alloca; NO_SLOT: unused */
    /* The offset in local memory of each parameter whose address is taken; NOT_LOCAL for the
     * others. */
    const unsigned *param_local;
    const size_t *variable_offset; /* as in struct emu_kernel */
    /* The emulator's own code for a function that PTX only declares (builtin.c); else NULL. */
    void (*builtin)(struct warp *, const struct insn *, uint32_t mask);
};

/* A call: the places of the arguments and of the result in the caller's area. */
struct call {
    const struct callee *callee; /* NULL: the call is by address */
    slot address;                /* 64-bit register that holds that address */
    unsigned arguments;
    const unsigned *argument_offset, *argument_size;
    unsigned result_offset, result_size; /* size 0: the result is not used */
};

struct source_line {
    unsigned file, line;
};

struct emu_kernel {
    struct emu_kernel_info info; /* must be first: see emu_kernel_info() */
    struct emu_module *module;
    const struct ptx_function *function;
    struct insn *code; /* the last instruction is an exit */
    size_t code_count;
    size_t register_bytes, area_bytes, special_bytes; /* of one warp; area_bytes: of a lane */
    size_t function_count;
    const struct callee *
        *callees;       /* by the function's index in the module; NULL: not in this code */
    size_t stack_bytes; /* local memory per thread, for all frames together */
    slot stack_top;     /* as in struct callee */
    bool uses_heap;     /* it may call malloc or free */
    bool uses_runtime;  /* it may call functions of the CUDA runtime */
    size_t most_dynamic_shared; /* bytes that a launch may ask for; 0: the default */
    uint8_t *constants;
    size_t constant_bytes;
    struct special *specials;
    size_t special_count;
    bool reads_reserved; /* the kernel reads the address of the system's shared memory */
    struct source_line *lines;
    size_t line_count;
    size_t param_bytes, dynamic_shared_offset;
    /* Offsets in their spaces: of the function's variables, and of the module's shared ones. */
    const size_t *variable_offset, *shared_offset;
    const struct emu_agreement *agreement; /* with the machine code; NULL: not compared yet */
    struct kernel_kinds *work; /* what its instructions are (watch/count.h); NULL: not asked yet */
    struct emu_kernel *next;
};

/* ---- a loaded module ------------------------------------------------------------------------- */

/* A loaded module: its parsed text, the addresses of its variables, its decoded kernels. */

struct machine_code; /* fidelity.c */

struct emu_module {
    struct ptx_text text; /* its arena also holds the decoded kernels */
    char *name;
    emu_addr *addresses;        /* by index in text.variables; 0 for all but .global and .const */
    struct emu_kernel *kernels; /* decoded so far */
    struct machine_code *machine_code; /* what ptxas made of the text; NULL: unknown */
    bool never_fuses; /* ptxas made no fma of a product and a sum */
    struct emu_module *next;
};

/* The address of the function that a unit calls `name`, which is the same in every kernel of the
 * module. 0: the module has no such function. */
uint64_t module_function_address(const struct ptx_text *, unsigned unit, const char *name);

/* Decodes one .entry of a module into its arena. Returns 0, or an enum emu_error and one
 * sentence that names the instruction, the kernel, the PTX line and the source line. (decode.c) */
int decode_kernel(const struct emu_gpu *, struct emu_module *, const struct ptx_function *,
                  struct emu_kernel **kernel, char *message, size_t size);
/* Decodes a function that no kernel calls, to find what is wrong in it. Returns the same. */
int decode_function(const struct emu_gpu *, struct emu_module *, const struct ptx_function *,
                    char *message, size_t size);

/* ---- tensor cores ---------------------------------------------------------------------------- */

/* Instructions of tensor cores, decoded: mma, wmma, ldmatrix, stmatrix, movmatrix.
 *
 * A warp holds a matrix in registers, a part in each lane: a fragment (PTX ISA, "matrix
 * fragments"). ops/ knows which lane holds which element. */

enum { MOST_FRAGMENT_REGISTERS = 8 };

enum element {
    ELEMENT_F16,
    ELEMENT_BF16,
    ELEMENT_TF32,
    ELEMENT_F32,
    ELEMENT_F64,
    ELEMENT_E4M3,
    ELEMENT_E5M2,
    ELEMENT_S8,
    ELEMENT_U8,
    ELEMENT_S4,
    ELEMENT_U4,
    ELEMENT_B1,
    ELEMENT_S32,
    ELEMENTS,
};

/* The place of a matrix in d = a·b + c. */
enum matrix_use { USE_A, USE_B, USE_C };

/* The rule by which elements are distributed. QUADS: of mma.m8n8k4, four products at once. */
enum fragment_order { DISTRIBUTION_MMA, DISTRIBUTION_WMMA, DISTRIBUTION_QUADS };

struct matrix_fragment {
    uint8_t use, element, distribution; /* enums of these names */
    bool by_columns;                    /* the layout that PTX names, .col */
    uint8_t registers;
    uint16_t rows, columns;
    slot slot[MOST_FRAGMENT_REGISTERS];
};

/* One instruction. A product has all fragments; a load or store of wmma has one, d. */
struct matrix_insn {
    uint16_t k;
    struct matrix_fragment a, b, c, d;
    bool saturates;         /* .satfinite */
    bool is_and;            /* of single bits: .and, not .xor */
    int rounding;           /* of doubles: FE_… of <fenv.h> */
    struct address address; /* of loads and stores; base is NO_SLOT: it accesses no memory */
    slot stride;            /* 32-bit register: elements from row to row, or column to column */
    bool is_transposed;     /* .trans; of wmma: not is_own */
    bool stores;
    /* It moves rows of 16 bytes of 8x8 matrices, of each register one: LDSM or STSM. ptxas also
     * makes it of some loads of wmma. */
    bool moves_rows;
    bool is_own; /* of wmma: memory has the elements of a register side by side */
    uint8_t access_bytes, accesses; /* of each access in the machine code, and their number */
};

/* The bits of an element. */
static inline unsigned element_bits(enum element e)
{
    static const uint8_t bits[ELEMENTS] = {16, 16, 32, 32, 64, 8, 8, 8, 8, 4, 4, 1, 32};
    return bits[e];
}

/* ---- special registers ----------------------------------------------------------------------- */

/* Special registers (PTX ISA, "Special Registers") that keep one value while a warp lives. The
 * machine writes them when the warp starts. Clocks are not among them: see ops_move.c. */

enum special_register {
    SPECIAL_TID_X,
    SPECIAL_TID_Y,
    SPECIAL_TID_Z,
    SPECIAL_NTID_X,
    SPECIAL_NTID_Y,
    SPECIAL_NTID_Z,
    SPECIAL_CTAID_X,
    SPECIAL_CTAID_Y,
    SPECIAL_CTAID_Z,
    SPECIAL_NCTAID_X,
    SPECIAL_NCTAID_Y,
    SPECIAL_NCTAID_Z,
    SPECIAL_CLUSTERID_X,
    SPECIAL_CLUSTERID_Y,
    SPECIAL_CLUSTERID_Z,
    SPECIAL_NCLUSTERID_X,
    SPECIAL_NCLUSTERID_Y,
    SPECIAL_NCLUSTERID_Z,
    SPECIAL_CLUSTER_CTAID_X,
    SPECIAL_CLUSTER_CTAID_Y,
    SPECIAL_CLUSTER_CTAID_Z,
    SPECIAL_CLUSTER_NCTAID_X,
    SPECIAL_CLUSTER_NCTAID_Y,
    SPECIAL_CLUSTER_NCTAID_Z,
    SPECIAL_CLUSTER_CTARANK,
    SPECIAL_CLUSTER_NCTARANK,
    SPECIAL_IS_EXPLICIT_CLUSTER,
    SPECIAL_LANEID,
    SPECIAL_WARPID,
    SPECIAL_NWARPID,
    SPECIAL_LANEMASK_EQ,
    SPECIAL_LANEMASK_LE,
    SPECIAL_LANEMASK_LT,
    SPECIAL_LANEMASK_GE,
    SPECIAL_LANEMASK_GT,
    SPECIAL_SMID,
    SPECIAL_NSMID,
    SPECIAL_GRIDID,
    SPECIAL_DYNAMIC_SHARED,
    SPECIAL_TOTAL_SHARED,
    SPECIAL_AGGREGATE_SHARED,
    SPECIAL_RESERVED_BEGIN,
    SPECIAL_RESERVED_END,
    SPECIAL_RESERVED_CAP,
    SPECIAL_RESERVED_0,
    SPECIAL_RESERVED_1,
    SPECIAL_ENVIRONMENT_0,
    SPECIAL_WORKSPACE_HIGH, /* %envreg1: where grid.sync() counts, see launch->workspace */
    SPECIAL_WORKSPACE_LOW,  /* %envreg2 */
    SPECIAL_SHARED_ADDRESS, /* of a variable: struct special's `offset` in the block's own memory */
};

/* ---- finds operations on 32 lanes, which the folder ops/ defines ----------------------------- */

/* Operations that are more than arithmetic on each lane follow below.
 *
 * Two operations are wrappers, which call the operation in insn->rules: "by rules" rounds, flushes
 * and clamps as the rules say; "resized" also serves a conversion with a register that is wider
 * than its type. */

/* `key` is the opcode with the modifiers that choose the operation ("mul.lo.u32"), without those
 * that any floating-point operation may have (.rn, .ftz, .sat). `operands` has a letter for each
 * operand, the destination first: 4 and 8 are registers of 4 and 8 bytes per lane, p is a
 * predicate. */
struct op {
    const char *key;
    op_fn fn;
    const char *operands;
};

/* The operation for a key, compiled for this processor's instruction set, or NULL. A signed or
 * untyped key finds the unsigned operation if the two do the same ("add.s32" → add.u32).
 * (operations.c) */
const struct op *op_find(const char *key);

/* ---- operations that are more than arithmetic on each lane ----------------------------------- */

/* The decoder puts these functions into insn.fn; ops/ and machine/ define them. */

#define WARP_OP(name) void name(struct warp *, const struct insn *, uint32_t mask)

/* atomic_wide.c */
WARP_OP(op_atomic_elements);
WARP_OP(op_atomic_128);

/* collective.c: exchanges among the lanes of the member mask; d|p is a result with a predicate */
WARP_OP(op_shuffle);   /* d|predicate = a, b, c */
WARP_OP(op_vote);      /* d = a, a predicate */
WARP_OP(op_match_any); /* d = a */
WARP_OP(op_match_all); /* d|predicate = a */
WARP_OP(op_reduce);    /* d = a */
WARP_OP(op_elect);     /* d|predicate */

/* Fences and bar.warp.sync, which matter only to racecheck; i->order has the scope of a fence,
 * i->address.space the memory of a fence.proxy.async (PTX_GENERIC: all). */
WARP_OP(op_fence);
WARP_OP(op_proxy_fence);
WARP_OP(op_grid_wait);
WARP_OP(op_warp_sync); /* of the member mask */

/* Tensor cores (ops/): mma and wmma.mma; wmma's loads and stores; ldmatrix and
 * stmatrix; movmatrix. i->matrix has the operands. */
WARP_OP(op_matrix_product);
WARP_OP(op_matrix_access);
WARP_OP(op_matrix_rows);
WARP_OP(op_matrix_transpose);

WARP_OP(op_trap);
WARP_OP(op_alloca); /* machine/warp.c */

/* ---- mbarriers (machine/barrier.c) */

void op_mbarrier(struct warp *, const struct insn *, uint32_t mask);
void op_mbarrier_test(struct warp *, const struct insn *, uint32_t mask);
void op_mbarrier_pending(struct warp *, const struct insn *, uint32_t mask); /* d = a */

/* ---- asynchronous copies: cp.async and cp.async.bulk (copy.c and bulk.c in machine/) */

void op_copy(struct warp *, const struct insn *, uint32_t mask);
void op_copy_commit(struct warp *, const struct insn *, uint32_t mask);
void op_copy_wait(struct warp *, const struct insn *, uint32_t mask);
void op_copy_arrive(struct warp *, const struct insn *, uint32_t mask);

void op_bulk(struct warp *, const struct insn *, uint32_t mask);
void op_tensor_prefetch(struct warp *, const struct insn *, uint32_t mask); /* (tensor.c) */
void op_store_async(struct warp *, const struct insn *, uint32_t mask);
void op_bulk_commit(struct warp *, const struct insn *, uint32_t mask);
void op_bulk_wait(struct warp *, const struct insn *, uint32_t mask);

/* ---- clusters (ops/collective.c) */

void op_cluster_arrive(struct warp *, const struct insn *, uint32_t mask);
void op_mapa(struct warp *, const struct insn *, uint32_t mask);       /* d = a in the block b */
void op_getctarank(struct warp *, const struct insn *, uint32_t mask); /* d = the block of a */

/* ---- functions that CUDA's device runtime supplies (ops/builtin.c) */

void builtin_malloc(struct warp *, const struct insn *, uint32_t mask);
void builtin_free(struct warp *, const struct insn *, uint32_t mask);
void builtin_host_call(struct warp *, const struct insn *, uint32_t mask);

/* The functions above and __assertfail by name; NULL for any other name. */
void (*builtin_find(const char *name))(struct warp *, const struct insn *, uint32_t mask);

/* Functions of the CUDA runtime that kernels may call, by the name in PTX
 * (ops/device_runtime.c); NULL for any other name. */
void (*runtime_find(const char *name))(struct warp *, const struct insn *, uint32_t mask);

#endif
