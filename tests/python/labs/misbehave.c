/*
 * misbehave.c — a program for the tests of the sandbox: `misbehave WHAT [VALUE]` does one thing
 * that a sandbox should prevent or end, and says how far it came.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MEBIBYTE = 1 << 20, MANY = 10000 };

static void fill(char *bytes, size_t size)
{
    memset(bytes, 1, size);
    __asm__ volatile("" ::"r"(bytes) : "memory");
}

/* Starts processes until that is refused. */
static void forks(const char *value)
{
    int count = 0;
    (void)value;
    while (count < MANY && fork() > 0 && ++count) continue;
    if (count == 0 || count == MANY) pause();
    printf("processes: %d\n", count);
}

/* A parent that starts all: the children only wait. */
static void processes(const char *value)
{
    int count = 0;
    (void)value;
    for (pid_t child; count < MANY && (child = fork()) >= 0; count++)
        if (child == 0) pause();
    printf("processes: %d\n", count);
    fflush(stdout);
    _exit(0);
}

static void *wait_for_ever(void *unused)
{
    for (;;) pause();
    return unused;
}

static void threads(const char *value)
{
    int count = 0;
    pthread_t thread;
    (void)value;
    while (count < MANY && pthread_create(&thread, NULL, wait_for_ever, NULL) == 0) count++;
    printf("threads: %d\n", count);
    fflush(stdout);
    _exit(0);
}

static void addresses(const char *value)
{
    long mebibytes = 0;
    (void)value;
    while (mebibytes < MANY &&
           mmap(NULL, MEBIBYTE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED)
        mebibytes++;
    printf("addresses: %ld MiB\n", mebibytes);
}

/* Several processes, each of which stays below the limit of one process. */
static void memory(const char *value)
{
    size_t each = (size_t)atoi(value) * MEBIBYTE;
    for (int i = 0; i < 4; i++) {
        if (fork() != 0) continue;
        char *bytes = malloc(each);
        if (bytes != NULL) fill(bytes, each);
        pause();
    }
    pause();
}

static long write_file(const char *path, long most)
{
    static char block[MEBIBYTE];
    long written = 0;
    int file = open(path, O_WRONLY | O_CREAT, 0600);
    if (file < 0) return -1;
    signal(SIGXFSZ, SIG_IGN);
    while (written < most && write(file, block, sizeof block) == sizeof block) written++;
    close(file);
    return written;
}

static void file(const char *value) { printf("file: %ld MiB\n", write_file(value, MANY)); }

/* Many files, each below the limit of a file. */
static void files(const char *value)
{
    long sum = 0;
    for (int i = 0; i < MANY; i++) {
        char path[64];
        snprintf(path, sizeof path, "%s/%d", value, i);
        long written = write_file(path, 1);
        if (written <= 0) break;
        sum += written;
    }
    printf("files: %ld MiB\n", sum);
}

static void spin(const char *value)
{
    (void)value;
    for (volatile int i = 0; i == 0;) continue;
}

static void wait_long(const char *value)
{
    (void)value;
    for (;;) pause();
}

/* Uses 20 ms of processor time in every second. */
static void doze(const char *value)
{
    (void)value;
    for (;;) {
        clock_t until = clock() + CLOCKS_PER_SEC / 50;
        while (clock() < until) continue;
        sleep(1);
    }
}

/* Writes for ever to a descriptor. */
static void flood(const char *value)
{
    static char block[4096];
    memset(block, 'x', sizeof block);
    while (write(atoi(value), block, sizeof block) > 0) continue;
}

static void descriptors(const char *value)
{
    (void)value;
    for (int i = 0; i < 1024; i++)
        if (fcntl(i, F_GETFD) >= 0) printf("descriptor %d\n", i);
}

static void network(const char *value)
{
    int connection = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)atoi(value)),
                                  .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int error = connect(connection, (struct sockaddr *)&address, sizeof address);
    printf("connect: %s\n", error == 0 ? "connected" : strerror(errno));
}

