/*
 * test_sandbox.c — each limit of the sandbox, one by one. The program misbehave tries to
 * exceed it.
 *
 * Where no sandbox can be started, these tests are skipped; CI makes that a failure by setting
 * SANDBOX_REQUIRED.
 */
#define _GNU_SOURCE
#include "common/tools/labs/grader/sandbox.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <glob.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define CONFINE   "build/labs/confine"
#define MISBEHAVE "build/tests/labs/misbehave"

enum { MEBIBYTE = 1 << 20, OUT, ERR, RESULTS };

static struct sandbox_output outputs[SANDBOX_OUTPUTS];
static struct sandbox_result result;
static struct sandbox_limits limits;
static const char *result_file;
static bool drop; /* too many messages are dropped */

static void begin(void)
{
    char why[256];
    limits = (struct sandbox_limits){.address_space = 1024 * MEBIBYTE,
                                     .resident = 512 * MEBIBYTE,
                                     .scratch = 16 * MEBIBYTE,
                                     .file = 8 * MEBIBYTE,
                                     .processes = 16,
                                     .cpu_seconds = 20,
                                     .idle_seconds = 50,
                                     .wall_seconds = 60};
    result_file = NULL;
    if (sandbox_works(NULL, CONFINE, why, sizeof why)) return;
    cr_assert(getenv("SANDBOX_REQUIRED") == NULL, "no sandbox: %s", why);
    cr_skip_test("no sandbox can be started: make setup-labs installs bubblewrap");
}

static void end(void) { sandbox_end(outputs, SANDBOX_OUTPUTS); }

TestSuite(sandbox, .init = begin, .fini = end, .timeout = 120);

/* Runs misbehave; what it prints is in outputs[0]. */
static void misbehave(const char *what, const char *value)
{
    char *const arguments[] = {"/misbehave", (char *)what, (char *)value, NULL};
    const struct sandbox_mount mounts[] = {{MISBEHAVE, "/misbehave", false},
                                           {"/does/not/exist", "/missing", true}};
    end();
    outputs[0] = (struct sandbox_output){.descriptor = STDOUT_FILENO, .limit = 4096};
    outputs[1] = (struct sandbox_output){.descriptor = STDERR_FILENO, .limit = 4096, .drop = drop};
    outputs[2] = (struct sandbox_output){.descriptor = SANDBOX_RESULTS, .limit = 4096};
    struct sandbox_command command = {.confine = CONFINE,
                                      .mounts = mounts,
                                      .mount_count = 2,
                                      .arguments = arguments,
                                      .result_file = result_file,
                                      .limits = limits,
                                      .outputs = outputs,
                                      .output_count = SANDBOX_OUTPUTS};
    struct fault fault;
    cr_assert(sandbox_run(&command, &result, &fault) == 0, "%s", fault.text);
}

/* A value that tells processes of this test from those of others, which run at the same time. */
static const char *mark(void)
{
    static char text[32];
    if (text[0] == '\0') snprintf(text, sizeof text, "test-%d", (int)getpid());
    return text;
}

