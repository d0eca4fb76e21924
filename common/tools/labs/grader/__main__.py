"""grade-labs -- `make grade`: judges the submissions of a class; with --format one for a platform.

    grade-labs LAB FOLDER [--out FOLDER] [--seed S] [--jobs J] [--roster FILE] …
    grade-labs LAB SUBMISSION --format gradescope [--out FILE] [--hide LIST] [--seed-file FILE] …

All files lie in one folder (state.py); what is done with a submission stands in judge.py.
"""
import argparse
import concurrent.futures
import os
import re
import resource
import signal
import sys
import time

import course
import jobs
import judge
import sandbox
from basics import DEVICE, USAGE, Fault, reason, text_of, visible
from report import check_empty, give_back
from state import LOOK, State
from submissions import Refused, Roster, find_all, read
from tables import Class

SEEDS = (1 << 64) - 1
DESCRIPTORS = 4096  # each job has some ten


# ---- the command line ----------------------------------------------------------------------------

class Parser(argparse.ArgumentParser):
    def error(self, message):
        raise Fault(USAGE, message[:1].lower() + message[1:] + "; --help says more")


def number(most):
    def read_number(value):
        if re.fullmatch("[0-9]+", value) and int(value) <= most:
            return int(value)
        raise Fault(USAGE, "\"%s\" is not a number from 0 to %d" % (value, most))
    return read_number


def seed_in(path):
    """The first line of a file. On a command line, a compiler that reads /proc would see the
    seed."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return number(SEEDS)(file.readline().rstrip("\n"))
    except OSError as error:
        raise Fault(USAGE, "No seed can be read from %s." % text_of(path)) from error


def points(value):
    if re.fullmatch(r"[0-9]*\.?[0-9]+", value) and float(value) > 0:
        return float(value)
    raise Fault(USAGE, "\"%s\" is no number of points; give one above 0." % value)


def one_of(what, *words):
    def choose(value):
        if value in words:
            return value
        raise Fault(USAGE, "there is no %s \"%s\"; give %s or %s" % (
            what, value, ", ".join(words[:-1]), words[-1]))
    return choose


def new_folder(path):
    check_empty(path)
    return path


def parser():
    made = Parser(prog="grade-labs", add_help=False, allow_abbrev=False,
                  formatter_class=argparse.RawDescriptionHelpFormatter, description="""\