/* A grandchild in a session of its own outlives its parent. */
static void daemon_process(const char *value)
{
    (void)value;
    if (fork() != 0) return;
    setsid();
    if (fork() != 0) _exit(0);
    for (int i = 0; i < 1024; i++) close(i);
    for (;;) pause();
}

static void look(const char *value)
{
    DIR *folder = opendir(value);
    if (folder == NULL) printf("%s: %s\n", value, strerror(errno));
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;)
        printf("entry %s\n", entry->d_name);
}

static void read_file(const char *value)
{
    FILE *from = fopen(value, "r");
    printf("%s: %s\n", value, from == NULL ? strerror(errno) : "opened");
}

static void identity(const char *value)
{
    (void)value;
    int session = getsid(0) == getpid() || getsid(0) == getppid() || getsid(0) == 1;
    printf("uid %s, euid %s, session %s, terminal %s\n", getuid() == 0 ? "0" : "other",
           geteuid() == 0 ? "0" : "other", session ? "new" : "old",
           open("/dev/tty", O_RDWR) < 0 ? "none" : "open");
    printf("setuid 0: %s\n", setuid(0) == 0 ? "done" : strerror(errno));
    printf("mount: %s\n", mount("none", "/tmp", "tmpfs", 0, NULL) == 0 ? "done" : strerror(errno));
}

/* Calls that confine takes away. Without that, most of them are allowed to anybody. */
static void calls(const char *value)
{
    char ring[256] = {0};
    const struct {
        const char *name;
        long number, first, second;
    } all[] = {{"namespace", SYS_unshare, CLONE_NEWUSER, 0},
               {"clone", SYS_clone, CLONE_NEWUSER | SIGCHLD, 0},
               {"memory file", SYS_memfd_create, (long)"m", 0},
               {"shared memory", SYS_shmget, IPC_PRIVATE, 4096},
               {"messages", SYS_msgget, IPC_PRIVATE, 0},
               {"socket", SYS_socket, AF_UNIX, SOCK_STREAM},
               {"netlink", SYS_socket, AF_NETLINK, SOCK_RAW},
               {"keys", SYS_keyctl, 0, -3},
               {"requests", SYS_io_uring_setup, 1, (long)ring},
               {"trace", SYS_ptrace, 0 /* PTRACE_TRACEME */, 0}};
    (void)value;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        errno = 0;
        long got = syscall(all[i].number, all[i].first, all[i].second, 0, 0, 0);
        if (all[i].number == SYS_clone && got == 0) _exit(0);
        printf("%s: %s\n", all[i].name, got >= 0 ? "done" : strerror(errno));
    }
}

static void environment(const char *value)
{
    extern char **environ;
    (void)value;
    for (char **at = environ; *at != NULL; at++) printf("%s\n", *at);
}

static void leave_result(const char *value)
{
    FILE *to = fopen("/tmp/result", "w");
    fputs(value, to);
    fclose(to);
}

static void leave_link(const char *value)
{
    if (symlink(value, "/tmp/result") != 0) perror("symlink");
}

static void die(const char *value) { raise(atoi(value)); }

static const struct {
    const char *name;
    void (*act)(const char *);
} acts[] = {{"forks", forks},
            {"processes", processes},
            {"threads", threads},
            {"addresses", addresses},
            {"memory", memory},
            {"file", file},
            {"files", files},
            {"spin", spin},
            {"wait", wait_long},
            {"doze", doze},
            {"flood", flood},
            {"descriptors", descriptors},
            {"network", network},
            {"daemon", daemon_process},
            {"look", look},
            {"read", read_file},
            {"identity", identity},
            {"calls", calls},
            {"environment", environment},
            {"result", leave_result},
            {"link", leave_link},
            {"die", die}};

int main(int count, char **arguments)
{
    for (size_t i = 0; i < sizeof acts / sizeof *acts; i++) {
        if (count < 2 || strcmp(arguments[1], acts[i].name) != 0) continue;
        acts[i].act(count > 2 ? arguments[2] : "");
        return 0;
    }
    return 2;
}
