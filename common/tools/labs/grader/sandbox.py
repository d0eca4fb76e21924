"""sandbox.py -- runs a command that reads what a student has written, in bubblewrap, with limits.

The command sees no network, no process outside, and no file except the mounts that are named here,
a private /tmp, /dev/null and /dev/urandom. There is no /proc, which names files outside. The
command is not uid 0, also if the caller is: then it gets a uid that nothing else uses. bubblewrap
(bwrap) limits nothing but what is visible; the program `confine`, which starts the command inside,
sets the limits of a process, and run() watches those of the whole tree.
"""
import contextlib
import dataclasses
import os
import select
import signal
import socket
import subprocess
import time

import container
from basics import reason

RESULTS = 3  # the descriptor of a command's results


@dataclasses.dataclass
class Limits:
    address_space: int  # bytes of addresses of each process (RLIMIT_AS)
    resident: int  # bytes of memory of all processes together
    scratch: int  # bytes in /tmp, which is also in memory
    file: int  # bytes of each file (RLIMIT_FSIZE)
    processes: int  # processes and threads at any time (RLIMIT_NPROC)
    cpu_seconds: int  # processor time of each process (RLIMIT_CPU)
    idle_seconds: int  # in which no process uses or wants the processor: they wait for ever
    wall_seconds: int  # a last resort: it depends on the load of the machine


@dataclasses.dataclass
class Place:
    """Where commands run."""
    confine: str  # our program that sets the limits
    bwrap: str = "bwrap"
    # Without bubblewrap: limits of processes hold, but the command sees all that the caller sees.
    # Mounts are not made, and RLIMIT_NPROC is not set, as it would count the user's processes.
    unprotected: bool = False
    # In a container of one submission, where bubblewrap cannot start: as without it, but in this
    # folder and with bubblewrap's environment. The command may write to nothing but FOLDER/scratch,
    # which is made for it and removed. If the caller is root, and may change its uid, the command
    # gets a uid that nothing else uses.
    container: str = ""

    @property
    def bare(self):
        return self.unprotected or bool(self.container)


@dataclasses.dataclass
class Command:
    arguments: list  # as it is called inside
    limits: Limits
    # For a descriptor of the command (1, 2 or RESULTS) the most bytes that it may write there. A
    # command that writes more is ended, but for the descriptors in `dropped`.
    outputs: dict
    dropped: tuple = ()
    # Pairs: a file or a folder of ours that the command may read, and where it finds it. None:
    # there, an empty folder hides what is there otherwise.
    mounts: tuple = ()
    # A file in /tmp (in a container: in scratch) that the command leaves and that becomes the bytes
    # of RESULTS; "": the command writes to that descriptor itself.
    result_file: str = ""


# How a command ended.
EXITED = "exited"  # `status` is its exit status; 128 + n: signal n ended it
OUTPUT = "output"  # it wrote more than an output's limit
MEMORY = "memory"  # its processes together used more than limits.resident
IDLE = "idle"  # all its processes waited for limits.idle_seconds
WALL = "wall"  # it took longer than limits.wall_seconds
NOT_BEGUN = "not begun"  # bubblewrap did not start it; what it wrote to stderr says why


@dataclasses.dataclass
class Result:
    ending: str
    status: int = 0
    descriptor: int = 0  # OUTPUT: the one that got too much
    outputs: dict = dataclasses.field(default_factory=dict)  # bytes by descriptor


# ---- the command line of bubblewrap: what a command in the sandbox sees --------------------------

CONFINE_INSIDE = "/confine"


def folders_of(path):
    """The folders inside on the way to a mount. Those that bubblewrap makes are for root only."""
    parts = path.split("/")[1:-1]
    for count in range(1, len(parts) + 1):
        yield from ("--perms", "0755", "--dir", "/" + "/".join(parts[:count]))


def system_folder(path):
    """/lib, /lib64: links into /usr on systems of today, folders on older ones."""
    if os.path.islink(path):
        return ["--symlink", os.readlink(path), path]
    return ["--ro-bind", path, path] if os.path.exists(path) else []


def view(command, confine):
    """All folders come before all mounts, since no folder can be made in a mount. Only /tmp can be
    written to, and its size is limited. bubblewrap's own root folder lies in memory without a
    limit: it becomes read-only at last."""
    for path in ["/usr/lib", "/dev/null", "/etc/ld.so.cache", *(to for _, to in command.mounts)]:
        yield from folders_of(path)
    for path in "/usr/lib", "/lib", "/usr/lib64", "/lib64", "/etc/ld.so.cache":
        yield from system_folder(path)
    yield from ("--ro-bind", confine, CONFINE_INSIDE)
    for path, to in command.mounts:
        yield from ("--tmpfs", to, "--remount-ro", to) if path is None else ("--ro-bind", path, to)
    for device in "/dev/null", "/dev/urandom":
        yield from ("--dev-bind", device, device)
    yield from ("--perms", "1777", "--size", str(command.limits.scratch), "--tmpfs", "/tmp",
                "--remount-ro", "/", "--chdir", "/tmp", "--clearenv")
    for name, value in (("PATH", "/usr/bin"), ("TMPDIR", "/tmp"), ("HOME", "/tmp"),
                        ("LC_ALL", "C.UTF-8"), ("SOURCE_DATE_EPOCH", "0")):
        yield from ("--setenv", name, value)