/* Is there a process with the value mark()? It would be one of a sandbox. */
static bool marked_runs(void)
{
    glob_t files;
    bool found = false;
    cr_assert_eq(glob("/proc/[0-9]*/cmdline", 0, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        char words[128] = "";
        FILE *file = fopen(files.gl_pathv[i], "r");
        if (file == NULL) continue; /* it has ended */
        size_t size = fread(words, 1, sizeof words, file);
        fclose(file);
        if (strncmp(words, "/misbehave", sizeof words) != 0) continue;
        found = found || memmem(words, size, mark(), strlen(mark()) + 1) != NULL;
    }
    globfree(&files);
    return found;
}

static void expect_exit(int status)
{
    cr_assert(result.ending == SANDBOX_EXITED && result.status == status,
              "ending %d, status %d: %s%s", result.ending, result.status, outputs[0].bytes,
              outputs[1].bytes);
}

static void expect_ending(enum sandbox_ending ending)
{
    cr_assert(result.ending == ending, "ending %d, status %d: %s%s", result.ending, result.status,
              outputs[0].bytes, outputs[1].bytes);
}

/* The number behind a word in the output. */
static long number_after(const char *word)
{
    const char *at = strstr(outputs[0].bytes, word);
    cr_assert(at != NULL, "no \"%s\" in: %s%s", word, outputs[0].bytes, outputs[1].bytes);
    return strtol(at + strlen(word), NULL, 10);
}

static void expect_text(const char *text)
{
    cr_assert(strstr(outputs[0].bytes, text) != NULL, "no \"%s\" in: %s%s", text, outputs[0].bytes,
              outputs[1].bytes);
}

Test(sandbox, a_command_runs_and_its_exit_status_returns_slow)
{
    misbehave("unknown", NULL);
    expect_exit(2);
    misbehave("die", "6");
    expect_exit(128 + 6);
}

Test(sandbox, number_of_processes_is_limited_slow)
{
    misbehave("processes", NULL);
    expect_exit(0);
    long count = number_after("processes: ");
    cr_assert(count > 0 && count < limits.processes, "%ld processes", count);
}

Test(sandbox, threads_count_as_processes_slow)
{
    limits.address_space = 16L * 1024 * MEBIBYTE;
    misbehave("threads", NULL);
    expect_exit(0);
    long count = number_after("threads: ");
    cr_assert(count > 0 && count < limits.processes, "%ld threads", count);
}

enum { UIDS = 478 };

/* Starts a process that holds the uid of its sandboxes until it is killed. If a pid is given, it
 * is one that differs from it by a multiple of UIDS. */
static pid_t hold_uid(pid_t like, unsigned *uid)
{
    char *const arguments[] = {"/true", NULL};
    const struct sandbox_command command = {.confine = CONFINE, .arguments = arguments};
    int said[2];
    cr_assert_eq(pipe(said), 0);
    for (;;) {
        pid_t child = fork();
        if (child == 0 && (like == 0 || (getpid() - like) % UIDS == 0)) {
            char **line = sandbox_line(&command);
            while (strcmp(*line, "--") != 0) line++;
            *uid = (unsigned)atoi(line[2]);
            if (write(said[1], uid, sizeof *uid) > 0) pause();
        }
        if (child == 0) _exit(0);
        if (like != 0 && (child - like) % UIDS != 0) {
            waitpid(child, NULL, 0);
            continue;
        }
        cr_assert_eq(read(said[0], uid, sizeof *uid), sizeof *uid);
        close(said[0]), close(said[1]);
        return child;
    }
}

/* The kernel counts the processes of a uid, so no two workers have the same, whatever their pids
 * are. */
Test(sandbox, each_worker_has_a_uid_of_its_own_slow)
{
    unsigned first, second;
    if (geteuid() != 0) cr_skip_test("only root gives up its uid");
    pid_t one = hold_uid(0, &first), other = hold_uid(one, &second);
    kill(one, SIGKILL), kill(other, SIGKILL);
    waitpid(one, NULL, 0), waitpid(other, NULL, 0);
    cr_expect_neq(first, second);
    cr_expect(first >= 60706 && first < 60706 + UIDS, "%u", first);
}

/* The next sandbox is not hindered by processes of one that runs at the same time. */
Test(sandbox, processes_of_another_sandbox_do_not_count_slow)
{
    pid_t neighbour = fork();
    if (neighbour == 0) {
        limits.wall_seconds = 3;
        misbehave("forks", NULL);
        _exit(0);
    }
    sleep(1);
    misbehave("processes", NULL);
    long count = number_after("processes: ");
    waitpid(neighbour, NULL, 0);
    cr_assert(count == limits.processes - 1 || count == limits.processes - 2, "%ld", count);
}

Test(sandbox, addresses_of_a_process_are_limited_slow)
{
    misbehave("addresses", NULL);
    expect_exit(0);
    long mebibytes = number_after("addresses: ");
    cr_assert(mebibytes > 512 && mebibytes <= 1024, "%ld MiB", mebibytes);
}

Test(sandbox, memory_of_all_processes_together_is_limited_slow)
{
    limits.resident = 256 * MEBIBYTE;
    misbehave("memory", "100");
    expect_ending(SANDBOX_MEMORY);
}

Test(sandbox, a_file_is_limited_slow)
{
    misbehave("file", "/tmp/large");
    expect_exit(0);
    cr_assert_eq(number_after("file: "), 8);
}

Test(sandbox, all_files_together_are_limited_slow)
{
    misbehave("files", "/tmp");
    expect_exit(0);
    long mebibytes = number_after("files: ");
    cr_assert(mebibytes > 8 && mebibytes <= 16, "%ld MiB", mebibytes);
}

Test(sandbox, only_tmp_can_be_written_to_slow)
{
    const char *const folders[] = {"/", "/dev", "/dev/shm", "/usr/lib", "/proc", "/misbehave"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        misbehave("files", folders[i]);
        expect_exit(0);
        cr_assert_eq(number_after("files: "), 0, "%s", folders[i]);
    }
}

Test(sandbox, processor_time_is_limited_slow)
{
    limits.cpu_seconds = 1;
    misbehave("spin", NULL);
    expect_exit(128 + SIGXCPU);
}

Test(sandbox, wall_time_is_limited_slow)
{
    limits.wall_seconds = 1;
    misbehave("spin", NULL);
    expect_ending(SANDBOX_WALL);
}

Test(sandbox, waiting_is_limited_slow)
{
    limits.idle_seconds = 1;
    misbehave("wait", NULL);
    expect_ending(SANDBOX_IDLE);
}

/* Processes that use the processor only now and then are not idle. */
Test(sandbox, a_process_that_wakes_up_is_not_idle_slow)
{
    limits.idle_seconds = 2;
    limits.wall_seconds = 5;
    misbehave("doze", NULL);
    expect_ending(SANDBOX_WALL);
}

Test(sandbox, a_flood_can_be_dropped_slow)
{
    limits.cpu_seconds = 1;
    drop = true;
    misbehave("flood", "2");
    expect_exit(128 + SIGXCPU);
    cr_assert_eq(outputs[1].size, outputs[1].limit);
}

Test(sandbox, output_is_limited_and_its_beginning_is_kept_slow)
{
    const char *const descriptors[] = {"1", "2", "3"};
    for (int i = 0; i < SANDBOX_OUTPUTS; i++) {
        misbehave("flood", descriptors[i]);
        expect_ending(SANDBOX_OUTPUT);
        cr_assert_eq(result.descriptor, i + 1);
        cr_assert_eq(outputs[i].size, outputs[i].limit);
        cr_assert_eq(strspn(outputs[i].bytes, "x"), outputs[i].limit);
    }
}

Test(sandbox, descriptors_of_the_caller_are_closed_slow)
{
    int open_here = fcntl(open("/etc/passwd", O_RDONLY), F_DUPFD, 40);
    cr_assert(open_here >= 40);
    misbehave("descriptors", NULL);
    expect_exit(0);
    cr_assert_str_eq(outputs[0].bytes, "descriptor 0\ndescriptor 1\ndescriptor 2\ndescriptor 3\n");
}

/* A server of this test listens on the loopback interface, and is not to be reached. */
Test(sandbox, there_is_no_network_slow)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof address;
    char port[16];
    int server = socket(AF_INET, SOCK_STREAM, 0);
    cr_assert(bind(server, (struct sockaddr *)&address, size) == 0 && listen(server, 1) == 0);
    getsockname(server, (struct sockaddr *)&address, &size);
    snprintf(port, sizeof port, "%d", ntohs(address.sin_port));
    misbehave("network", port);
    expect_exit(0);
    cr_assert(strstr(outputs[0].bytes, "connected") == NULL, "%s", outputs[0].bytes);
    expect_text("connect: ");
}

