"""test_sandbox.py -- each limit of the sandbox, one by one. The program misbehave tries to exceed
it. Where no sandbox can be started, these tests are skipped; CI makes that a failure by setting
SANDBOX_REQUIRED."""
import os
import re
import signal
import socket
import sys
import threading
import time
import unittest
from pathlib import Path

TOP = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(TOP / "common/tools/labs/grader"))

import sandbox  # noqa: E402
from sandbox import EXITED, IDLE, MEMORY, OUTPUT, WALL, Command, Limits, Place  # noqa: E402

MEBIBYTE = 1 << 20
PLACE = Place(str(TOP / "build/labs/confine"))
MISBEHAVE = str(TOP / "build/tests/labs/misbehave")

# What misbehave does, with which value; the limits that differ; how it ends: an exit status, or
# another ending; and a pattern for what it prints.
CASES = [
    ("unknown", "", {}, 2, ""),
    ("die", "6", {}, 128 + 6, ""),
    ("processes", "", {}, 0, r"^processes: ([1-9]|1[0-5])\n$"),
    ("threads", "", {"address_space": 16384 * MEBIBYTE}, 0, r"^threads: ([1-9]|1[0-5])\n$"),
    ("addresses", "", {}, 0, r"^addresses: (5[2-9]\d|[6-9]\d\d|10[01]\d|102[0-4]) MiB\n$"),
    ("memory", "100", {"resident": 256 * MEBIBYTE}, MEMORY, ""),
    ("file", "/tmp/large", {}, 0, "^file: 8 MiB\n$"),
    # All files together.
    ("files", "/tmp", {}, 0, r"^files: (9|1[0-6]) MiB\n$"),
    # Only /tmp can be written to.
    *(("files", folder, {}, 0, "^files: 0 MiB\n$")
      for folder in ("/", "/dev", "/dev/shm", "/usr/lib", "/proc", "/misbehave")),
    ("spin", "", {"cpu_seconds": 1}, 128 + signal.SIGXCPU, ""),
    ("spin", "", {"wall_seconds": 1}, WALL, ""),
    ("wait", "", {"idle_seconds": 1}, IDLE, ""),
    # A process that uses the processor now and then is not idle.
    ("doze", "", {"idle_seconds": 2, "wall_seconds": 5}, WALL, ""),
    ("identity", "", {}, 0, "^uid other, euid other, session new, terminal none\n"
     "setuid 0: (?!done).*\nmount: Operation not permitted\n$"),
    # Ways to more of the kernel, and to memory that no limit counts.
    ("calls", "", {}, 0, "^%s$" % "".join("%s: Operation not permitted\n" % call for call in (
        "namespace", "clone", "memory file", "shared memory", "messages", "socket", "netlink",
        "keys", "requests", "trace"))),
    # Files outside are not visible.
    *(("read", path, {}, 0, ": No such file") for path in (
        "/home", "/root", "/var", "/sys", "/proc", "/etc/passwd", str(TOP))),
    ("look", "/", {}, 0, "(?m)^entry misbehave$"),
    ("environment", "", {}, 0, r"^(?!(.*\n)*SECRET)(.*\n)*HOME=/tmp\n"),
]


def setUpModule():
    why = sandbox.why_not(PLACE)
    if why and "SANDBOX_REQUIRED" not in os.environ:
        raise unittest.SkipTest("no sandbox can be started: make setup-labs installs bubblewrap")
    assert not why, why


def misbehave(what, value="", dropped=(), result_file="", **limits):
    usual = dict(address_space=1024 * MEBIBYTE, resident=512 * MEBIBYTE, scratch=16 * MEBIBYTE,
                 file=8 * MEBIBYTE, processes=16, cpu_seconds=20, idle_seconds=50, wall_seconds=60)
    return sandbox.run(PLACE, Command(["/misbehave", what, value], Limits(**dict(usual, **limits)),
                                      {1: 4096, 2: 4096, 3: 4096}, dropped,
                                      [(MISBEHAVE, "/misbehave")], result_file))


def marked_runs(mark):
    """Is there a process of misbehave with this value? It would be one of a sandbox."""
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = file.read_bytes().split(b"\0")
        except OSError:
            continue  # it has ended
        if words[0] == b"/misbehave" and mark.encode() in words:
            return True
    return False


