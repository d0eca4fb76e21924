/* debug.c — `emu debug`: starts a program under the debugger (../debug/), and gives it the lines
 * that a person or a script writes. */
#define _GNU_SOURCE /* getline */
#include "command.h"
#include "common/files/allocated.h"
#include "common/files/json.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_COMMANDS = 64, DEBUG_LONGEST = 1 << 16 };

static const char *commands[MOST_COMMANDS]; /* of --command */
static size_t command_count, next_command;
static FILE *script;             /* of --commands */
static char last[DEBUG_LONGEST]; /* the last line, which an empty one repeats */
static bool is_json;             /* --json */
static FILE *objects;            /* where its objects go; NULL: to stdout */
static int debugger;             /* the socket */
static char **line_buffer;       /* of libedit: the line so far */

void emu_debug_command(const char *line)
{
    if (command_count == MOST_COMMANDS) emu_refuse("more than %d --command", MOST_COMMANDS);
    commands[command_count++] = line;
}

void emu_debug_commands(const char *path)
{
    script = fopen(path, "r");
    if (script == NULL) emu_refuse("cannot read %s: %s", path, strerror(errno));
}

/* The next message of the debugger (../debug/debug.h), whose first letter is returned; '\0': the
 * program has ended. */
static char hear(int socket, char message[DEBUG_LONGEST])
{
    ssize_t length;
    do length = recv(socket, message, DEBUG_LONGEST - 1, 0);
    while (length < 0 && errno == EINTR);
    message[length > 0 ? length : 0] = '\0';
    return *message;
}

/* Gives the debugger a line. False: the program has ended. */
static bool tell(int socket, const char *line)
{
    size_t size = strlen(line) ? strlen(line) : 1; /* an empty message would be an end */
    return send(socket, line, size, MSG_NOSIGNAL) >= 0;
}

/* Tab: the debugger says how the line's last word may go on. Returns the next proposal; NULL: there
 * are no more. */
static char *complete(const char *text, int number)
{
    static char answer[DEBUG_LONGEST], *next, message[DEBUG_LONGEST];
    char kind, *found;
    size_t used = 0;
    (void)text;
    if (number == 0) {
        snprintf(message, sizeof message, "complete %s", *line_buffer);
        *answer = '\0';
        tell(debugger, message);
        while ((kind = hear(debugger, message)) == 'o')
            used += (size_t)snprintf(answer + used, sizeof answer - used, "%s", message + 1);
        next = answer;
    }
    size_t length = strcspn(next, "\n");
    if (!length) return NULL;
    found = strndup(next, length);
    next += length + 1;
    return found;
}

/* A line of a terminal, with history and Tab if there is libedit. NULL: the input has ended. */
static char *edited_line(const char *prompt)
{
    static char *(*read_line)(const char *);
    static void (*add_history)(const char *);
    static bool is_open;
    if (!is_open) {
        void *library = dlopen("libedit.so.2", RTLD_NOW);
        is_open = true;
        if (library != NULL) {
            *(void **)&read_line = dlsym(library, "readline");
            *(void **)&add_history = dlsym(library, "add_history");
            line_buffer = dlsym(library, "rl_line_buffer");
            *(const char **)dlsym(library, "rl_basic_word_break_characters") =
                " \t()[]{}+-*/%!~&|^<>=,.:?";
            *(char *(**)(const char *, int))dlsym(library, "rl_completion_entry_function") =
                complete;
        }
    }
    if (read_line == NULL) {
        char *line = NULL;
        size_t size = 0;
        fputs(prompt, stdout);
        fflush(stdout);
        return getline(&line, &size, stdin) < 0 ? NULL : line;
    }
    char *line = read_line(prompt);
    if (line != NULL && *line != '\0' && add_history != NULL) add_history(line);
    return line;
}

/* The next line: of --command, of --commands, of the standard input. False: there are no more. */
static bool next_line(char line[DEBUG_LONGEST])
{
    static const char prompt[] = "(emu) ";
    bool is_person = false;
    char *text = NULL;
    size_t size = 0;
    if (next_command < command_count) {
        text = strdup(commands[next_command++]);
    } else if (script != NULL && getline(&text, &size, script) >= 0) {
        /* read */
    } else if (isatty(STDIN_FILENO) && !is_json) {
        is_person = true;
        text = edited_line(prompt);
    } else if (getline(&text, &size, stdin) < 0) {
        text = NULL;
    }
    if (text == NULL) return false;
    text[strcspn(text, "\r\n")] = '\0';
    if (!is_person && !is_json) printf("%s%s\n", prompt, text);
    if (*text != '\0') snprintf(last, sizeof last, "%s", text);
    snprintf(line, DEBUG_LONGEST, "%s", last);
    free(text);
    return true;
}