Test(sandbox, processes_that_leave_their_session_end_too_slow)
{
    misbehave("daemon", mark());
    expect_exit(0);
    cr_assert_eq(waitpid(-1, NULL, WNOHANG), -1, "a child is left");
    cr_assert_not(marked_runs());
}

Test(sandbox, a_fork_bomb_ends_with_its_sandbox_slow)
{
    limits.wall_seconds = 2;
    misbehave("forks", mark());
    cr_assert_not(marked_runs());
}

Test(sandbox, the_command_is_not_root_and_cannot_become_it_slow)
{
    misbehave("identity", NULL);
    expect_exit(0);
    expect_text("uid other, euid other, session new, terminal none\n");
    cr_assert(strstr(outputs[0].bytes, "setuid 0: done") == NULL, "%s", outputs[0].bytes);
    expect_text("mount: Operation not permitted\n");
}

/* Ways to more of the kernel, and to memory that no limit counts. */
Test(sandbox, system_calls_that_nothing_needs_are_refused_slow)
{
    static const char *const calls[] = {"namespace", "clone",  "memory file", "shared memory",
                                        "messages",  "socket", "netlink",     "keys",
                                        "requests",  "trace"};
    misbehave("calls", NULL);
    expect_exit(0);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        char line[64];
        snprintf(line, sizeof line, "%s: Operation not permitted\n", calls[i]);
        expect_text(line);
    }
}

