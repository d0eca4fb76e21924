/* dap.c — `emu dap`: the requests of an editor, in the Debug Adapter Protocol, become lines for the
 * debugger (../debug/), and its stops become events. The lanes of the warp in which the run has
 * stopped are the protocol's threads, from 1 on. */
#define _GNU_SOURCE /* memmem, pipe2, strcasestr */
#include "command.h"
#include "common/files/allocated.h"
#include "common/files/json.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    LANES = 32,
    FRAMES = 100, /* more than the debugger tells of; a frame's id is lane * FRAMES + depth */
    MOST_POINTS = 64,
    PART = 1 << 12, /* bytes that are read at once */
    MOST_HEADER = 1024,
    MOST_BYTES = 1 << 24, /* of a request */
};

enum { OUT, ERR, OUTPUTS }; /* what the program writes */

static struct {
    int socket, output[OUTPUTS]; /* -1: there is none, or it has ended */
    pid_t process;
    bool has_begun; /* the debugger has asked for its first line */
    bool is_busy;   /* it has not answered a line yet */
    bool goes;      /* and an event is to tell when it has */
    bool looks;     /* the focus moves for one answer */
    bool has_moved; /* a line has made the run stop elsewhere */
    /* Objects of the debugger: where the run has stopped, and the place in focus. */
    char stop[DEBUG_LONGEST], focus[DEBUG_LONGEST];
    FILE *answer;
    char *text; /* of it */
    size_t text_size;
} dap = {.socket = -1, .output = {-1, -1}};

/* ---- messages to the editor ------------------------------------------------------------------ */

/* An object that is written piece by piece. */
struct dap_body {
    struct json json;
    char *text;
    size_t size;
};

static struct json *open_body(struct dap_body *b)
{
    b->json =
        (struct json){.out = allocated(open_memstream(&b->text, &b->size)), .depth = JSON_IN_LINE};
    json_open(&b->json, NULL, '{');
    return &b->json;
}

static void close_body(struct dap_body *b)
{
    json_close(&b->json, '}');
    fclose(b->json.out);
}

/* Sends a message of a type; `format` says what it has besides a body (json_put). */
static void send_message(struct dap_body *b, const char *type, const char *format, ...)
{
    static uint64_t last;
    struct dap_body message;
    struct json *j = open_body(&message);
    va_list values;
    json_put(j, "seq# type$", ++last, type);
    va_start(values, format);
    json_vput(j, format, values);
    va_end(values);
    close_body(b);
    json_put(j, "body!", b->text);
    close_body(&message);
    printf("Content-Length: %zu\r\n\r\n%s", message.size, message.text);
    fflush(stdout);
    free(b->text);
    free(message.text);
}

/* `format` is that of the body. */
static void send_event(const char *name, const char *format, ...)
{
    struct dap_body b;
    va_list values;
    va_start(values, format);
    json_vput(open_body(&b), format, values);
    va_end(values);
    send_message(&b, "event", "event$", name);
}

static void send_output(const char *category, const char *text)
{
    if (*text) send_event("output", "category$ output$", category, text);
}

/* ---- where the run stands -------------------------------------------------------------------- */

/* The texts that are read of requests and stops are few and small, and stay. */
static char *text_of(const char *object, const char *path)
{
    return json_string(json_member(object, path));
}

static uint64_t number_of(const char *object, const char *path)
{
    return json_unsigned(json_member(object, path));
}

static uint64_t dim_of(const char *stop, const char *name, size_t k)
{
    return json_unsigned(json_item(json_member(stop, name), k));
}

/* The numbers of its block and thread, x fastest. */
static uint64_t index_of(const char *stop, const char *name, const char *size)
{
    return dim_of(stop, name, 0) +
           dim_of(stop, size, 0) *
               (dim_of(stop, name, 1) + dim_of(stop, size, 1) * dim_of(stop, name, 2));
}

