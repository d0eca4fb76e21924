"""tree.py -- copies of the repository, in which mutated files are compiled; the sources stay as
they are.

A tree is a copy with all that was built, times included, so make compiles only the mutated file and
links. The tree `base` is a copy of the repository whose tests are linked with LeakSanitizer. Each
worker's tree is a copy of `base`, and becomes equal to it again after each mutation.
"""
import glob
import hashlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time

TOP = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
TREES = os.path.join(TOP, "build", "mutate")
HELD = ["Makefile", "README.md", "LICENSE", ".clang-format", "common", "notes", "profiles", "steps",
        "tests", "build",
        "step[0-9]*"]
# Also what the page has besides its native program: no test that is tried needs it.
LEFT_OUT = {"build/asan", "build/fuzz", "build/mutate", "build/cuda", "build/page/wasm",
            "build/page/shots"}
TESTS = "build/tests/run"
NO_PAGE = "PAGE_TESTS="
QUICK_LINKER = "LDFLAGS=" + "".join(["-fuse-ld=" + name for name in ("gold", "lld")
                                     if shutil.which("ld." + name)][:1])
LEAKS = QUICK_LINKER + " -fsanitize=leak"
HUNG = "hung"  # instead of make's exit status
DEPENDS = re.compile(r"^\S+: +(\S+\.c)[ \n\\]")

# What `make mutate` and make itself put into the environment means something else to the tests.
ENVIRONMENT = {key: value for key, value in os.environ.items()
               if key not in ("N", "SEED", "FILES", "MAKEFLAGS", "MFLAGS", "MAKELEVEL",
                              "MAKEOVERRIDES", "CI", "V",
                              "TEST_NIGHTLY")}
# The tests' programs handle these signals themselves.
ENVIRONMENT["LSAN_OPTIONS"] = ":".join("handle_%s=0" % name
                                       for name in ("segv", "sigbus", "sigfpe", "sigill", "abort"))
# With LD_AUDIT, by which emu finds its libraries, LeakSanitizer's 56 KiB of thread-local
# storage do not fit into what glibc keeps free, and no program would start.
ENVIRONMENT["GLIBC_TUNABLES"] = "glibc.rtld.optional_static_tls=65536"


class Tree:
    def __init__(self, name, source):
        self.path, self.source = os.path.join(TREES, name), source
        os.makedirs(os.path.join(self.path, "build"), exist_ok=True)
        toolkit = os.path.join(self.path, "build", "cuda")
        if os.path.isdir(os.path.join(source, "build", "cuda")) and not os.path.lexists(toolkit):
            os.symlink(os.path.realpath(os.path.join(source, "build", "cuda")), toolkit)
        # Looked up once: tests that run in the source later write temporary files there.
        self.wanted = files_below(source)
        self.restore()

    def restore(self):
        """Makes it equal to what its source was."""
        wanted, there = self.wanted, files_below(self.path)
        for path in there:
            if wanted.get(path) != there[path]:
                os.unlink(os.path.join(self.path, path))
        for path in wanted:
            if wanted[path] != there.get(path):
                target = os.path.join(self.path, path)
                os.makedirs(os.path.dirname(target), exist_ok=True)
                shutil.copy2(os.path.join(self.source, path), target, follow_symlinks=False)
        for folder in {os.path.dirname(path) for path in wanted}:  # some targets depend on folders
            shutil.copystat(os.path.join(self.source, folder), os.path.join(self.path, folder))

    def make(self, *arguments, limit=None):
        """Returns make's exit status and what it wrote. After `limit` seconds it is ended with all
        that it has started. The Makefile need not look again for tools that are missing."""
        command = ["make", "--no-print-directory", "MISSING=", NO_PAGE, QUICK_LINKER, *arguments]
        with subprocess.Popen(command, cwd=self.path, env=ENVIRONMENT, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              start_new_session=True, text=True, errors="replace") as run:
            try:
                output, _ = run.communicate(timeout=limit)
                return run.returncode, output
            except subprocess.TimeoutExpired:
                kill_session(run.pid)
                return HUNG, run.communicate()[0]

    def build(self, *targets):
        """Returns whether make succeeds."""
        return self.make(*targets)[0] == 0

    def write(self, path, text):
        with open(os.path.join(self.path, path), "w", encoding="utf-8") as file:
            file.write(text)

    def read(self, path):
        with open(os.path.join(self.path, path), encoding="utf-8") as file:
            return file.read()

    def code(self, path):
        """A digest of an object's machine code and data, without what debuggers read."""
        with tempfile.NamedTemporaryFile(dir=os.path.join(self.path, "build")) as stripped:
            subprocess.run(["objcopy", "--strip-debug", os.path.join(self.path, path),
                            stripped.name], check=True)
            with open(stripped.name, "rb") as file:
                return hashlib.sha256(file.read()).digest()


def files_below(top):
    """{path: mode, size and time} of all files and links that belong to a tree."""
    found = {}
    for entry in (path for name in HELD for path in glob.glob(os.path.join(top, name))):
        if not os.path.isdir(entry):
            found[os.path.relpath(entry, top)] = stamp(entry)
        for folder, folders, files in os.walk(entry):
            inside = os.path.relpath(folder, top)
            folders[:] = [f for f in folders if os.path.join(inside, f) not in LEFT_OUT
                          and f != "__pycache__"]
            found.update({os.path.join(inside, file): stamp(os.path.join(folder, file))
                          for file in files})
    return {path: status for path, status in found.items() if path not in LEFT_OUT}


def stamp(path):
    status = os.lstat(path)
    return status.st_mode, status.st_size, status.st_mtime_ns


def objects_by_source(top):
    """{path of a C file: the objects that are made of it}, from the lists of dependencies that the
    compiler wrote."""
    found = {}
    for path in sorted(glob.glob(os.path.join(top, "build", "**", "*.d"), recursive=True)):
        inside = os.path.relpath(path, top)
        with open(path, encoding="utf-8") as file:
            match = DEPENDS.match(file.read().replace("\\\n", ""))
        if match and not any(inside.startswith(left + "/") for left in LEFT_OUT) and os.path.exists(
                os.path.join(top, match[1])):
            found.setdefault(match[1], []).append(inside[:-2] + ".o")
    return found


def session(leader):
    """The numbers of a session's processes, and their resident pages."""
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open("/proc/%s/stat" % name, encoding="utf-8", errors="replace") as file:
                    fields = file.read().rpartition(")")[2].split()
            except OSError:
                continue  # it has ended
            if fields[0] != "Z" and int(fields[3]) == leader:
                yield int(name), int(fields[21])


def kill_session(leader):
    """Until none is left: where processors are busy, one that is being killed may live on for a
    while, and end a fork that it has begun."""
    for _ in range(1000):
        processes = [process for process, _ in session(leader)]
        if not processes:
            return
        for process in processes:
            try:
                os.kill(process, signal.SIGKILL)
            except OSError:
                pass
        time.sleep(0.01)
