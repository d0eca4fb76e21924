/* debug.h — the debugger: what nvcc tells of variables (dwarf.c), values of C expressions in a lane
 * (expression.c), going back (history.c), stops and steps (session.c), commands (commands.c). */
#ifndef EMU_DEBUG_H
#define EMU_DEBUG_H

#include "common/tools/emu/machine/device.h"
#include "common/tools/emu/machine/events.h"
#include <semaphore.h>

/* A command `emu debug` (command/debug.c) holds the other end of a socket, on which each message is
 * one line of a person, or, from here, a letter and a text: 'o' for output, 'p' if the next line is
 * wanted, 'q' if the program is to be ended. 's' comes at each stop, before its output, and when
 * another thread is in focus: an object of JSON with "reason" (breakpoint, data breakpoint, step,
 * exception, pause, entry, end, focus), "text", the sentence about it, "breakpoint", its number,
 * "launch" and "instruction", in a kernel "kernel", "gridDim", "blockDim", "block" and "thread",
 * for a thread that has not exited "file" and "line", and "stack", the innermost function first.
 * Attaches a device that has been opened; commands are answered at once, before the first launch,
 * and again when the program ends, from where one may go back. `history_bytes`: what the history
 * may take. */
void debug_attach(struct emu *, int socket, uint64_t history_bytes);

/* The program has found a wrong word in global memory, and says in one sentence `what` is wrong.
 * The run stands at the end of the last launch that stored there, and its stores are listed. */
void debug_wrong(uint64_t address, unsigned bytes, bool is_float, const char *what);

/* ---- what nvcc -G tells of variables and types (dwarf.c) ------------------------------------- */

/* nvcc writes DWARF 2 into PTX, in sections of .b8, .b32 and .b64, where names of the PTX stand for
 * addresses. A register is written as a number whose bytes are its name: "%r2". */
struct dwarf;

/* The debug information of one unit of a module; NULL: it has none, so nvcc had no -G. The result
 * lives as long as the process. */
const struct dwarf *dwarf_of(const struct ptx_text *, unsigned unit);

enum type_kind {
    TYPE_NONE,
    TYPE_INT,
    TYPE_CHAR,
    TYPE_BOOL,
    TYPE_FLOAT,
    TYPE_POINTER,
    TYPE_ARRAY,
    TYPE_STRUCT,
    TYPE_TRIPLE, /* threadIdx and the like, (x,y,z) */
};
/* A type. `die` is its entry, of a pointer that of what it points to (0: unknown). */
struct type {
    enum type_kind kind;
    bool is_signed, is_reference; /* is_reference: a pointer that stands for what it points to */
    unsigned bytes;               /* of a pointer, an array or a struct: of all of it */
    uint32_t die, count;          /* count: elements of an array */
    const struct dwarf *dwarf;
    unsigned level; /* of an array of arrays: the dimensions that are left out */
};
/* The type of an array's elements, or of what a pointer points to. */
struct type type_element(const struct type *);
/* The name of a type as in the source, "float", "struct pair", "int *". */
void type_name(const struct type *, char *text, size_t size);
/* A member of a struct: its type and its offset. False: the struct has no such member. `name` NULL:
 * the member with that number, whose name is stored. */
bool type_member(const struct type *, const char *name, unsigned number, struct type *,
                 uint32_t *offset, char *found, size_t size);

enum where { IN_NO_PLACE, IN_REGISTER, AT_SYMBOL };
struct known_variable {
    char name[64];
    struct type type;
    enum where where;
    char symbol[300]; /* the register's or the PTX variable's name */
    int64_t offset;   /* from it */
    unsigned depth;   /* of scopes: the innermost variable of a name is meant */
};
/* The variables that are visible at a line of the PTX of a function (NULL: only the module's), the
 * innermost last. Returns how many there are, at most `most`. */
size_t dwarf_variables(const struct dwarf *, const struct ptx_function *, unsigned ptx_line,
                       struct known_variable *, size_t most);

/* ---- values (expression.c) ------------------------------------------------------------------- */

/* A thread that is looked at: the fragment that holds its lane, which gives the place in the code;
 * NULL: it has exited. */
struct lane {
    struct warp *warp;
    const struct fragment *fragment;
    int lane;
};

/* The function that the thread is in, and the line of its PTX; 0: unknown. */
const struct ptx_function *lane_function(const struct lane *);
unsigned lane_line(const struct lane *);

