"""test_debug.py -- emu debug: stops, values, going back. Each session is a script of commands,
whose answers are compared."""
import json
import os
import random
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

TOP = Path(__file__).resolve().parents[3]
EMU = TOP / "build/emu/emu"
FOLDER = tempfile.TemporaryDirectory()
PROGRAMS = {"scan": "-G", "scan-lines": "-lineinfo"}  # by the options of nvcc


def setUpModule():
    for name, option in PROGRAMS.items():
        subprocess.run(["nvcc", option, "-arch=sm_90", "-cudart", "shared", "-o",
                        Path(FOLDER.name) / name, TOP / "tests/python/debug/scan.cu"], check=True)


def tearDownModule():
    FOLDER.cleanup()


def session(*commands, program="scan", options=()):
    """The answers to each command, and the exit code."""
    words = [EMU, "debug", *options, Path(FOLDER.name) / program]
    done = subprocess.run(words, input="\n".join(commands) + "\n", capture_output=True, text=True,
                          timeout=300, check=False)
    answers = done.stdout.split("(emu) ")[1:]
    return [answer.partition("\n")[2].rstrip("\n") for answer in answers], done


def last(*commands, **others):
    return session(*commands, **others)[0][len(commands) - 1]


LOOP = ("break 27 if thread == 40", "run")


