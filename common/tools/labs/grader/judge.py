"""judge.py -- what becomes of one submission.

1. Every submission is copied and compiled, in a sandbox.
2. A seed is drawn, and the step's own solution runs on the cases that the seed gives.
3. Every PTX runs on these cases, in a sandbox, and check-lab judges the results by the scorer of
   `make check`, in a process that runs no submission. It leaves the reports and a row.
"""
import contextlib
import json
import os
import subprocess

import jobs
import report
import same_ptx
from basics import DEVICE, USAGE, Fault, bytes_of, cell, read_regular, text_of, write_whole
from jobs import DONE, DOUBTFUL, FAILED, REFUSED, Outcome
from sandbox import Place
from state import FIRST, HTML, JUDGED, LOOK, PTX, ROW, SOURCE, TEXT, bits
from submissions import BYTES, Refused, read

NO_FILE = "/dev/null"


class Grader:
    """What all submissions are judged with. `alone` is the second try, with one job: what is
    doubtful counts then."""

    def __init__(self, programs, lab, options):
        self.programs, self.own = programs, options.compiler == "own"
        self.options, self.seed, self.alone = options, options.seed, False
        self.facts = json.loads(self.check_lab("--facts"))
        self.titles = {one["number"]: one["title"] for one in self.facts["labs"]}
        if not lab.isascii() or not lab.isdigit() or int(lab) not in self.titles:
            raise Fault(USAGE, "there is no lab \"%s\"" % lab)
        self.lab = int(lab)
        self.place = Place(programs + "/confine", options.bwrap, options.no_sandbox)
        self.weights = options.weights or programs + "/weights.txt"
        self.toolkit = None if self.own else jobs.Toolkit(options.nvcc)
        self.absent = self.refused("Nothing was handed in.")  # fails if the weights are wrong
        self.reference = None  # results of the step's own solution, with the seed: a descriptor

    def solution(self, lab):
        return "%s/reference%d%s.ptx" % (self.programs, lab, ".own" if self.own else "")

    # ---- check-lab, which judges -----------------------------------------------------------------

    def check_lab(self, *arguments, descriptors=()):
        done = subprocess.run([self.programs + "/check-lab", *arguments], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                              pass_fds=descriptors)
        if done.returncode == 0:
            return done.stdout
        said = done.stderr.decode("utf-8", "surrogateescape").strip().partition("check-lab: ")[2]
        raise Fault(USAGE if done.returncode == USAGE else DEVICE,
                    said or "check-lab ended with status %d" % done.returncode)

    def verdict(self, *arguments, source=NO_FILE, descriptors=()):
        """A verdict as check-lab writes it for programs; its key "text" has it for people. Gaps
        that are still empty are looked for in `source`."""
        said = self.check_lab(str(self.lab), source, "--weights", self.weights, "--compiler",
                              "own" if self.own else "nvcc", *arguments, descriptors=descriptors)
        end = said.index(b"\n}\n") + 3
        return dict(json.loads(said[:end]), text=said[end:].decode("utf-8", "surrogateescape"))

    def refused(self, why, source=NO_FILE):
        return self.verdict("--refused", bytes_of(why), source=source)

    def unjudged(self, why, source=NO_FILE):
        """What a person has to look at."""
        return self.verdict("--unjudged", bytes_of(why), source=source)

    def scored(self, content, reference, source=NO_FILE):
        with results_of(content) as results:
            return self.verdict("--results", "/proc/self/fd/%d" % results, "--reference",
                                "/proc/self/fd/%d" % (reference or results), source=source,
                                descriptors=(results, *([reference] if reference else [])))

    # ---- what points depend on besides a submission ----------------------------------------------

    def find_basis(self):
        """Rows and PTX that were made with something else are made again. The labs' table and the
        scorer are in the programs."""
        compiler = self.programs + "/../cc/upcc" if self.own else self.toolkit.folder + "/bin/nvcc"
        words = json.dumps(self.facts["own" if self.own else "nvcc"]).encode()
        self.compiler = bits(compiler, words)
        source = "%s/reference%d.cu" % (self.programs, self.lab)
        self.solution_bits = bits(self.compiler.encode(), source)
        programs = ["%s/%s" % (self.programs, name)
                    for name in ("grade-labs", "check-lab", "run-lab")]
        self.scorer = bits(self.solution_bits.encode(), repr(self.absent["criteria"]).encode(),
                           *programs)

    def head(self):
        """The line with which a row of this lab, seed and scorer begins."""
        return b"lab %d seed %d scorer %s\n" % (self.lab, self.seed, self.scorer.encode())


@contextlib.contextmanager
def results_of(content):
    """A descriptor from which check-lab reads results. They are in no folder, where what they come
    from could change them."""
    file = os.memfd_create("results")
    try:
        with open(file, "wb", closefd=False) as results:
            results.write(content)
        yield file
    finally:
        os.close(file)


# ---- the step's own solution goes the way of a submission ----------------------------------------

# If it cannot be compiled and run, or does not get all points, the fault is the machine's, and
# nothing is graded.

def solution_path(state):
    return state.out + "/state/solution"  # all files of submissions have endings


def solution_head(grader):
    """A comment before the PTX. It says what the PTX was made of."""
    return b"// %s\n" % grader.solution_bits.encode()


def solution_is_compiled(grader, state):
    text = read_regular(solution_path(state), jobs.PTX_BYTES)
    return text is not None and text.startswith(solution_head(grader))