static uint64_t block_of(const char *stop) { return index_of(stop, "block", "gridDim"); }
static uint64_t thread_of(const char *stop) { return index_of(stop, "thread", "blockDim"); }

static void send_stop(void)
{
    const char *reason = text_of(dap.stop, "reason"), *text = text_of(dap.stop, "text");
    uint64_t number = number_of(dap.stop, "breakpoint");
    struct dap_body b;
    struct json *j = open_body(&b);
    json_put(j, "reason$ description$ threadId# allThreadsStopped?", reason,
             text && *text ? text : reason, thread_of(dap.stop) % LANES + 1, true);
    if (number) json_numbers(j, "hitBreakpointIds", &number, 1);
    bool has_found = !strcmp(reason, "exception"); /* which is too long for a title */
    if (has_found) send_output("console", emu_text("%s\n", text));
    send_message(&b, "event", "event$", "stopped");
}

/* ---- the program ----------------------------------------------------------------------------- */

/* False: there is nothing to be read at the moment, or not any more. */
static bool pass_output(int which)
{
    char text[PART];
    ssize_t length = read(dap.output[which], text, sizeof text - 1);
    if (length == 0) {
        close(dap.output[which]);
        dap.output[which] = -1;
    }
    if (length <= 0) return false;
    text[length] = '\0';
    send_output(which == OUT ? "stdout" : "stderr", text);
    return true;
}

static void pass_all_output(void)
{
    for (int k = 0; k < OUTPUTS; k++)
        while (dap.output[k] >= 0 && pass_output(k)) continue;
}

static void end_program(void)
{
    int status = 0;
    waitpid(dap.process, &status, 0);
    pass_all_output();
    close(dap.socket);
    dap.socket = -1;
    dap.is_busy = dap.goes = false;
    if (!dap.has_begun) return;
    send_event("exited", "exitCode#", (uint64_t)WEXITSTATUS(status));
    send_event("terminated", "");
}

/* What the debugger has said since this was last called. */
static const char *take_answer(void)
{
    fflush(dap.answer);
    dap.text[dap.text_size] = '\0';
    rewind(dap.answer);
    return dap.text;
}

static void hear(void)
{
    static char message[DEBUG_LONGEST];
    switch (emu_debug_hear(dap.socket, message)) {
    case '\0': end_program(); break;
    case 'o': fputs(message + 1, dap.answer); break;
    case 'q': kill(dap.process, SIGTERM); break;
    case 's':
        if (dap.goes) send_output("console", take_answer());
        strcpy(dap.focus, message + 1);
        if (dap.looks) break;
        strcpy(dap.stop, dap.focus);
        dap.has_moved = true;
        break;
    case 'p':
        dap.has_begun = true;
        dap.is_busy = false;
        if (!dap.goes) break;
        dap.goes = false;
        pass_all_output();
        if (!dap.has_moved) send_output("console", take_answer()); /* why it has not */
        send_stop();
    }
}

static void tell(const char *line)
{
    take_answer();
    dap.has_moved = false;
    dap.is_busy = dap.socket >= 0;
    if (dap.is_busy) emu_debug_tell(dap.socket, line);
}

static void step(void);

/* The debugger's answer to a line, without its last newline, until the next line. */
__attribute__((format(printf, 1, 2))) static char *ask(const char *format, ...)
{
    char line[DEBUG_LONGEST];
    va_list values;
    va_start(values, format);
    vsnprintf(line, sizeof line, format, values);
    va_end(values);
    tell(line);
    while (dap.is_busy) step();
    take_answer();
    if (dap.text_size) dap.text[dap.text_size - 1] = '\0';
    return dap.text;
}

static void focus(uint64_t block, uint64_t thread)
{
    if (block == block_of(dap.focus) && thread == thread_of(dap.focus)) return;
    dap.looks = true;
    ask("focus block %" PRIu64 " thread %" PRIu64, block, thread);
    dap.looks = false;
}