struct typed_value {
    struct type type;
    bool has_address; /* it is in memory, at `address`, generic */
    uint64_t address;
    slot slot; /* of a variable in a register; else NO_SLOT */
    uint64_t triple[3];
    uint8_t bytes[16]; /* of all kinds but arrays and structs */
};

enum { MESSAGE = 300, FINDING = 1600 }; /* bytes of a sentence, and of what a checker says */
/* Evaluates a C expression. False after writing one sentence into message. */
bool expression_value(const struct lane *, const char *text, struct typed_value *,
                      char message[MESSAGE]);
/* Is it not 0? False also if it cannot be evaluated: then the message is not "". */
bool expression_holds(const struct lane *, const char *text, char message[MESSAGE]);
/* Writes a value as C would: 3, 0.5, {1, 2}, (float *) 0x…. */
void value_print(const struct lane *, const struct typed_value *, char *text, size_t size);
/* Writes a word of an unknown type: 3, or 1065353216 (1). */
void word_print(uint32_t word, char *text, size_t size);
/* Stores an expression's value in a variable. */
bool expression_assign(const struct lane *, const char *target, const char *text,
                       char message[MESSAGE]);
/* Reads memory of a generic address as the lane would. False: nothing is there. */
bool lane_read(const struct lane *, uint64_t address, void *, size_t bytes);

/* ---- the session ----------------------------------------------------------------------------- */

/* A point of the run. Of a launch, instruction `time` is about to be executed; with `inside`, it is
 * being executed, and something has been found for the inside-th time. */
struct run_place {
    uint64_t launch, time, inside;
};
static inline int place_compare(const struct run_place *a, const struct run_place *b)
{
    if (a->launch != b->launch) return a->launch < b->launch ? -1 : 1;
    if (a->time != b->time) return a->time < b->time ? -1 : 1;
    return a->inside < b->inside ? -1 : a->inside > b->inside;
}

enum { MOST_STOPS = 64, MOST_WRITES = 8, TEXT = 200 };

/* A breakpoint or a watchpoint. */
struct stop_point {
    int number; /* 0: free */
    bool is_temporary, is_watch, is_read;
    unsigned hits;
    char where[TEXT], condition[TEXT];
    /* A watchpoint's word: of shared memory, of a block. */
    bool is_shared;
    uint64_t address, block;
    unsigned bytes;
    enum type_kind kind; /* of a word that no expression names; else TYPE_NONE */
};

/* A store to a word, for `who`. */
struct write {
    struct run_place place;
    uint64_t block;
    struct emu_dim block_id, thread_id;
    unsigned thread, line;
    char file[TEXT];
    uint8_t value[8]; /* has_value: what was stored; of an atomic, what was there before */
    bool has_value, is_atomic;
};

enum go { GO_ON, GO_TO, GO_STEP, GO_NEXT, GO_FINISH };
/* What the debugger is about to do, in whichever process goes on. */
struct goal {
    enum go go;
    struct run_place from;   /* where it began: it stops later than that */
    unsigned depth;          /* of calls, where it began */
    bool is_in_thread;       /* it began in a thread that had not exited */
    struct run_place target; /* GO_TO */
    struct run_place end;    /* of the launch that has been executed last */
    char why[MESSAGE];       /* what is said at `target` */
    /* A search of the run before `until`: for the last place where it would stop, or for stores to
     * `word`. A part of the run is searched, from the last copy on, and then the one before it. */
    enum {
        NO_SEARCH,
        FOR_STOP,
        FOR_STORES,
        FOR_ACCESS,     /* of the thread */
        FOR_LOADS,      /* of the whole launch, in the order of `schedule`: they are recorded */
        FOR_DIFFERENCE, /* from them, in the order of the run itself */
    } search;
    uint64_t schedule;
    bool stands_at_end; /* after a search for stores: not at `target`, at the end of their launch */
    bool is_under_way;  /* the part from `begin` to `until` is being executed */
    struct run_place begin, until, found;
    bool has_found;
    uint64_t block; /* of what was found: the thread */
    unsigned thread;
    struct stop_point word;
};

/* What all processes of a session share. */
struct session {
    struct stop_point stops[MOST_STOPS];
    int last_number;
    unsigned changes; /* of the breakpoints */
    struct goal goal;
    struct run_place place; /* where the run stands */
    uint64_t block;         /* the thread in focus */
    unsigned thread;
    struct write writes[MOST_WRITES]; /* that `who` has found, the newest first */
    unsigned write_count;
    struct stop_point word;               /* to which they wrote */
    bool says_writes;                     /* they are to be listed at the next stop */
    struct found found;                   /* of the last finding; its text is not kept */
    char of_lanes[TEXT], lanes[WARP][32]; /* the last `lanes`: its expression and values */
    uint64_t history_bytes;
    int socket;
    bool is_over; /* the program has ended: the process itself stands at its end */
    volatile bool is_interrupted;
};