class Stops(unittest.TestCase):
    def test_a_breakpoint_stops_at_its_line_and_thread(self):
        answers, _ = session(*LOOP, "continue", "info breakpoints")
        self.assertEqual(answers[1].split("\n"),
                         ["Breakpoint 1", "scan, block (0,0,0), thread (40,0,0), at scan.cu:27",
                          "27\t        temp[t] = sum(temp[t], left);"])
        self.assertIn("thread (40,0,0), at scan.cu:27", answers[2])
        self.assertEqual(answers[3], "1   break 27 if thread == 40, hit 2 times")

    def test_a_breakpoint_is_moved_to_the_next_line_with_code(self):
        self.assertEqual(last("goto 1:50", "break 18"),
                         "Breakpoint 1 at scan.cu:19, the next line with code.")
        self.assertIn("at scan.cu:36", last("tbreak scatter", "run"))

    def test_a_breakpoint_in_one_kernel_does_not_stop_the_next_one(self):
        self.assertIn("has ended", last("break 31 if thread == 0", "run", "run", "run"))

    def test_a_condition_that_cannot_be_evaluated_stops_once(self):
        self.assertIn("there is no variable lefft here; is it left?; its condition is removed",
                      last("break 27 if lefft > 0", "run"))

    def test_steps_enter_functions_and_next_passes_them(self):
        self.assertIn("scan.cu:15", last(*LOOP, "step"))
        self.assertIn("#1  scan at scan.cu:27", last(*LOOP, "step", "where"))
        self.assertIn("scan.cu:28", last(*LOOP, "step", "finish", "next"))
        self.assertIn("scan.cu:28", last(*LOOP, "next"))

    def test_steps_pass_functions_of_the_toolkit(self):
        stop = "scatter, block (0,0,0), thread (0,0,0), at scan.cu:%d"
        self.assertIn(stop % 39, last("tbreak 38", "run", "step"))
        self.assertIn(stop % 38, last("tbreak 39", "run", "back"))

    def test_and_backward(self):
        self.assertIn("scan.cu:26", last(*LOOP, "back"))
        self.assertIn("scan.cu:16", last(*LOOP, "next", "back"))
        self.assertIn("scan.cu:27", last(*LOOP, "next", "reverse-next"))
        answers, _ = session(*LOOP, "info place", "continue", "continue", "rc", "rc", "info place")
        self.assertEqual(answers[2], answers[7])
        self.assertIn("as far back as the history goes", last(*LOOP, "rc"))

    def test_an_earlier_launch_and_the_end(self):
        answers, done = session("run", "rc", "goto 1:100", "continue")
        self.assertEqual(answers[0], "The program has ended")
        self.assertIn("scan.cu", answers[2])
        self.assertTrue(answers[3].startswith("The program has ended"))
        self.assertEqual((done.returncode, done.stdout.count("128.25")), (3, 1))

    def test_a_watchpoint_stops_at_each_store(self):
        answers, _ = session("goto 1:60", "watch temp[3]", "run", "lanes d", "run", "delete", "run")
        self.assertIn("Watchpoint 1: temp[3] was written\nscan, block (0,0,0), thread (3,0,0)",
                      answers[2])
        self.assertIn("thread (3,0,0)", answers[4])
        self.assertTrue(answers[6].startswith("The program has ended"))

    def test_a_store_before_the_breakpoint_is_found_backward(self):
        answers, _ = session("break 24 if thread == 40", "run", "watch temp[40]", "rc", "continue")
        self.assertIn("Watchpoint 2: temp[40] is about to be written\n"
                      "scan, block (0,0,0), thread (40,0,0), at scan.cu:23", answers[3])
        self.assertIn("Watchpoint 2: temp[40] was written", answers[4])

    def test_who_names_the_stores_with_their_values(self):
        answers, _ = session(*LOOP, "next", "who temp[40]", "goto 2")
        self.assertEqual(answers[3].split("\n")[:2],
                         ["1  block (0,0,0), thread (40,0,0), scan.cu:27 stored 2",
                          "2  block (0,0,0), thread (40,0,0), scan.cu:23 stored 1"])
        self.assertIn("thread (40,0,0), at scan.cu:23", answers[4])

    def test_who_passes_over_atomics_that_change_nothing(self):
        self.assertEqual(last("tbreak 39", "run", "who grid[1][0]").split("\n")[0],
                         "1  block (0,0,0), thread (8,0,0), scan.cu:38 changed it atomically")

    def test_a_race_and_its_other_access(self):
        answers, _ = session("run", "other", options=("--tool", "racecheck"))
        self.assertRegex(answers[0],
                         r"^Race \((RAW|WAR)\) on shared memory at 0x\w+: this thread \w+ it; "
                         r"thread .*scan.cu:2[67]")
        first, other = (re.search(r"thread (\(.*?\)), at scan.cu:(\d+)", a) for a in answers)
        self.assertEqual({first[2], other[2]}, {"26", "27"})
        self.assertIn("thread %s in block" % other[1], answers[0])

    def test_a_race_by_its_values_in_another_order(self):
        answers, _ = session("goto 2:9", "diff schedule 1", "break 31", "goto 1:1", "run",
                             "diff schedule 1", "print temp[t]", "diff order")
        self.assertIn("No load up to here reads another value in that order", answers[1])
        self.assertRegex(answers[5], r"^Here the thread is about to load \S+ \(\d+\); in the other "
                                     r"order, \S+ \(\d+\)\n.*scan.cu:2[67]")
        self.assertIn("where N is any number but 0", answers[7])

    def test_a_fault_stops_where_it_happens(self):
        words = [EMU, "debug", Path(FOLDER.name) / "scan", "wide"]
        said = subprocess.run(words, input="run\nprint i\nback\n", capture_output=True, text=True,
                              check=False).stdout
        self.assertRegex(said, "a store of 4 bytes .* is out of bounds .*\n"
                               "scatter, block .* at scan.cu:37")
        self.assertIn("\ni = ", said)