/* Looks at the lane that a request is about, or at the one that has stopped. */
static void look(const char *arguments)
{
    uint64_t lane = number_of(arguments, "threadId");
    if (!lane) lane = number_of(arguments, "frameId") / FRAMES;
    if (!lane) lane = number_of(arguments, "variablesReference") / 2;
    uint64_t thread = thread_of(dap.stop);
    if (lane) thread += lane - 1 - thread % LANES;
    focus(block_of(dap.stop), thread);
}

/* ---- requests: the program ------------------------------------------------------------------- */

/* A request's function writes into the body of the response. Returns NULL, or a sentence that says
 * why it has failed. */
typedef const char *request_fn(const char *arguments, struct json *body);

static const char *on_initialize(const char *arguments, struct json *body)
{
    (void)arguments;
    json_put(body,
             "supportsConfigurationDoneRequest? supportsConditionalBreakpoints? "
             "supportsFunctionBreakpoints? supportsDataBreakpoints? supportsEvaluateForHovers? "
             "supportsStepBack? supportsSetVariable? supportsTerminateRequest?",
             true, true, true, true, true, true, true, true);
    return NULL;
}

/* In a new process: is an `emu debug` whose lines come by a socket. */
_Noreturn static void be_debugger(const char *arguments, char *program, const int *ends,
                                  int output[OUTPUTS][2])
{
    const char *given = json_member(arguments, "args"), *one, *folder = text_of(arguments, "cwd");
    enum { OWN_WORDS = 6 };
    char *tool = text_of(arguments, "tool"), **words;
    int count = 0;
    size_t given_count = 0;
    emu_debug_for(ends[1]);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    close(ends[0]);
    dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
    dup2(output[OUT][1], STDOUT_FILENO);
    dup2(output[ERR][1], STDERR_FILENO);
    if (folder && chdir(folder) != 0)
        emu_refuse("cannot change to \"cwd\", %s: %s", folder, strerror(errno));
    while (json_item(given, given_count)) given_count++;
    words = allocated(calloc(OWN_WORDS + given_count + 1, sizeof *words));
    words[count++] = "emu";
    words[count++] = "debug";
    if (tool) words[count++] = "--tool";
    if (tool) words[count++] = tool;
    words[count++] = "--";
    words[count++] = program;
    for (size_t k = 0; (one = json_item(given, k)); k++)
        if ((words[count] = json_string(one))) count++;
    exit(emu_main(count, words));
}

static const char *on_launch(const char *arguments, struct json *body)
{
    int ends[2], output[OUTPUTS][2];
    char *program = text_of(arguments, "program");
    (void)body;
    if (dap.process) return "a program has been launched already";
    if (!program) return "\"program\" is missing: the path of a .cu file or of a program";
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) != 0 || pipe2(output[OUT], O_CLOEXEC) != 0 ||
        pipe2(output[ERR], O_CLOEXEC) != 0 || (dap.process = fork()) < 0)
        emu_refuse("cannot start %s: %s", program, strerror(errno));
    if (dap.process == 0) be_debugger(arguments, program, ends, output);
    close(ends[1]);
    dap.socket = ends[0];
    for (int k = 0; k < OUTPUTS; k++) {
        close(output[k][1]);
        dap.output[k] = output[k][0];
        fcntl(dap.output[k], F_SETFL, O_NONBLOCK);
    }
    dap.is_busy = true;
    while (dap.is_busy) step();
    return dap.socket >= 0 ? NULL
                           : emu_text("%s was not started, or has ended before it used CUDA: its "
                                      "output says more",
                                      program);
}

static const char *on_pause(const char *arguments, struct json *body)
{
    (void)arguments, (void)body;
    if (!dap.goes) return "nothing runs that could be paused";
    kill(dap.process, SIGINT);
    return NULL;
}

