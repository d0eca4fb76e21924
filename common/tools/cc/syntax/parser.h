/*
 * parser.h — what the files of the parser share: its state, and the names that are visible.
 *
 * The parser goes down the grammar by one function for each rule, and checks types on its way. It
 * stands at `token`, the next one to be read.
 *
 * After an error in the grammar it `stumbles`: it stands at an end of text that is no real one, so
 * that all rules return. The statement or declaration around them then goes on after the next
 * semicolon or block. After an error in the meaning, what is wrong has an unknown type, about which
 * nothing more is said. So an error has no others in its train.
 */
#ifndef CC_PARSER_H
#define CC_PARSER_H

#include "ast.h"
#include "common/tools/cc/source/source.h"

/* ---- names ----------------------------------------------------------------------------------- */

enum name_kind {
    NAME_SYMBOL,   /* a variable */
    NAME_CONSTANT, /* an enumerator, or a template's parameter: `constant` */
    NAME_FUNCTION, /* a kernel or device function */
    NAME_TEMPLATE, /* of kernels or device functions */
    NAME_TYPE,     /* a typedef */
    NAME_TAG,      /* enum NAME, struct NAME */
    NAME_HOST,     /* a function or variable of host code */
    NAME_REFUSED,  /* an error was reported for it, so that nothing more is said */
};

struct name {
    enum name_kind kind;
    const char *text;
    struct position at;
    union {
        struct symbol *symbol;
        struct expr *constant;
        struct function *function;
        struct template *template;
        const struct type *type;
        bool is_function; /* of NAME_HOST */
    };
    struct token *begin; /* of NAME_HOST: its declaration; NULL: only a prototype */
    bool is_again;       /* of NAME_HOST: a second function of this name */
    struct expr *value; /* of NAME_SYMBOL: a const one with a known value; NULL: none */
    struct name *next, *in_bucket;
};

enum { SCOPE_BUCKETS = 1024, MANY_NAMES = 32 };

struct scope {
    struct name *names;
    int count;
    struct name **buckets; /* by the hash of a name, from MANY_NAMES names on; else NULL */
    struct scope *outer;
    const struct token *body; /* of a for: where its statement begins */
    bool is_body;             /* the { } of a for: no name of its head is declared again */
};

/* ---- the parser ------------------------------------------------------------------------------ */

/* The body of a template's instance, read when the file has been read. */
struct body {
    struct function *function;
    struct token *begin;
    struct scope *scope; /* of its parameters */
    struct body *next;
};

struct call {
    struct function *caller, *callee;
    struct position at;
    struct call *next;
};

struct parser {
    struct arena *arena;
    struct diagnostics *diagnostics;
    struct token *token, *previous;
    struct token *stumbled_at; /* NULL: all is well */
    struct token end;
    bool leaves_function; /* a } is missing */
    int quiet;            /* errors are not reported, but counted in `unsaid` */
    int unsaid;
    int depth;       /* of rules in rules */
    int open_braces; /* of initialisers, in this declaration */

    struct scope *global, *scope;
    struct function *function;  /* whose body is read */
    struct stmt *in_switch;     /* the innermost one */
    int switch_depth;           /* of rules around its block */
    int loops;                  /* around this statement */
    bool in_template_arguments; /* where > is no operator */
    struct kept {
        struct token *begin, *end;
        struct expr **arguments;
        int count;
    } kept; /* arguments of a call that stands here, read to find a template's; begin: its ( */
    int c_names;                /* extern "C" around this declaration */
    bool is_program;            /* the file has been read; now main, and what it calls */

    struct unit *unit;
    struct function **last_function;
    struct body *bodies, **last_body;
    struct call *calls;
    int instances;
};

/* ---- tokens and errors (parser.c) ------------------------------------------------------------ */

bool sees(const struct parser *, const char *text);    /* does `text` come next? */
bool next_is(const struct parser *, const char *text); /* … after the next token? */
bool takes(struct parser *, const char *text);         /* if it does, goes past it */
void go_past(struct parser *);
/* Goes past `text`, or says that it is missing. A missing ; or ) is put in by the parser itself. */
void needs(struct parser *, const char *text);
const char *text_of(struct parser *, const struct token *);