Judges the submissions in FOLDER, which are files NAME.cu and folders NAME with a file labN.cu or
with one file that ends in .cu. It writes grades.csv and a report for each. The exit code is 0 if
all are judged, 2 if the command is wrong, and 3 if the machine failed; the same command again goes
on then. notes/instructor.md says more.""")
    add = made.add_argument
    add("lab", nargs="?", metavar="LAB")
    add("folder", nargs="?", metavar="FOLDER")
    add("--out", help="where grades.csv and reports go; default: grades/labN")
    add("--seed", type=number(SEEDS),
        help="repeat the grading that had this seed; default: a fresh one")
    add("--jobs", type=number(256), default=0, help="submissions at a time; default: one for each "
        "processor and for each 2 GiB of memory")
    add("--again", action="store_true", help="judge again what has the status \"look at it\"")
    add("--weights", help="what each criterion is worth; default: common/tools/labs/weights.txt")
    add("--roster", type=Roster, default=Roster(), help="names of the class, one a line: each gets "
        "a row of grades.csv; after a tab may follow by what Moodle identifies the student")
    add("--return", type=new_folder, dest="returns", metavar="FOLDER",
        help="copy reports to a new FOLDER/NAME, to give them back")
    add("--bom", action="store_true",
        help="begin grades.csv with the mark by which Excel recognises UTF-8")
    add("--compiler", type=one_of("compiler", "nvcc", "own"), default="nvcc",
        help="nvcc, or own: this repository's")
    add("--nvcc", default="nvcc", help="where nvcc is; default: nvcc")
    add("--bwrap", default="bwrap", help="the program of bubblewrap; default: bwrap")
    add("--no-sandbox", action="store_true",
        help="run submissions without protection, if you trust them all")
    add("--format", type=one_of("format", *course.FORMATS), help="judge one submission, a file or "
        "a folder with one, and print what gradescope or prairielearn takes, or a summary in "
        "Markdown, or write it to the file --out")
    add("--hide", type=course.Hidden, default=course.Hidden(""), help="with --format, hide "
        "criteria and sizes from students: hazards,sizes or work,2048")
    add("--pass", type=points, dest="passing", metavar="POINTS",
        help="with --format, the exit code is 0 from POINTS on; default: all")
    add("--seed-file", type=seed_in, dest="seed", help="read the seed from a file")
    add("--help", action="help", help="print this help")
    return made


# ---- messages ------------------------------------------------------------------------------------

def say(sentence):
    print("grade-labs: " + sentence, file=sys.stderr, flush=True)


class Progress:
    """For stderr that is a terminal a line that is drawn anew; otherwise a line each time that the
    time has doubled. EMU_PROGRESS=0 turns it off, as it does the emulator's."""

    def __init__(self, label, total):
        self.label, self.total, self.begin, self.next = label, total, time.monotonic(), 2.0
        self.terminal = sys.stderr.isatty()
        self.wanted = self.terminal or os.environ.get("EMU_PROGRESS") != "0"
        if not self.terminal:
            print("%s %d submissions" % (label, total), file=sys.stderr, flush=True)

    def at(self, done):
        seconds, part = time.monotonic() - self.begin, done / self.total
        if not self.wanted or seconds < self.next:
            return
        if self.terminal:
            text = "\r\033[K%s %3.0f %% %.0f s" % (self.label, 100 * part, seconds)
        else:
            self.next *= 2
            text = "%s: %.0f %% after %.0f s, about %.0f s are left\n" % (
                self.label, 100 * part, seconds, seconds * (1 - part) / part) if part > 0 \
                else "%s for %.0f s\n" % (self.label, seconds)
        print(text, end="", file=sys.stderr, flush=True)

    def end(self):
        if self.terminal:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


# ---- grading -------------------------------------------------------------------------------------