# As root, bubblewrap keeps the two capabilities that confine needs to give up uid 0. Otherwise it
# makes a user namespace, where the caller's uid stays.
ROOT = ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
APART = ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts",
         "--unshare-cgroup-try", "--new-session", "--die-with-parent"]


def line_of(place, command, uid, begun, results, info):
    """The words that start a command. `begun`, `results` and `info` are descriptors: confine says
    there that the sandbox has begun, the command writes its results (0: none), and bubblewrap says
    which process is the sandbox's first one."""
    limits, line = command.limits, []
    if not place.bare:
        line = [place.bwrap, *APART, *(["--unshare-user"] if os.geteuid() else ROOT),
                "--info-fd", str(info), *view(command, place.confine), "--"]
    counts = uid or not place.bare  # only the command's own processes
    return line + [place.confine if place.bare else CONFINE_INSIDE,
                   *map(str, (uid, limits.address_space, limits.file,
                              limits.processes if counts else 0, limits.cpu_seconds, begun,
                              results)), command.result_file, *command.arguments]


# ---- uids ----------------------------------------------------------------------------------------

# Uids that systemd's list of uids leaves unused: 60706 to 61183. If the caller is root, each
# sandbox has one of them for itself while it runs, because the kernel counts processes by uid.
FIRST_UID, UIDS = 60706, 478


@contextlib.contextmanager
def own_uid(place):
    """A uid for as long as a sandbox runs; 0: that of the caller. A socket's name without a file
    serves as the lock: the kernel lets one socket at a time have it, and frees it with the process.
    If all are taken, processes of two sandboxes count together."""
    if os.geteuid() or place.unprotected:
        yield 0
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as lock:
        for uid in (FIRST_UID + (os.getpid() + k) % UIDS for k in range(UIDS)):
            try:
                lock.bind("\0upsweep-uid-%d" % uid)
                break
            except OSError:
                pass
        yield uid if not place.container or container.can_change_uid(uid) else 0


# ---- what a process and its descendants use ------------------------------------------------------

PAGE, DEEPEST = os.sysconf("SC_PAGESIZE"), 128