static pid_t start(const char *program, char *const *arguments, int socket)
{
    pid_t child = fork();
    if (child < 0) emu_refuse("cannot start %s: %s", program, strerror(errno));
    if (child > 0) return child;
    close(socket);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (is_json) dup2(open("/dev/null", O_RDONLY), STDIN_FILENO); /* the lines are not for it */
    if (is_json && !objects) dup2(STDERR_FILENO, STDOUT_FILENO);
    execv(program, arguments);
    fprintf(stderr, "emu: cannot run %s: %s\n", program, strerror(errno));
    _exit(EXIT_FAILURE);
}

/* --json: prints what has been answered to a line. */
static void print_json(const char *line, const char *answer, const char *stop, bool has_ended)
{
    struct json j = {.out = objects ? objects : stdout, .depth = JSON_IN_LINE};
    json_put(&j, "{command$ answer$ stop! ended?}", line, answer, *stop ? stop : "null", has_ended);
    fputc('\n', j.out);
    fflush(j.out);
}

/* Answers the debugger until the program has ended, or the lines have. Returns whether the program
 * is to be ended. */
static bool converse(int socket)
{
    static char message[DEBUG_LONGEST], line[DEBUG_LONGEST], stop[DEBUG_LONGEST];
    char *answer = NULL;
    size_t size;
    bool has_line = false;
    FILE *out = is_json ? allocated(open_memstream(&answer, &size)) : stdout;
    for (;;) {
        char kind = hear(socket, message);
        if (kind == 'o') fputs(message + 1, out);
        if (kind == 's') snprintf(stop, sizeof stop, "%s", message + 1);
        if (kind == 'o' || kind == 's') continue;
        fflush(out);
        if (is_json) {
            answer[size] = '\0';
            if (has_line) print_json(line, answer, stop, kind != 'p');
            rewind(out);
            *stop = '\0';
        }
        if (kind != 'p') return kind == 'q';
        has_line = next_line(line);
        if (!has_line) snprintf(line, sizeof line, "quit");
        fflush(stdout);
        if (!tell(socket, line)) return false;
    }
}

/* --json: what drives the debugger does not know the program's process: SIGINT makes that stop,
 * SIGTERM ends it. */
static volatile pid_t child;
static volatile bool ends_it;
static void hand_on(int number)
{
    ends_it |= number == SIGTERM;
    if (child > 0) kill(child, ends_it ? SIGKILL : SIGINT);
}

void emu_debug(const char *program, char *const *arguments)
{
    int ends[2], status;
    char number[16];
    const char *file = setting_text(SETTING_LOG_FILE), *tool = setting_text(SETTING_TOOL);
    if (tool != NULL && check_tools(tool) & EMU_CHECK_ORDER) /* its copies would stop, too */
        emu_refuse("debug has no --tool order: run emu --tool order, or debug with another tool");
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) != 0)
        emu_refuse("cannot make a socket: %s", strerror(errno));
    snprintf(number, sizeof number, "%d", ends[1]);
    is_json = setting_text(SETTING_JSON) != NULL;
    if (is_json && file && !(objects = fopen(file, "we")))
        emu_refuse("cannot write the log file %s: %s", file, strerror(errno));
    unsetenv(settings[SETTING_JSON].variable);
    emu_set(settings[SETTING_DEBUG].variable, number);
    if (setting_text(SETTING_CSV) == NULL) emu_set(settings[SETTING_COUNTERS].variable, "0");
    emu_set(settings[SETTING_PROGRESS].variable, "0");
    if (setting_text(SETTING_CLOCK_SEED) == NULL)
        emu_set(settings[SETTING_CLOCK_SEED].variable, "1"); /* the run repeats */
    signal(SIGINT, is_json ? hand_on : SIG_IGN);             /* the program stops then */
    if (is_json) signal(SIGTERM, hand_on);
    if (is_json) prctl(PR_SET_PDEATHSIG, SIGTERM); /* the driver has ended */
    child = start(program, arguments, ends[0]);
    if (is_json) signal(SIGPIPE, SIG_IGN); /* what it has compiled is removed */
    close(ends[1]);
    debugger = ends[0];
    ends_it |= converse(ends[0]);
    fflush(stdout);
    if (ends_it) kill(child, SIGKILL);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    if (ends_it) exit(EXIT_SUCCESS);
    if (WIFSIGNALED(status))
        emu_refuse("%s was ended by signal %d (%s)", program, WTERMSIG(status),
                   strsignal(WTERMSIG(status)));
    exit(WEXITSTATUS(status));
}