static const char *on_terminate(const char *arguments, struct json *body)
{
    (void)arguments, (void)body;
    if (dap.socket >= 0) kill(dap.process, SIGTERM);
    return NULL;
}

/* ---- requests: breakpoints ------------------------------------------------------------------- */

/* Breakpoints and watchpoints that the debugger has. `owner` is a source file's path, or a kind;
 * `answer` is what the debugger has said of it. */
static struct dap_point {
    int number; /* 0: free */
    bool is_wanted;
    const char *owner, *key;
    char *answer;
} points[MOST_POINTS];

/* The line that sets a breakpoint of a list; of a watchpoint, the command, and its dataId. */
static const char *key_of(const char *item, const char *source)
{
    const char *name = text_of(item, "name"), *id = text_of(item, "dataId"),
               *access = text_of(item, "accessType"), *condition = text_of(item, "condition");
    const char *word = condition && *condition ? " if " : "";
    if (id) return emu_text("%s %s", access && !strcmp(access, "read") ? "rwatch" : "watch", id);
    if (name) return emu_text("break %s%s%s", name, word, *word ? condition : "");
    return emu_text("break %s:%" PRIu64 "%s%s", source, number_of(item, "line"), word,
                    *word ? condition : "");
}

/* Tells the debugger of a point. */
static void set_point(struct dap_point *p)
{
    uint64_t block, thread;
    int name = 0;
    const char *space = strchr(p->key, ' ');
    if (sscanf(space, "%" SCNu64 ":%" SCNu64 ":%n", &block, &thread, &name) == 2 && name)
        focus(block, thread); /* there the name has its meaning */
    else
        name = 1;
    p->answer = strdup(ask("%.*s %s", (int)(space - p->key), p->key, space + name));
    sscanf(p->answer, "%*s %d", &p->number);
}

/* The points of an owner become those of the list. Those that are there already stay: the name of a
 * watchpoint may mean another word by now. */
static const char *set_points(const char *arguments, struct json *body, const char *owner)
{
    const char *list = json_member(arguments, "breakpoints"), *item, *slash = strrchr(owner, '/');
    const struct dap_point *end = points + MOST_POINTS;
    unsigned line;
    for (struct dap_point *p = points; p < end; p++)
        p->is_wanted = !p->number || strcmp(p->owner, owner) != 0;
    json_open(body, "breakpoints", '[');
    for (size_t k = 0; (item = json_item(list, k)); k++) {
        struct dap_point new = {.owner = owner, .key = key_of(item, slash ? slash + 1 : owner)},
                         *p = points;
        while (p < end && (!p->number || p->is_wanted || strcmp(p->key, new.key) != 0)) p++;
        if (p == end) {
            set_point(&new);
            for (p = points; p < end && p->number;) p++;
            if (!new.number || p == end) p = &new;
            *p = new;
        }
        p->is_wanted = true;
        bool is_verified = p->number && !strstr(p->answer, "has no code");
        json_put(body, "{verified?", is_verified);
        if (p->number) json_number(body, "id", (uint64_t)p->number);
        if (!is_verified) json_text(body, "message", p->answer);
        if (sscanf(p->answer, "Breakpoint %*d at %*[^:]:%u", &line) == 1)
            json_number(body, "line", line);
        json_close(body, '}');
    }
    json_close(body, ']');
    for (struct dap_point *p = points; p < end; p++) {
        if (!p->number || p->is_wanted) continue;
        ask("delete %d", p->number);
        p->number = 0;
    }
    return NULL;
}

static const char *on_breakpoints(const char *arguments, struct json *body)
{
    const char *path = text_of(arguments, "source.path");
    return path ? set_points(arguments, body, path) : "the source has no path: it is in no file";
}

static const char *on_function_breakpoints(const char *arguments, struct json *body)
{
    return set_points(arguments, body, "function");
}

static const char *on_data_breakpoints(const char *arguments, struct json *body)
{
    return set_points(arguments, body, "data");
}