def of_process(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""  # it has ended


@dataclasses.dataclass
class Usage:
    resident: int = 0  # bytes of memory; a page that several processes share counts for each
    ticks: int = 0  # processor time of the threads that are there now
    active: int = 0  # threads that run, are ready to run, or wait for a disk
    processes: int = 0

    def add(self, process, depth=0):
        """Adds a process and its descendants. Deeper trees are not followed: each level holds a
        process, and their number is limited."""
        folder = "/proc/%d/task" % process
        try:
            threads = os.listdir(folder) if depth <= DEEPEST else []
        except OSError:
            return self
        self.processes += bool(threads)
        self.resident += int((of_process("/proc/%d/statm" % process).split() or [0, 0])[1]) * PAGE
        for thread in threads:
            # The name of a thread stands in parentheses and may hold any bytes.
            fields = of_process("%s/%s/stat" % (folder, thread)).rpartition(b")")[2].split()
            if len(fields) > 12:
                self.ticks += int(fields[11]) + int(fields[12])
                self.active += fields[0] in (b"R", b"D")
            for child in of_process("%s/%s/children" % (folder, thread)).split():
                self.add(int(child), depth + 1)
        return self


def finds_descendants():
    """A kernel without CONFIG_PROC_CHILDREN does not list them, and /proc may hide them. Every tree
    seems to be idle and small then."""
    with subprocess.Popen(["sleep", "60"]) as child:
        usage = Usage().add(os.getpid())
        child.kill()
    return usage.processes >= 2 and usage.resident > 0


# ---- running -------------------------------------------------------------------------------------

TICK = 0.05
BLOCK = 1 << 16


class Running:
    def __init__(self, place, command):
        self.place, self.command = place, command
        self.result = Result(NOT_BEGUN)
        self.content = {descriptor: bytearray() for descriptor in command.outputs}
        self.process = self.init = None
        self.begun = self.killed = False
        self.info = b""
        self.readers = {}  # what takes the bytes of a pipe, by its reading end
        self.poll = select.poll()

    def pipe(self, take):
        reading, writing = os.pipe()
        self.readers[reading] = take
        self.poll.register(reading, select.POLLIN)
        return writing

    def start(self, uid):
        ends = {descriptor: self.pipe(lambda block, to=descriptor: self.keep(to, block))
                for descriptor in self.command.outputs}
        ends["begun"], ends["info"] = self.pipe(self.take_begun), self.pipe(self.take_info)
        line = line_of(self.place, self.command, uid, ends["begun"], ends.get(RESULTS, 0),
                       ends["info"])
        folder = self.place.container
        try:
            self.process = subprocess.Popen(
                line, stdin=subprocess.DEVNULL, stdout=ends.get(1, subprocess.DEVNULL),
                stderr=ends.get(2, subprocess.DEVNULL), start_new_session=self.place.bare,
                pass_fds=[end for name, end in ends.items() if name not in (1, 2)],
                cwd=folder or None, env=container.environment(folder) if folder else None)
        except OSError as error:
            os.write(ends[2], os.fsencode("%s: %s\n" % (line[0], reason(error))))
        finally:
            for end in ends.values():
                os.close(end)

    def stop(self, ending):
        if not self.killed:
            self.result.ending = ending
        self.killed = True
        if self.process is None or self.process.returncode is not None:
            return
        # All processes of the sandbox end with it: --die-with-parent. Without bubblewrap, those of
        # its session end.
        if self.place.bare:
            os.killpg(self.process.pid, signal.SIGKILL)
        else:
            self.process.kill()

    def keep(self, descriptor, block):
        content = self.content[descriptor]
        room = self.command.outputs[descriptor] - len(content)
        content += block[:room]
        if len(block) <= room or descriptor in self.command.dropped:
            return
        if not self.killed:
            self.result.descriptor = descriptor
        self.stop(OUTPUT)

    def take_begun(self, _):
        self.begun = True

    def take_info(self, block):
        """bwrap writes a line of JSON with "child-pid": 123, the sandbox's first process."""
        self.info = (self.info + block)[:256]
        _, found, rest = self.info.partition(b'"child-pid": ')
        if self.init is None and found and b"\n" in rest:
            with contextlib.suppress(OSError):
                self.init = os.pidfd_open(int(rest.split(b",")[0].split(b"\n")[0]))

    def read(self, seconds):
        """Waits for a moment, or without end (None), until something can be read. Returns whether a
        pipe is open."""
        if not self.readers:
            time.sleep(seconds or 0)
            return False
        for pipe, _ in self.poll.poll(None if seconds is None else 1000 * seconds):
            block = os.read(pipe, BLOCK)
            if block:
                self.readers[pipe](block)
            else:
                self.poll.unregister(pipe)
                del self.readers[pipe]
                os.close(pipe)
        return True

    def watch(self):
        """Waits for bwrap, and ends it if its tree exceeds a limit."""
        limits, ticks = self.command.limits, None
        checked = idle_since = time.monotonic()
        end = checked + limits.wall_seconds
        while self.process.poll() is None:
            self.read(TICK)
            now = time.monotonic()
            if self.killed or now - checked < TICK:
                continue
            usage, checked = Usage().add(self.process.pid), now
            if usage.active or usage.ticks != ticks:
                idle_since, ticks = now, usage.ticks
            if usage.resident > limits.resident:
                self.stop(MEMORY)
            elif now > idle_since + limits.idle_seconds:
                self.stop(IDLE)
            elif now > end:
                self.stop(WALL)

    def wait_for_tree(self):
        """The kernel ends the sandbox's processes with its first one, and that one last. Its
        descriptor can be read when it has ended."""
        self.read(0)  # what bwrap may have said of its first process
        if self.init is not None:
            ended = select.poll()
            ended.register(self.init, select.POLLIN)
            ended.poll()
            os.close(self.init)

    def run(self):
        with own_uid(self.place) as uid:
            scratch = self.place.container and container.begin(self.place.container, uid)
            try:
                self.start(uid)
                if self.process:
                    self.watch()
                    self.wait_for_tree()
            finally:
                if self.process and self.process.returncode is None:
                    self.stop(NOT_BEGUN)  # the grader itself has failed
                if scratch:
                    container.end(scratch, uid)
        while self.read(None):
            pass
        if self.process and not self.killed:
            status = self.process.returncode
            self.result.ending = EXITED if self.begun else NOT_BEGUN
            self.result.status = status if status >= 0 else 128 - status
        self.result.outputs = {key: bytes(value) for key, value in self.content.items()}
        return self.result


def run(place, command):
    """Runs a command to its end; all its processes have ended when this returns. Descriptors of the
    caller are not open in the command, except those of the outputs; its standard input is
    /dev/null."""
    return Running(place, command).run()


def why_not(place):
    """Why no sandbox can be started here; "": it can."""
    if not finds_descendants():
        return "/proc does not show the children of a process, so limits could not be watched"
    # confine without arguments exits with its own failure: that is a program that has run.
    limits = Limits(1 << 30, 1 << 30, 1 << 20, 1 << 20, 8, 10, 60, 60)
    result = run(place, Command([CONFINE_INSIDE], limits, {2: 4096}))
    if result.ending == EXITED:
        return ""
    return result.outputs[2].split(b"\n")[0].decode("utf-8", "surrogateescape") or result.ending