class Sandbox(unittest.TestCase):
    def test_limits_slow(self):
        os.environ["SECRET"] = "of the caller"
        for what, value, limits, ending, printed in CASES:
            with self.subTest(what=what, value=value, limits=limits):
                result = misbehave(what, value, **limits)
                got = result.status if result.ending == EXITED else result.ending
                self.assertEqual(got, ending, result.outputs)
                self.assertTrue(re.search(printed, result.outputs[1].decode()), result.outputs)

    def test_output_is_limited_and_its_beginning_is_kept_slow(self):
        for descriptor in 1, 2, 3:
            result = misbehave("flood", str(descriptor))
            self.assertEqual((result.ending, result.descriptor), (OUTPUT, descriptor))
            self.assertEqual(result.outputs[descriptor], b"x" * 4096)
        result = misbehave("flood", "2", dropped=(2,), cpu_seconds=1)
        self.assertEqual((result.ending, result.status), (EXITED, 128 + signal.SIGXCPU))
        self.assertEqual(result.outputs[2], b"x" * 4096)

    def test_descriptors_of_the_caller_are_closed_slow(self):
        standard = b"".join(b"descriptor %d\n" % k for k in range(3))
        opened = [os.open("/etc/passwd", os.O_RDONLY) for _ in range(40)]
        for file in opened:
            os.set_inheritable(file, True)
        self.assertEqual(misbehave("descriptors").outputs[1], standard + b"descriptor 3\n")
        result = misbehave("descriptors", result_file="/tmp/result")
        self.assertEqual((result.outputs[1], result.outputs[3]), (standard, b""))
        for file in opened:
            os.close(file)

    def test_there_is_no_network_slow(self):
        """A server of this test listens on the loopback interface, and is not to be reached."""
        with socket.create_server(("127.0.0.1", 0)) as server:
            printed = misbehave("network", str(server.getsockname()[1])).outputs[1]
        self.assertRegex(printed, b"^connect: (?!connected)")

    def test_all_processes_end_with_the_sandbox_slow(self):
        """Also those that leave their session, and a fork bomb."""
        mark = "test-%d" % os.getpid()
        self.assertEqual(misbehave("daemon", mark).ending, EXITED)
        self.assertFalse(marked_runs(mark))
        misbehave("forks", mark, wall_seconds=2)
        self.assertFalse(marked_runs(mark))
        with self.assertRaises(ChildProcessError):
            os.waitpid(-1, os.WNOHANG)

    def test_a_file_that_it_leaves_becomes_the_results_slow(self):
        result = misbehave("result", "what it left", result_file="/tmp/result")
        self.assertEqual(result.outputs[3], b"what it left")
        result = misbehave("link", "/misbehave", result_file="/tmp/result")  # it is not followed
        self.assertEqual((result.ending, result.outputs[3]), (EXITED, b""))
        # Too many bytes count, also if they are read when all has ended.
        result = misbehave("result", 5000 * "x", result_file="/tmp/result")
        self.assertEqual((result.ending, result.descriptor), (OUTPUT, 3))
        self.assertEqual(result.outputs[3], 4096 * b"x")

    def test_sandboxes_at_the_same_time_do_not_count_together_slow(self):
        """The kernel counts the processes of a uid, so each sandbox of root has its own."""
        neighbour = threading.Thread(target=misbehave, args=("forks",), kwargs={"wall_seconds": 3})
        neighbour.start()
        time.sleep(1)
        printed = misbehave("processes").outputs[1]
        neighbour.join()
        self.assertIn(printed, (b"processes: 14\n", b"processes: 15\n"))
        if os.geteuid() == 0:
            with sandbox.own_uid(PLACE) as one, sandbox.own_uid(PLACE) as other:
                self.assertNotEqual(one, other)
                self.assertLess(sandbox.FIRST_UID - 1, min(one, other))

    def test_a_missing_program_is_said_slow(self):
        path = "/does/not/exist"
        self.assertEqual(sandbox.why_not(Place(PLACE.confine, path)),
                         path + ": No such file or directory")
        self.assertIn(path, sandbox.why_not(Place(path)))


if __name__ == "__main__":
    unittest.main()