/* The debugger says whether a name can be watched when it is told to. */
static const char *on_data_info(const char *arguments, struct json *body)
{
    const char *name = text_of(arguments, "name"), *id = NULL, *why;
    int number;
    if (!name) return "\"name\" is missing: a variable or an expression";
    why = ask("watch %s", name);
    if (sscanf(why, "Watchpoint %d", &number) == 1) {
        ask("delete %d", number);
        why = name;
        id =
            emu_text("%" PRIu64 ":%" PRIu64 ":%s", block_of(dap.focus), thread_of(dap.focus), name);
    }
    json_put(body, "dataId$ description$ accessTypes[ $ $ ]", id, why, "read", "write");
    return NULL;
}

/* ---- requests: what is there ----------------------------------------------------------------- */

static const char *on_threads(const char *arguments, struct json *body)
{
    uint64_t x = dim_of(dap.stop, "blockDim", 0), y = dim_of(dap.stop, "blockDim", 1),
             count = x * y * dim_of(dap.stop, "blockDim", 2), first = thread_of(dap.stop);
    char name[200];
    (void)arguments;
    first -= first % LANES;
    json_open(body, "threads", '[');
    if (!count) json_put(body, "{id# name$}", UINT64_C(1), "host");
    for (uint64_t t = first; t < count && t < first + LANES; t++) {
        snprintf(name, sizeof name,
                 "block (%" PRIu64 ",%" PRIu64 ",%" PRIu64 ") thread (%" PRIu64 ",%" PRIu64
                 ",%" PRIu64 ")",
                 dim_of(dap.stop, "block", 0), dim_of(dap.stop, "block", 1),
                 dim_of(dap.stop, "block", 2), t % x, t / x % y, t / x / y);
        json_put(body, "{id# name$}", t - first + 1, name);
    }
    json_close(body, ']');
    return NULL;
}

/* A thread without a place has one frame, so that an editor can point at it, and step back. */
static const char *on_stack(const char *arguments, struct json *body)
{
    uint64_t id = number_of(arguments, "threadId") * FRAMES;
    const char *stack = json_member(dap.focus, "stack"), *frame;
    json_open(body, "stackFrames", '[');
    for (size_t k = 0; (frame = json_item(stack, k)) || k == 0; k++) {
        const char *name = text_of(frame, "function"), *file = text_of(frame, "file");
        if (!name) name = json_member(dap.focus, "kernel") ? "the thread has exited" : "host";
        json_put(body, "{id# name$ line# column#", id + k, name, number_of(frame, "line"),
                 UINT64_C(1));
        if (file) json_put(body, "source{name$ path$}", basename(file), file);
        json_close(body, '}');
    }
    json_close(body, ']');
    return NULL;
}

/* Only the innermost function has variables here. */
static const char *on_scopes(const char *arguments, struct json *body)
{
    uint64_t frame = number_of(arguments, "frameId"), reference = frame / FRAMES * 2;
    json_open(body, "scopes", '[');
    if (json_member(dap.focus, "kernel") && frame % FRAMES == 0)
        json_put(body,
                 "{name$ presentationHint$ variablesReference# expensive?}"
                 "{name$ presentationHint$ variablesReference# expensive?}",
                 "Locals", "locals", reference, false, "Registers", "registers", reference + 1,
                 true);
    json_close(body, ']');
    return NULL;
}

static const char *on_variables(const char *arguments, struct json *body)
{
    bool are_registers = number_of(arguments, "variablesReference") & 1;
    char *rest, *text = ask(are_registers ? "info registers" : "info locals");
    json_open(body, "variables", '[');
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char *sign = strstr(line, are_registers ? " " : " = "), *name = sign ? line : "(none)",
             *value = sign ? sign + strspn(sign, " =") : line; /* (none): a sentence says why */
        if (sign) *sign = '\0';
        json_put(body, "{name$ value$ evaluateName$ variablesReference#}", name, value,
                 sign ? name : "", UINT64_C(0));
    }
    json_close(body, ']');
    return NULL;
}