/* Reports an error, unless the parser is quiet or has stumbled. */
void complain(struct parser *, struct position, const char *hint, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void remark(struct parser *, struct position, const char *hint, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* An error of the grammar. */
void stumble(struct parser *, struct position, const char *hint, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* "a lambda: nvcc accepts this, the page's compiler does not" */
void refuse(struct parser *, const struct token *, const char *what);
void give_up(struct parser *); /* without a word: what is wrong was said before */
/* Goes on after the semicolon or the block in which the parser has stumbled. */
void get_up(struct parser *);
/* Is this too deep to go on? Each `enter` that returns true needs a `leave`. */
bool enter(struct parser *);
void leave(struct parser *);

/* The token after the bracket that closes the one at `open`; TOKEN_END if none does. After a { that
 * nothing closes, the next function. */
struct token *after_bracket(struct token *open);
/* Does a function of the device begin here, at the begin of a line? */
bool is_outside(const struct token *);
/* Begins to try something without saying errors; was it right? If not, stands at `begin` again. */
void try_quietly(struct parser *);
bool was_right(struct parser *, struct token *begin);

/* ---- names (parser.c) ------------------------------------------------------------------------ */

void begin_scope(struct parser *);
void end_scope(struct parser *);
/* NULL: there is none. `tag`: of an enum or a struct. */
struct name *find_name(const struct parser *, const struct token *);
struct name *find_tag(const struct parser *, const struct token *);
/* Adds a name to the innermost scope; it is an error if it is there, and was another thing. */
struct name *add_name(struct parser *, enum name_kind, const struct token *);
/* Of a function's name that another one has. */
void refuse_overload(struct parser *, const struct token *);
/* ", or did you mean `offset`?": a hint with the nearest visible name, or NULL. */
const char *nearest_name(struct parser *, const struct token *);
/* Says that the name is not known, or what it is if the language has it and the subset has not;
 * once in a function. */
void unknown_name(struct parser *, const struct token *);
/* After an error in a declaration: its name is known, but not what it is. */
void add_refused(struct parser *, const struct token *);

/* ---- words (parser.c) ------------------------------------------------------------------------ */

/* What `word` is in CUDA C++, if the subset does not have it: "an atomic operation"; or NULL. */
const char *refused_word(struct parser *, const struct token *);
/* The names of built-in functions and variables, for nearest_name; ends with NULL. */
extern const char *const BUILT_IN_NAMES[];

/* ---- types and declarators (declaration.c) --------------------------------------------------- */

struct specifiers {
    const struct type *type;
    const struct token *begin;
    bool is_static, is_extern, is_typedef, is_const, is_constexpr, is_volatile;
    bool is_global, is_device, is_host, is_shared, is_constant;
    int max_threads, min_blocks;
    int64_t align; /* 0: not said */
};

struct declarator {
    const struct type *type;
    struct token *name; /* NULL: none */
};

bool is_type(const struct parser *);     /* is the next token a word of a type? */
bool begins_type(const struct parser *); /* … or an unknown one, as in `flaot x` */
struct specifiers read_specifiers(struct parser *);
struct declarator read_declarator(struct parser *, const struct specifiers *);
/* A type in parentheses of a cast, of sizeof, … */
const struct type *read_type_name(struct parser *);

/* ---- expressions ----------------------------------------------------------------------------- */

/* expression.c */
struct expr *read_expression(struct parser *); /* with commas */
struct expr *read_assignment(struct parser *); /* without */
struct expr *read_conditional(struct parser *);
/* A constant of an integer type, as a node (NULL after an error) or as its value (0 after an error,
 * which says what `what` is). */
const struct expr *read_constant_node(struct parser *, const char *what);
int64_t read_constant(struct parser *, const char *what);
/* expression.c, call.c */
struct expr *read_call(struct parser *, struct token *name, struct function *);
void read_arguments(struct parser *, struct expr *call); /* appends those of `(a, b)` */
void wrong_count(struct parser *, const struct expr *call, const char *name, int wanted);
/* A built-in function or variable; NULL: the name is of none. */
struct expr *read_built_in(struct parser *, struct token *name);
struct expr *read_string(struct parser *);

/* struct.c */
void declare_vectors(struct parser *);
/* make_float4(…); NULL: the name is of no such function. */
struct expr *read_make(struct parser *, struct token *name);
/* `struct NAME { … }`; NULL: it has what the subset lacks, and the parser stands at its begin. */
const struct type *read_struct(struct parser *);
/* `.name` or `->name` after e. */
struct expr *read_member(struct parser *, struct expr *e);

/* instruction.c: what PTX instructions do. NULL: the name is of no such function. */
struct expr *read_instruction(struct parser *, struct token *name);
struct stmt *read_assembly(struct parser *); /* asm("…" : … : …); */

/* build.c: nodes, with the conversions that their operands need */
struct expr *new_expr(struct parser *, enum expr_kind, const struct type *, struct position);
struct expr *unknown(struct parser *, struct position);
struct expr *integer(struct parser *, const struct type *, int64_t, struct position);
bool is_unknown(const struct expr *);
struct expr *value_of(struct parser *, struct expr *); /* loads, or decays to a pointer */
struct expr *convert(struct parser *, struct expr *value, const struct type *, struct position);
/* An implicit conversion, or an error that says what cannot become what: "an argument". */
struct expr *fit(struct parser *, struct expr *value, const struct type *, const char *what);
struct expr *condition(struct parser *, struct expr *value);
struct expr *promote(struct parser *, struct expr *value);
void balance(struct parser *, struct expr **left, struct expr **right); /* the usual conversions */
struct expr *dereference(struct parser *, struct expr *pointer, struct position);

/* build.c */
struct expr *build_binary(struct parser *, enum operation, struct expr *left, struct expr *right,
                          struct position);
struct expr *build_logical(struct parser *, enum expr_kind, struct expr *left, struct expr *right,
                           struct position);
struct expr *build_unary(struct parser *, const struct token *mark, struct expr *operand);
struct expr *build_conditional(struct parser *, struct expr *condition, struct expr *left,
                               struct expr *right, struct position);
struct expr *build_assignment(struct parser *, struct expr *place, struct expr *value,
                              struct position);
struct expr *build_update(struct parser *, enum operation, struct expr *place, struct expr *value,
                          bool gives_old, struct position);
struct expr *build_cast(struct parser *, const struct type *, struct expr *, struct position);

/* build.c: the value of a node whose operands are constants; the node itself otherwise */
bool is_constant(const struct expr *);

/* ---- statements, variables, functions -------------------------------------------------------- */

struct stmt *read_block(struct parser *); /* from its { on */
/* The variables of a declaration, as a list of STMT_DECLARE. */
struct stmt *read_variables(struct parser *, const struct specifiers *, struct declarator);
/* static_assert(…); */
void read_static_assert(struct parser *);
/* enum NAME { … }, from `enum` on; its type. */
const struct type *read_enum(struct parser *);

/* Of a function, from its ( on, into the innermost scope. */
void read_parameters(struct parser *, struct function *);
/* function.c: a declaration or definition, from its ( on. The body of an instance is read later, by
 * read_bodies. NULL after an error. */
struct function *read_function(struct parser *, const struct specifiers *, struct declarator,
                               const struct template *, struct expr **arguments);
void note_call(struct parser *, struct function *callee, struct position);

/* ---- templates (call.c) ---------------------------------------------------------------------- */

struct template_parameter {
    const struct token *name;
    const struct type *type; /* NULL: it stands for a type */
    struct token *otherwise; /* after =; NULL: none */
};

struct template
{
    const struct token *name;
    struct template_parameter *parameters;
    int parameter_count;
    struct token *begin; /* of the function */
    bool is_kernel, has_body;
    struct instance {
        struct expr **arguments;
        struct function *function;
        struct instance *next;
    } * instances;
};

void read_template(struct parser *); /* from `template` on */
/* `<…>` after a template's name. What it leaves out follows from the arguments of the call after
 * it. An argument that is a type is a node of this type. NULL after an error. */
struct expr **read_template_arguments(struct parser *, struct template *, const struct token *name);
struct function *instance_of(struct parser *, struct template *, struct expr **arguments,
                             struct position);
/* Both. */
struct function *read_instance(struct parser *, struct template *, const struct token *name);

/* ---- the file (function.c) ------------------------------------------------------------------- */

/* The declaration's name: what stands before its first ( = [ ; or {. NULL: there is none. */
struct token *declared_name(struct token *begin);

/* ---- host code that main needs (program.c) --------------------------------------------------- */

bool is_host_code(const struct parser *);
/* Declares the function, or the variables, of a name of the host. False: an error was reported. */
bool read_host(struct parser *, const struct token *, const struct name *);
/* host_call() with a name, instead of the call. */
struct expr *call_host(struct parser *, struct expr *call, const char *name);
struct expr *read_launch(struct parser *, struct token *name, struct function *kernel);
/* dim3 is an array of three numbers. */
bool is_dim3(const struct type *);
/* `dim3(x, y, z)`, a variable or a number; is_list: `(x, y, z)` or `{x, y, z}`, too. */
void read_dim3(struct parser *, struct expr **parts, bool is_list);

/* ---- names for the linker (type.c) ----------------------------------------------------------- */

const char *mangle_function(struct arena *, const struct function *, const struct template *,
                            struct expr **arguments);
/* A shared variable of a function, the nth (from 0) of its name. */
const char *mangle_local(struct arena *, const struct function *, const char *name, int nth);

#endif