def compile_solution(grader, state):
    source = "%s/reference%d.cu" % (grader.programs, grader.lab)
    if not os.access(source, os.R_OK):
        raise Fault(DEVICE, "%s is missing: `make labs` makes it" % text_of(source))
    outcome = jobs.compile_source(grader, source)
    if outcome.kind != DONE:
        raise Fault(DEVICE, "the step's own solution cannot be compiled here, so nothing is graded;"
                            " look at the compiler and at what the sandbox shows of it. %s %s"
                    % (outcome.why, jobs.first_line(outcome.messages)))
    write_whole(solution_path(state), solution_head(grader) + outcome.content)


@contextlib.contextmanager
def run_solution(grader, ptx):
    """Its own results are its own reference, and then that of all submissions."""
    outcome = jobs.run_ptx(grader, ptx)
    if outcome.kind != DONE:
        raise Fault(DEVICE, "the step's own solution cannot be run: " + outcome.why)
    verdict = grader.scored(outcome.content, None)
    if not verdict["judged"]:
        raise Fault(DEVICE, "the step's own solution: " + verdict["failure"])
    if verdict["points"] < verdict["most"] - 1e-9:
        raise Fault(DEVICE, "the step's own solution gets %.2f of %g points here, so nothing is "
                            "graded" % (verdict["points"], verdict["most"]))
    with results_of(outcome.content) as grader.reference:
        yield


# ---- copying and compiling -----------------------------------------------------------------------

def read_or_refuse(grader, submission):
    try:
        return read(grader.folder, submission), None
    except Refused as why:
        return None, Outcome(REFUSED, str(why))


def is_compiled(grader, state, submission, source):
    """Has this very text been compiled? Otherwise, what is known is of an earlier version. Is the
    PTX there that was stored? A machine that lost its power may have damaged it."""
    compiled = state.compiled(grader.compiler, submission)
    if source is None or compiled is None or state.read(SOURCE, submission, BYTES) != source:
        return False
    if compiled["kind"] == DONE:
        ptx = state.read(PTX, submission, jobs.PTX_BYTES)
        return ptx is not None and bits(ptx) == compiled["ptx"]
    return not (grader.alone and compiled["kind"] == DOUBTFUL)


def has_new(grader, state, submission):
    """Is there a text that has still to be compiled?"""
    source, _ = read_or_refuse(grader, submission)
    return source is not None and not is_compiled(grader, state, submission, source)


def compile_one(grader, state, submission):
    """Copies and compiles a submission, unless that has been done."""
    source, outcome = read_or_refuse(grader, submission)
    if is_compiled(grader, state, submission, source):
        return
    state.forget(submission)
    if outcome is None:
        state.write(SOURCE, submission, source)
        outcome = jobs.compile_source(grader, state.path(SOURCE, submission))
    if outcome.kind == FAILED:
        raise Fault(DEVICE, "%s: %s" % (submission.path, outcome.why))
    found = {"kind": outcome.kind, "why": outcome.why, "same": "", "ptx": "",
             "messages": outcome.messages}
    if grader.alone and outcome.kind == DOUBTFUL:
        found["kind"] = REFUSED
    if outcome.kind == DONE:
        found["same"] = same_ptx.digest(outcome.content, kernels_of(grader, grader.lab))
        found["ptx"] = bits(outcome.content)
        state.write(PTX, submission, outcome.content)
    state.store_compiled(grader.compiler, submission, **found)


def kernels_of(grader, lab):
    return next(one["kernels"] for one in grader.facts["labs"] if one["number"] == lab)


# ---- running and judging -------------------------------------------------------------------------

def doubtful(grader, submission, why):
    """What is not judged at the second try is left for a person to look at."""
    if not grader.alone:
        raise Fault(DEVICE, "%s: %s" % (submission.path, why))
    return grader.unjudged(why)


def verdict_of(grader, state, submission, compiled):
    if submission.unclear:
        return grader.unjudged(compiled["why"])
    if compiled["kind"] != DONE:
        return grader.refused(compiled["why"])
    outcome = jobs.run_ptx(grader, state.path(PTX, submission))
    if outcome.kind == REFUSED:
        return grader.refused(outcome.why)
    if outcome.kind == FAILED:
        raise Fault(DEVICE, "%s: %s" % (submission.path, outcome.why))
    if outcome.kind == DOUBTFUL:
        return doubtful(grader, submission, outcome.why)
    verdict = grader.scored(outcome.content, grader.reference)
    return verdict if verdict["judged"] else doubtful(grader, submission, verdict["failure"])


def judge_one(grader, state, submission):
    """Runs and judges a compiled submission, and writes its reports and its row, unless it has a
    row. A row of LOOK has no points."""
    reports = all(state.has(which, submission) for which in (TEXT, HTML))
    if reports and state.row(grader.head(), submission) is not None:
        return
    state.remove_results(submission.id)
    compiled = state.compiled(grader.compiler, submission)
    if compiled is None:
        raise Fault(DEVICE, "%s has not been compiled" % submission.path)
    verdict = verdict_of(grader, state, submission, compiled)
    source = state.read(SOURCE, submission, BYTES) or b""
    # A report with results shows sizes and inputs. What is handed in after it is another version
    # than this one.
    if verdict["runs"] and not state.has(FIRST, submission):
        state.write(FIRST, submission, source)
    pages = {TEXT: report.as_text(submission, verdict, compiled["messages"]),
             HTML: report.as_page(submission, verdict, compiled["messages"], source,
                                  grader.titles[grader.lab])}
    for which, text in pages.items():
        state.write(which, submission, text.encode("utf-8"))
    # The row comes last: it says that all is done.
    cells = "%s,%s" % (JUDGED, report.cells(verdict)) if verdict["judged"] \
        else LOOK + ",,,,,,,,," + cell(verdict["failure"])
    state.write(ROW, submission, grader.head() + cells.encode("utf-8"))