/* Writes the value of an expression under a key. */
static const char *put_value(struct json *body, const char *key, const char *expression)
{
    const char *answer = ask("print %s", expression), *sign = strstr(answer, " = ");
    bool is_list = strstr(expression, "..") != NULL; /* a line for each element */
    size_t length = strlen(expression);
    if (!sign || (!is_list && strncmp(answer, expression, length) != 0)) return answer;
    json_text(body, key, is_list ? answer : answer + length + strlen(" = "));
    return NULL;
}

static const char *on_set_variable(const char *arguments, struct json *body)
{
    const char *name = text_of(arguments, "name"), *value = text_of(arguments, "value"), *answer;
    if (!name || !value) return "\"name\" and \"value\" are needed";
    answer = ask("set var %s = %s", name, value);
    return strncmp(answer, "Earlier", strlen("Earlier")) ? answer : put_value(body, "value", name);
}

/* In the editor's console, any command of the debugger. */
static const char *on_evaluate(const char *arguments, struct json *body)
{
    const char *text = text_of(arguments, "expression"), *context = text_of(arguments, "context");
    if (!text) return "\"expression\" is missing";
    json_number(body, "variablesReference", 0);
    if (!context || strcmp(context, "repl") != 0) return put_value(body, "result", text);
    json_text(body, "result", ask("%s", text));
    return NULL;
}

/* ---- answering ------------------------------------------------------------------------------- */

static const struct dap_request {
    const char *name;
    bool needs_stop;
    request_fn *run;
    const char *line; /* that makes the debugger go on */
} requests[] = {
    {"initialize", false, on_initialize, NULL},
    {"launch", false, on_launch, NULL},
    {"setBreakpoints", true, on_breakpoints, NULL},
    {"setFunctionBreakpoints", true, on_function_breakpoints, NULL},
    {"setDataBreakpoints", true, on_data_breakpoints, NULL},
    {"setExceptionBreakpoints", false, NULL, NULL}, /* VS Code sends it: findings always stop */
    {"dataBreakpointInfo", true, on_data_info, NULL},
    {"configurationDone", true, NULL, "run"},
    {"threads", false, on_threads, NULL},
    {"stackTrace", true, on_stack, NULL},
    {"scopes", true, on_scopes, NULL},
    {"variables", true, on_variables, NULL},
    {"setVariable", true, on_set_variable, NULL},
    {"evaluate", true, on_evaluate, NULL},
    {"continue", true, NULL, "continue"},
    {"next", true, NULL, "next"},
    {"stepIn", true, NULL, "step"},
    {"stepOut", true, NULL, "finish"},
    {"stepBack", true, NULL, "reverse-next"},
    {"reverseContinue", true, NULL, "reverse-continue"},
    {"pause", false, on_pause, NULL},
    {"terminate", false, on_terminate, NULL},
    {"disconnect", false, on_terminate, NULL},
};
enum { REQUESTS = sizeof requests / sizeof *requests };

/* Requests that have to wait until the debugger has answered, which may be at the next stop. */
static char **waiting;
static size_t waiting_count;

_Noreturn static void leave(void)
{
    if (dap.socket >= 0) {
        kill(dap.process, SIGTERM);
        close(dap.socket);
        waitpid(dap.process, NULL, 0); /* it removes what it has compiled */
    }
    exit(EXIT_SUCCESS);
}