extern struct session *session; /* NULL: no debugger */

/* ---- history.c ------------------------------------------------------------------------------- */

/* Going back is a fork: copies of the process stand still at earlier points, and share all memory
 * with it that has not changed since. To go back, the last copy before the place forks once more,
 * and this copy executes what follows again, with its output thrown away. The host's code never
 * runs again: where a launch ends, the copy at the next launch's begin goes on, and at last the
 * process itself, which has waited. */

void history_open(void);
/* A launch begins: its first copy is to be made at time 0. */
void history_launch(void);
/* Is this the process itself? */
bool history_is_present(void);
/* Makes a copy at the present place. Returns true in the process that later runs again from it. */
bool history_keep(struct run_place);
/* The time in this launch at which the next copy is to be made. */
uint64_t history_next(void);
/* Hands control to the last copy at `place` or before it (`before`: before it), which goes on by
 * session->goal. False: no copy is there. In the process itself it returns true when control is
 * back; it then waits at history_front() meanwhile. Elsewhere it does not return. */
bool history_go(const struct run_place *, bool before);
struct run_place history_front(void);
/* Gives control back to the process itself, and ends this one. */
_Noreturn void history_return(void);
/* Ends this process without the reports that the runtime's _exit writes. */
_Noreturn void history_leave(void);
/* The places of copies: of the first one; the last one before a place; the first one of a later
 * launch. False: no copy is there. */
struct run_place history_first(void);
bool history_before(const struct run_place *, struct run_place *);
bool history_next_launch(uint64_t launch, struct run_place *);

/* ---- differ.c -------------------------------------------------------------------------------- */

void differ_open(void);
/* A launch is about to run: its loads are recorded, or compared with the recorded ones. */
void differ_begin(bool records);
/* Records a lane's load; or has it read something else than the thread's load of the same number?
 * Then `why` says so. */
bool differ_load(const struct warp *, const struct insn *, const struct access *, int lane,
                 bool records, char why[MESSAGE]);
/* Were all loads of the launch recorded? */
bool differ_is_whole(void);

/* ---- commands.c ------------------------------------------------------------------------------ */

/* Answers commands at a stop, and says before why the run has stopped. `lane`: the thread in focus;
 * `stop`: the number of the breakpoint, or 0. Returns when the run goes on by session->goal. */
void commands_answer(const struct lane *, const char *why, int stop);
__attribute__((format(printf, 1, 2))) void say(const char *format, ...);

/* ---- session.c ------------------------------------------------------------------------------- */

/* The thread in focus. False: its block has not begun, or has ended. */
bool session_lane(struct lane *);
/* The fragment that holds a lane; NULL: the lane has exited. */
const struct fragment *fragment_of(const struct warp *, int lane);
/* Calls that lead to a fragment's instruction, those that nvcc has inlined too. */
unsigned depth_of(const struct warp *, const struct fragment *);
/* The number of a block in a grid, or of a thread in a block, x fastest; its place; how many there
 * are. */
uint64_t index_of(struct emu_dim at, struct emu_dim size);
struct emu_dim dim_at(uint64_t index, struct emu_dim size);
uint64_t dim_count(struct emu_dim size);
/* The launch that runs; NULL: the host's code does. */
struct launch *session_launch(void);
/* Each resident block of it. */
void session_blocks(void (*visit)(struct block *, void *), void *);
/* The source line of an instruction; 0: unknown. *file may be NULL then. */
unsigned line_at(const struct emu_kernel *, uint32_t pc, const char **file);
/* The instruction in code of the user's own to which a fragment's belongs: the call, if it is in a
 * function of a header of the toolkit, as atomicCAS. */
uint32_t own_place(const struct emu_kernel *, const struct fragment *);
/* Of the code of a kernel, is pc a first instruction of the place "scan.cu:12", "12", or a
 * function's name? *moved: the line where it is, the next one with code; 0: the kernel has no such
 * place. */
bool session_matches(const struct emu_kernel *, const char *where, uint32_t pc, unsigned *moved);
/* A file's name without its folders; "?" of NULL. */
const char *source_name(const char *path);
/* A line of a file. False: the file cannot be read, or is shorter. */
bool source_line(const char *file, unsigned line, char *text, size_t size);

#endif