class Values(unittest.TestCase):
    CASES = (
        ("print t", "t = 40"),
        ("print temp[0..2]", "temp[0] = 1\ntemp[1] = 1\ntemp[2] = 1"),
        ("print given", "given = {first = 7, second = {0.5, 0.25}, next = (struct pair *) 0x0}"),
        ("print given.second[1] * 4 + t", "given.second[1] * 4 + t = 41"),
        ("print *in == temp[1] && t < 64", "*in == temp[1] && t < 64 = 1"),
        ("print factor", "factor = 2"),
        ("print grid[1]", "grid[1] = {3, 4, 5}"),
        ("print grid[t - 39][2] + grid[0][1]", "grid[t - 39][2] + grid[0][1] = 6"),
        ("print threadIdx", "threadIdx = (40,0,0)"),
        ("print block == (0,0,0)", "block == (0,0,0) = 1"),
        ("print -t / 3 % 5", "-t / 3 % 5 = -3"),
        ("print (1 << 4 | 3) ^ 1", "(1 << 4 | 3) ^ 1 = 18"),
        ("print t / (d - 1)", "a division by 0."),
        ("print tmp", "there is no variable tmp here; is it temp?."),
        ("print t +", "the expression ends too early."),
        ("print given.third", "the struct has no member third."),
        ("print " + "(" * 2000 + "1", "the expression is nested too deeply."),
        ("who left", "left is a thread's own: in a register or in local memory. Only shared and "
                     "global memory can be watched."),
        ("delete 7", "There is no breakpoint 7."),
        ("complete wa", "watch\nwarps"),
        ("complete print t + gi", "given"),
        ("prnt t", "There is no command prnt; `help` lists them."),
        ("focus thread 64", "The launch has no such thread."),
        ("goto 3", "goto N goes to a store that `who` has listed; goto LAUNCH:INSTRUCTION to a "
                   "place, as `info place` names it."),
    )

    def test_values(self):
        answers, _ = session(*LOOP, *(command for command, _ in self.CASES))
        for (command, wanted), answer in zip(self.CASES, answers[2:]):
            self.assertEqual(answer, wanted, command)

    def test_lanes_marks_what_is_elsewhere_and_what_has_changed(self):
        answers, _ = session("break 26", "run", "lanes temp[t]", "next", "next", "lanes temp[t]")
        self.assertIn("lanes  0-7    1    1", answers[2])
        self.assertIn("*: another value", answers[5])

    def test_a_called_function_sees_its_caller(self):
        self.assertEqual(last(*LOOP, "step", "print d"), "d = 1")
        self.assertEqual(last(*LOOP, "step", "print a"), "a = 1")

    def test_set_var_changes_the_run(self):
        answers, done = session("break 31 if thread == 63 && blockIdx.x == 0", "run",
                                "set var temp[63] = 5", "next", "continue", "continue")
        self.assertIn("Earlier places", answers[2])
        self.assertIn("10.25", done.stdout)

    def test_lines_and_registers_without_names(self):
        answers, _ = session("break 26", "run", "print t", "print %r5 >= 0", program="scan-lines")
        self.assertIn("scan.cu:26", answers[1])
        self.assertIn("compile with nvcc -G", answers[2])
        self.assertEqual(answers[3], "%r5 >= 0 = 1")


class Json(unittest.TestCase):
    def test_a_line_for_each_command(self):
        done = subprocess.run([EMU, "debug", "--json", Path(FOLDER.name) / "scan"], text=True,
                              input="break sum\nrun\nprint t\nfocus thread 3\nquit\n",
                              capture_output=True, check=False)
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([row["command"] for row in rows],
                         ["break sum", "run", "print t", "focus thread 3", "quit"])
        stop = rows[1]["stop"]
        place = {"file": str(TOP / "tests/python/debug/scan.cu"), "line": 15}
        self.assertEqual(stop["stack"], [{"function": "sum", **place},
                                         {"function": "scan", **place, "line": 27}])
        self.assertEqual({key: value for key, value in stop.items()
                          if key not in ("stack", "instruction")},
                         {"reason": "breakpoint", "text": "Breakpoint 1", "breakpoint": 1,
                          "launch": 1, "kernel": "scan", "gridDim": [2, 1, 1],
                          "blockDim": [64, 1, 1], "block": [0, 0, 0], "thread": [32, 0, 0],
                          **place})
        self.assertEqual((rows[2]["answer"], rows[2]["stop"]), ("t = 32\n", None))
        self.assertEqual((rows[3]["stop"]["reason"], rows[3]["stop"]["thread"]),
                         ("focus", [3, 0, 0]))