static void answer(char *request)
{
    const char *command = text_of(request, "command"), *wrong = NULL,
               *arguments = json_member(request, "arguments");
    const struct dap_request *r = requests;
    struct dap_body body;
    while (r < requests + REQUESTS && strcmp(r->name, command) != 0) r++;
    bool is_known = r < requests + REQUESTS;
    if (is_known && r->needs_stop && dap.is_busy) {
        waiting = grown(waiting, waiting_count, sizeof *waiting);
        waiting[waiting_count++] = request;
        return;
    }
    struct json *j = open_body(&body);
    if (!is_known)
        wrong = emu_text("emu dap has no request %s", command);
    else if (r->needs_stop && dap.socket < 0)
        wrong = "no program is being debugged";
    if (!wrong && r->needs_stop) look(arguments);
    if (!wrong && r->run) wrong = r->run(arguments, j);
    if (wrong) wrong = strdup(wrong);
    if (!wrong && r->line) {
        json_bool(j, "allThreadsContinued", true);
        tell(r->line);
        dap.goes = dap.is_busy;
    }
    send_message(&body, "response",
                 wrong ? "request_seq# command$ success? message$"
                       : "request_seq# command$ success?",
                 number_of(request, "seq"), command, !wrong, wrong);
    if (!strcmp(command, "disconnect")) leave();
    if (!wrong && r->run == on_launch) send_event("initialized", "");
    if (!wrong && r->run == on_evaluate && dap.has_moved && dap.socket >= 0) send_stop();
    free(request);
}

/* ---- messages from the editor ---------------------------------------------------------------- */

static char *input;
static size_t input_size;

static void read_input(void)
{
    char part[PART];
    ssize_t length = read(STDIN_FILENO, part, sizeof part);
    if (length < 0 && errno == EINTR) return;
    if (length <= 0 && input_size) emu_refuse("emu dap: the input ends within a message");
    if (length <= 0) leave();
    input = allocated(realloc(input, input_size + (size_t)length));
    memcpy(input + input_size, part, (size_t)length);
    input_size += (size_t)length;
}

/* The next request that can be answered; NULL: there is none yet. */
static char *next_request(void)
{
    static const char name[] = "Content-Length:", blank[] = "\r\n\r\n";
    char *request, *end = input_size ? memmem(input, input_size, blank, strlen(blank)) : NULL;
    if (waiting_count && !dap.is_busy) {
        request = waiting[0];
        memmove(waiting, waiting + 1, --waiting_count * sizeof *waiting);
        return request;
    }
    if (!end && input_size < MOST_HEADER) return NULL;
    if (end) *end = '\0';
    const char *found = end ? strcasestr(input, name) : NULL;
    size_t length = found ? strtoull(found + strlen(name), NULL, 10) : 0;
    if (!length || length > MOST_BYTES)
        emu_refuse("emu dap: a message has no Content-Length from 1 to %d; an editor talks to this "
                   "command, and people to emu debug",
                   MOST_BYTES);
    *end = *blank;
    size_t begin = (size_t)(end - input) + strlen(blank);
    if (input_size < begin + length) return NULL;
    request = allocated(calloc(length + 1, 1));
    memcpy(request, input + begin, length);
    input_size -= begin + length;
    memmove(input, input + begin + length, input_size);
    if (!json_is_valid(request) || !text_of(request, "command"))
        emu_refuse("emu dap: a message is no request in JSON: %.80s", request);
    return request;
}

/* Answers a request, or waits for something to come. */
static void step(void)
{
    char *request = next_request();
    if (request) {
        answer(request);
        return;
    }
    struct pollfd files[] = {{STDIN_FILENO, POLLIN, 0},
                             {dap.socket, POLLIN, 0},
                             {dap.output[OUT], POLLIN, 0},
                             {dap.output[ERR], POLLIN, 0}};
    if (poll(files, sizeof files / sizeof *files, -1) < 0) return;
    for (int k = 0; k < OUTPUTS; k++)
        if (files[2 + k].revents) pass_output(k);
    if (files[1].revents) hear();
    if (files[0].revents) read_input();
}

void emu_dap(void)
{
    dap.answer = allocated(open_memstream(&dap.text, &dap.text_size));
    for (;;) step();
}
