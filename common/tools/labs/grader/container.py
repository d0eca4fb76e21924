"""container.py -- a command in a container that holds one submission: what bubblewrap would do for
its folder, its environment and its processes, as far as it can be done without it."""
import ctypes
import errno
import os
import signal
import subprocess
import time

from basics import DEVICE, Fault, reason

PR_SET_CHILD_SUBREAPER = 36


def in_child(work):
    """Does `work` in a process of its own. Returns whether it has ended well. Only for a process
    without other threads."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    return os.waitpid(child, 0)[1] == 0


def can_change_uid(uid):
    """Root in a user namespace may have no other uid."""
    def change():
        os.setresuid(uid, uid, uid)
    return in_child(change)


def environment(folder):
    scratch = folder + "/scratch"
    return {"PATH": "/usr/bin:/bin", "TMPDIR": scratch, "HOME": scratch, "LC_ALL": "C.UTF-8",
            "SOURCE_DATE_EPOCH": "0"}


def begin(folder, uid):
    """Makes the command's scratch folder. A process whose parent ends becomes a child of this
    process, which can then end it."""
    scratch = folder + "/scratch"
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "prctl")
        os.mkdir(scratch, 0o700)
        if uid:
            os.chown(scratch, uid, uid)
    except OSError as error:
        raise Fault(DEVICE, "%s cannot be made: %s" % (scratch, reason(error))) from error
    return scratch


def end_processes_of(uid):
    """Ends all processes of a uid at once, so that none of them can start another one meanwhile.
    Such a process may end the child that does it, which is then tried again."""
    def end_all():
        os.setresuid(uid, uid, uid)
        try:
            os.kill(-1, signal.SIGKILL)
        except ProcessLookupError:
            pass
    while True:
        try:
            if in_child(end_all):
                return
        except OSError as error:
            if error.errno != errno.EAGAIN:
                return


def end_children():
    """What lost its parent has become a child of this process: begin()."""
    for _ in range(1000):
        try:
            with open("/proc/self/task/%d/children" % os.getpid(), encoding="ascii") as children:
                for child in children.read().split():
                    os.kill(int(child), signal.SIGKILL)
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(0.001)
        except ChildProcessError:
            return
        except OSError:
            time.sleep(0.001)


def end(scratch, uid):
    """Ends all processes that the command has left, and removes its scratch folder."""
    if uid:
        end_processes_of(uid)
    end_children()
    subprocess.run(["rm", "-rf", scratch], check=False)  # folders may lie deeper than Python goes