class Walks(unittest.TestCase):
    """Steps forward and back end in the state of a straight run, and at the end in its counters."""
    MOVES = ("step", "next", "back", "rn", "continue", "rc", "goto 1:%d", "goto 2:%d")
    STATE = ("info registers", "info locals", "shared", "warps", "print in[0..7]", "where",
             "focus block (0,0,0) thread 3", "info registers")
    END = ("delete", "continue", "continue")

    def counters(self, *commands, program, options):
        """The answers, and what was counted, without the process's number."""
        log = Path(FOLDER.name) / "counters.csv"
        log.unlink(missing_ok=True)
        if not options:
            options = ("--csv", "--log-file", log)
        answers, _ = session(*commands, *self.END, program=program, options=options)
        rows = log.read_text(encoding="utf-8").splitlines() if "--csv" in options else []
        return answers, [re.sub('^("[0-9]+"),"[0-9]+"', r"\1", row) for row in rows]

    def walk(self, seed, program, options):
        chance = random.Random(seed)
        moves = ["break 27 if thread == 40", "goto 1:%d" % chance.randrange(400)]
        for _ in range(chance.randrange(3, 12)):
            move = chance.choice(self.MOVES)
            moves.append(move % chance.randrange(2 if "2:" in move else 40, 20 if "2:" in move
                                                 else 1500) if "%" in move else move)
        answers, counted = self.counters(*moves, "info place", *self.STATE, program=program,
                                         options=options)
        if len(answers) <= len(moves):
            return  # it has continued beyond the program's end
        place = re.search("goto ([0-9:]+)", answers[len(moves)])[1]
        there = answers[len(moves) - 1]
        block, thread = re.search(r"block (\S+), thread (\(.*?\))", there).groups() \
            if "block" in there else ("(0,0,0)", "(0,0,0)")
        there = ("goto " + place, "focus block %s thread %s" % (block, thread))
        straight, once = self.counters(*there, *self.STATE, program=program, options=options)
        self.assertEqual(answers[len(moves) + 1:-len(self.END)], straight[2:-len(self.END)], moves)
        self.assertEqual(counted, once, moves)

    def test_walks(self):
        for seed in range(int(os.environ.get("WALKS", 6))):
            for program in PROGRAMS:
                options = ("--tool", "racecheck") if seed % 3 == 2 else ()
                with self.subTest(seed=seed, program=program):
                    self.walk(seed, program, options)


class Pages(unittest.TestCase):
    """What the book shows of a session is what it prints. A block without a shell's command goes on
    with the session of the block before."""
    BLOCK = re.compile(r"^```\w*\n(.*?)^```$", re.M | re.S)
    PROGRAM = re.compile(r"Save this as `(.*?)`:\n\n```c\n(.*?)^```$", re.M | re.S)

    def check(self, page, sessions):
        text = (TOP / "notes" / page).read_text(encoding="utf-8")
        for name, program in self.PROGRAM.findall(text):
            (TOP / name).write_text(program, encoding="utf-8")
        shown = "".join(block for block in self.BLOCK.findall(text) if "(emu) " in block)
        for shell in re.findall(r"^\$ ((?:sed|nvcc) .*)$", shown, re.M):
            subprocess.run(shell, shell=True, cwd=TOP, check=True)
        shown = re.sub(r"^\$ (?:sed|nvcc) .*\n", "", shown, flags=re.M)
        blocks = re.split(r"^\$ (.*emu debug.*)\n", shown, flags=re.M)[1:]
        self.assertEqual(len(blocks), 2 * sessions)
        for shell, lines in zip(blocks[::2], blocks[1::2]):
            commands = re.findall(r"^\(emu\) (.*)$", lines, re.M)
            said = subprocess.run(shell, shell=True, cwd=TOP, input="\n".join(commands) + "\n",
                                  capture_output=True, text=True, check=False).stdout
            at = 0
            for line in re.sub("^…\n", "", lines, flags=re.M).splitlines():
                pattern = re.compile("^%s$" % re.escape(line).replace("…", ".*"), re.M)
                found = pattern.search(said, at)
                self.assertTrue(found, "%r is not printed:\n%s" % (line, said))
                at = found.end()

    def test_chapter_3_slow(self):
        self.check("03-work-efficient.md", 1)

    def test_debugger_slow(self):
        self.check("debugger.md", 6)


if __name__ == "__main__":
    unittest.main()