class Session:
    """One grading of a class."""

    def __init__(self, options):
        self.options = options
        self.grader = grader = judge.Grader(programs_folder(), options.lab, options)
        grader.folder = options.folder
        self.out = options.out or "grades/lab%d" % grader.lab
        self.test_sandbox()
        self.state = State(self.out)
        grader.find_basis()
        self.state.check_seed(grader.lab, options.seed)
        self.list = find_all(options.folder, grader.lab)
        if not self.list:
            raise Fault(USAGE, "%s holds no file NAME.cu and no folder NAME"
                        % text_of(options.folder))

    def test_sandbox(self):
        if self.options.no_sandbox:
            return say("no sandbox: what is handed in may read your files")
        why = sandbox.why_not(self.grader.place)
        if why:
            raise Fault(DEVICE, "no sandbox can be started (%s): `make setup-labs` installs "
                                "bubblewrap, notes/instructor.md says what the system has to "
                                "allow, and --no-sandbox does without" % why)
        return None

    def do_all(self, submissions, label, job, at_a_time):
        """Does a job for every submission. Says why a job failed, in the order of the list, and
        returns how many did. Whatever a submission does to its job, the others are not
        disturbed."""
        failed, progress = 0, Progress(label, len(submissions))
        with concurrent.futures.ThreadPoolExecutor(at_a_time) as pool:
            futures = [pool.submit(job, self.grader, self.state, one) for one in submissions]
            while concurrent.futures.wait(futures, 0.1).not_done:
                progress.at(sum(future.done() for future in futures))
        progress.end()
        for one, error in zip(submissions, [future.exception() for future in futures]):
            if error:
                say(str(error) if isinstance(error, Fault)
                    else "%s: the grader failed: %r" % (visible(one.path), error))
                failed += 1
        return failed

    def do_twice(self, label, job, is_open):
        """Does a job for all, and then once more for those that are still open, one at a time: the
        machine may have been too busy, or short of memory. Returns how many have failed for
        good."""
        self.do_all(self.list, label, job, self.options.jobs or jobs.jobs_here())
        still_open = [one for one in self.list if is_open(one)]
        self.grader.alone = True
        failed = self.do_all(still_open, "again, alone: " + label, job, 1) if still_open else 0
        self.grader.alone = False
        return failed

    def row(self, submission):
        return self.state.row(self.grader.head(), submission)

    def is_not_compiled(self, submission):
        compiled = self.state.compiled(self.grader.compiler, submission)
        return compiled is None or compiled["kind"] == jobs.DOUBTFUL

    def compile_all(self):
        """Without a new text the compiler is not needed, and so need not be tested."""
        self.grader.alone = True  # what is in doubt is compiled once more, alone
        is_new = not judge.solution_is_compiled(self.grader, self.state) or any(
            judge.has_new(self.grader, self.state, one) for one in self.list)
        self.grader.alone = False
        if is_new:
            judge.compile_solution(self.grader, self.state)
        return self.do_twice("compile", judge.compile_one, self.is_not_compiled)

    def judge_all(self):
        self.grader.seed = self.state.choose_seed(self.grader.lab, self.options.seed)
        old = sum(self.row(one) is None and self.state.has(judge.ROW, one) for one in self.list)
        if old:
            say("the weights, the seed or the programs are not those of %d rows in %s; these "
                "submissions are judged again" % (old, text_of(self.out)))
        with judge.run_solution(self.grader, judge.solution_path(self.state)):
            for one in self.to_look_at() if self.options.again else ():
                self.state.remove_results(one.id)
            return self.do_twice("judge", judge.judge_one, lambda one: self.row(one) is None)

    def to_look_at(self):
        return [one for one in self.list if (self.row(one) or "").startswith(LOOK)]

    def tell(self, notes):
        """Says what stands in the column of notes, and which submissions a person has to look
        at."""
        for one, note in zip(self.list, notes):
            if note:
                say("%s: %s" % (visible(one.path), visible(note)))
        for one in self.to_look_at():
            why = "tried twice without a result; look at it, or try once more with --again"
            if one.unclear:
                try:
                    read(self.options.folder, one)
                except Refused as refused:
                    why = "not graded; look at it: %s" % refused
            say("%s: %s" % (visible(one.path), visible(why)))

    def grade(self):
        failed = self.compile_all() + self.judge_all()
        others = self.state.remove_others(self.list)
        if others:  # reports of what is no longer handed in would be given back by mistake
            say("%d submissions are no longer in %s; their reports are removed"
                % (others, text_of(self.options.folder)))
        tables = Class(self.grader, self.state, self.options.roster, self.list)
        tables.write_grades(self.options.bom)
        tables.write_moodle()
        self.tell(tables.notes)
        if failed:
            raise Fault(DEVICE, "%d jobs failed for the reasons above; the same command again does "
                                "the rest" % failed)
        if self.options.returns:
            give_back(self.state, self.options.returns, self.list)
        print("%d submissions, seed %d: %s/grades.csv" % (len(self.list), self.grader.seed,
                                                          text_of(self.out)))
        return 0


def programs_folder():
    """Where this program stands, and the others with it."""
    return os.path.dirname(os.path.realpath(sys.argv[0]))


def main():
    for stream in sys.stdout, sys.stderr:
        stream.reconfigure(encoding="utf-8", errors="surrogateescape")
    for number_of in signal.SIGINT, signal.SIGCHLD:  # an interruption ends all at once
        signal.signal(number_of, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())  # what programs of submissions get
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if 0 <= soft < DESCRIPTORS:
        resource.setrlimit(resource.RLIMIT_NOFILE,
                           (DESCRIPTORS if hard < 0 else min(DESCRIPTORS, hard), hard))
    try:
        options = parser().parse_args()
        if options.folder is None:
            raise Fault(USAGE, "LAB and FOLDER are missing; --help says more")
        if options.format:
            options.seed = 1 if options.seed is None else options.seed
            grader = judge.Grader(programs_folder(), options.lab, options)
            return course.run(grader, options.folder, options)
        return Session(options).grade()
    except Fault as fault:
        say(str(fault))
        return fault.code
    except OSError as error:
        say("%s%s" % (visible(text_of(error.filename)) + ": " if error.filename else "",
                      reason(error)))
        return DEVICE


if __name__ == "__main__":
    sys.exit(main())