Test(sandbox, files_outside_are_not_visible_slow)
{
    char here[4096];
    const char *const hidden[] = {
        "/home", "/root", "/etc", "/var", "/sys", "/proc", getcwd(here, sizeof here)};
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++) {
        misbehave("read", hidden[i]);
        if (strcmp(hidden[i], "/etc") != 0) expect_text("No such file");
    }
    misbehave("look", "/");
    expect_text("entry misbehave\n");
    cr_assert(strstr(outputs[0].bytes, "entry missing") == NULL);
    misbehave("look", "/etc");
    cr_assert(strstr(outputs[0].bytes, "entry passwd") == NULL, "%s", outputs[0].bytes);
}

Test(sandbox, the_environment_is_not_the_callers_slow)
{
    setenv("SECRET", "of the caller", 1);
    misbehave("environment", NULL);
    cr_assert(strstr(outputs[0].bytes, "SECRET") == NULL, "%s", outputs[0].bytes);
    expect_text("HOME=/tmp\n");
}

Test(sandbox, a_file_that_it_leaves_becomes_the_results_slow)
{
    result_file = "/tmp/result";
    misbehave("result", "what it left");
    expect_exit(0);
    cr_assert_str_eq(outputs[2].bytes, "what it left");
    misbehave("descriptors", NULL);
    cr_assert_str_eq(outputs[0].bytes, "descriptor 0\ndescriptor 1\ndescriptor 2\n");
    cr_assert_eq(outputs[2].size, 0);
}

Test(sandbox, a_link_that_it_leaves_is_not_followed_slow)
{
    result_file = "/tmp/result";
    misbehave("link", "/misbehave");
    expect_exit(0);
    cr_assert_eq(outputs[2].size, 0);
}

Test(sandbox, a_missing_bubblewrap_is_said_slow)
{
    char why[256];
    cr_assert_not(sandbox_works("/does/not/exist/bwrap", CONFINE, why, sizeof why));
    cr_assert(strstr(why, "/does/not/exist/bwrap: No such file") != NULL, "%s", why);
    cr_assert_not(sandbox_works(NULL, "/does/not/exist/confine", why, sizeof why));
    cr_assert(strstr(why, "/does/not/exist/confine") != NULL, "%s", why);
}
