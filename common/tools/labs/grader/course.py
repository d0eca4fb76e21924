"""course.py -- judges one submission for a platform for courses as `make grade` judges each of a
class, in a sandbox or, where none can be started, in the container round it; and writes the verdict
as the platform takes it: a list of tests, of which some are hidden."""
import json
import os
import re
import shutil
import sys
import tempfile

import jobs
import sandbox
from basics import DEVICE, USAGE, Fault, lines_of, visible, write_whole
from jobs import DONE, FAILED, REFUSED
from judge import run_solution
from report import SOURCE
from submissions import Refused, find_one, read

FORMATS = "gradescope", "prairielearn", "summary"
CAUSE = "the error that the checkers report"  # so begins a likely cause that is a finding (score.h)
CHECKS = "correctness", "work", "conflicts", "sectors", "hazards"


# ---- what is hidden ------------------------------------------------------------------------------

class Hidden:
    """What students do not see: a list such as "hazards,sizes" or "work,2048"."""

    def __init__(self, words):
        self.criteria, self.sizes, self.all_sizes = set(), set(), False
        for word in filter(None, re.split("[, ]", words)):
            if word in CHECKS:
                self.criteria.add(word)
            elif word == "sizes":
                self.all_sizes = True
            elif re.fullmatch("[0-9]{1,18}", word):
                self.sizes.add(int(word))
            else:
                raise Fault(USAGE, "\"%s\" cannot be hidden; give correctness, work, conflicts, "
                                   "sectors, hazards, sizes, or a size such as 2048, with commas "
                                   "between them." % word)

    def size(self, n):
        return self.all_sizes or n in self.sizes

    def named_in(self, text):
        """Does a reason name a hidden size? It may be about several, so every number counts."""
        return self.all_sizes and "n = " in text or any(
            int(number[-18:]) in self.sizes for number in re.findall("[0-9]+", text))


# ---- tests ---------------------------------------------------------------------------------------

def rounded(points):
    """The points that are shown everywhere: halves are rounded up."""
    return int(points * 100 + 0.5) / 100


class Test:
    def __init__(self, name, hidden, passed, text, points=0.0, most=0.0):
        self.name, self.hidden, self.passed, self.text = name, hidden, passed, text
        self.points, self.most = points, most  # most 0: it has none of its own, and passes or fails


def reason(line):
    """As the verdict for people has it (verdict.c)."""
    place = "%s:%d: " % (visible(line["file"]), line["line"]) if line["line"] else ""
    end = "" if line["text"][-1:] in (".", "!", "?", "\n") and line["text"] else "."
    return "  %6.2f  %-11s  %s%s%s See %s.\n" % (
        -line["lost"] if line["lost"] > 0 else 0, line["criterion"], place, visible(line["text"]),
        end, line["chapter"])


def reasons(verdict, hidden, criterion):
    for line in verdict["lost"]:
        if line["criterion"] != criterion:
            continue
        if criterion == "correctness" and "hazards" in hidden.criteria:
            # A wrong size has no line, which may be that of a checker's finding, and no cause that
            # is a finding.
            line = dict(line, line=0, text=line["text"].partition("; " + CAUSE)[0])
        yield "A reason at a hidden size is not shown.\n" if hidden.named_in(line["text"]) \
            else reason(line)


def criterion_tests(verdict, hidden):
    right = "%d of %d runs are right. This fraction multiplies all points.\n" % (
        verdict["right_runs"], verdict["runs"])
    yield Test("correctness", "correctness" in hidden.criteria, verdict["correctness"] >= 1,
               right + "".join(reasons(verdict, hidden, "correctness")))
    before = 0.0
    for one in verdict["criteria"]:
        name, fraction = one["criterion"], verdict["correctness"] * one["fraction"]
        # Each is rounded so that together they are the rounded sum.
        after = before + fraction * one["weight"]
        yield Test(name, name in hidden.criteria, fraction >= 1,
                   "".join(reasons(verdict, hidden, name)),
                   rounded(rounded(after) - rounded(before)), one["weight"])
        before = after


def size_test(size, hidden):
    """What has been counted at a size, without what belongs to a hidden criterion."""
    text = ""
    if not size["right"]:
        cause = size["cause"] or ""
        if "hazards" in hidden.criteria and cause.startswith(CAUSE):
            cause = ""
        text = visible(size["wrong"]) + ("\n" + visible(cause) if cause else "") + "\n"
    counts = ["%d and %d %s" % (size[key]["got"], size[key]["solution"], name)
              for criterion, key, name in (("work", "additions", "additions"),
                                           ("conflicts", "conflicts", "bank conflicts"),
                                           ("sectors", "sectors", "sectors"))
              if criterion not in hidden.criteria]
    if counts:
        text += "Yours, and the solution's: %s.\n" % ", ".join(counts)
    if "hazards" not in hidden.criteria:
        text += "Findings of the checkers: %d.\n" % size["findings"]
    return Test("n = %d: %s" % (size["n"], "right" if size["right"] else "wrong"),
                hidden.size(size["n"]), size["right"], text)


def whole(verdict, hidden, tests, title, messages):
    """What is said of the whole submission."""
    gradable = is_gradable(verdict)
    text = "Lab %d: %s\n" % (verdict["lab"], title)
    if not gradable:
        text += ("" if verdict["judged"] else "Not judged: ") + visible(verdict["failure"]) + "\n"
    else:
        if verdict["own_compiler"]:
            text += "Compiled without nvcc, as the step's solution is.\n"
        text += "%.2f of %g points" % (verdict["points"], verdict["most"])
        if "correctness" not in hidden.criteria:
            text += ", %d of %d runs right" % (verdict["right_runs"], verdict["runs"])
        text += ". Below, your file is called %s.\n" % SOURCE
    for gap in verdict["empty_gaps"]:
        text += "Line %d: gap %d is still empty.\n" % (gap["line"], gap["gap"])
    count = sum(test.hidden for test in tests)
    if count:
        text += "Tests that are not shown: %d.\n" % count
    if messages:
        text += "The compiler's messages%s, where your file is called %s:\n" % (
            " (it is not nvcc)" if verdict["own_compiler"] else "", SOURCE)
        text += "".join(visible(line) + "\n" for line in lines_of(messages))
    return text


def is_gradable(verdict):
    """Has the submission been judged, and not only refused, as a file that does not compile is?"""
    return verdict["judged"] and verdict["runs"] > 0


# ---- formats -------------------------------------------------------------------------------------

def number(value):
    """A number with nine digits, as the emulator's reports have it."""
    value = float("%.9g" % value)
    return int(value) if value.is_integer() else value


def gradescope(verdict, tests, text):
    def entry(test):
        points = {"score": number(test.points), "max_score": number(test.most)}
        return {"name": test.name, **(points if test.most > 0 else {}),
                "status": "passed" if test.passed else "failed", "output_format": "text",
                "visibility": "hidden" if test.hidden else "visible", "output": test.text}
    return {"score": number(rounded(verdict["points"])), "output_format": "text",
            "visibility": "visible", "stdout_visibility": "hidden", "output": text,
            "tests": [entry(test) for test in tests]}


def prairielearn(verdict, tests, text):
    """Its texts may be shown as HTML. So no < begins a tag there: it becomes a single quotation
    mark."""
    def quoted(text):
        return text.replace("<", "\u2039").replace(">", "\u203a")

    def entry(test):
        points = {"points": number(test.points), "max_points": number(test.most)}
        return {"name": test.name, **(points if test.most > 0 else {}),
                "message": quoted(test.text)}
    gradable = is_gradable(verdict)
    said = {"score": number(rounded(verdict["points"]) / verdict["most"]), "message": quoted(text)}
    return {"gradable": gradable, **(said if gradable else {"format_errors": quoted(text)}),
            "tests": [entry(test) for test in tests if not test.hidden]}


def block(text):
    """In a block of code, whose lines are indented, no line of a submission can end the block."""
    return "".join("    %s\n" % line for line in lines_of(text))


def summary(verdict, tests, text):
    points = rounded(verdict["points"]) if is_gradable(verdict) else 0
    parts = ["## Lab %d: %.2f of %g points\n\n" % (verdict["lab"], points, verdict["most"]),
             block(text)]
    for test in tests:
        if not test.hidden:
            points = ": %.2f of %g" % (test.points, test.most) if test.most > 0 else ""
            parts.append("\n**%s**%s\n\n%s" % (test.name, points, block(test.text)))
    return "".join(parts)


def write_result(options, verdict, title, messages):
    """A failure of the machine can be told to Gradescope only by no result."""
    if options.format == "gradescope" and not verdict["judged"]:
        return
    tests = [*criterion_tests(verdict, options.hide),
             *(size_test(size, options.hide) for size in verdict["sizes"])] \
        if is_gradable(verdict) else []
    text = whole(verdict, options.hide, tests, title, messages)
    made = globals()[options.format](verdict, tests, text)
    if options.format != "summary":
        made = json.dumps(made, indent=2, ensure_ascii=False).replace("\x7f", "\\u007f") + "\n"
    content = made.encode("utf-8")
    if options.out in (None, "stdout"):
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
    else:
        write_whole(options.out, content)


# ---- judging -------------------------------------------------------------------------------------

def find_place(grader, work):
    """Where no sandbox can be started, says so, and opens `work` to the submission's user."""
    why = sandbox.why_not(grader.place)
    if not why:
        return
    grader.place.container = work
    with sandbox.own_uid(grader.place) as uid:
        user = "uid %d" % uid if uid else "this user, since no other uid can be had"
    print("grade-labs: no sandbox can be started (%s), so the container has to protect what is in "
          "it; the submission runs as %s" % (visible(why), user), file=sys.stderr)
    os.umask(0o022)
    os.chmod(work, 0o755)


def judge_copy(grader, work, source):
    """The verdict on a copied source, and the compiler's messages. A machine that fails costs no
    points."""
    outcome = jobs.compile_source(grader, source)
    if outcome.kind == FAILED:
        return grader.unjudged(outcome.why, source), outcome.messages
    if outcome.kind != DONE:
        why = "It does not compile." if outcome.why == jobs.REPORTED else outcome.why
        return grader.refused(why, source), outcome.messages
    ptx = work + "/lab.ptx"
    write_whole(ptx, outcome.content)
    with run_solution(grader, grader.solution(grader.lab)):
        run = jobs.run_ptx(grader, ptx)
        if run.kind == REFUSED:
            verdict = grader.refused(run.why, source)
        elif run.kind != DONE:
            verdict = grader.unjudged(run.why, source)
        else:
            verdict = grader.scored(run.content, grader.reference, source)
    return verdict, outcome.messages


def judge(grader, path):
    folder, submission = find_one(path, grader.lab)
    work = tempfile.mkdtemp(prefix="check-lab-")
    try:
        find_place(grader, work)
        try:
            source = read(folder, submission)
        except Refused as why:
            return grader.refused(str(why)), ""
        copy = work + "/" + SOURCE
        write_whole(copy, source)
        return judge_copy(grader, work, copy)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def run(grader, path, options):
    """All processes of the submission have ended when the result is written. The exit code is 0
    from the points on that are asked for, or for all."""
    verdict, messages = judge(grader, path)
    write_result(options, verdict, grader.titles[grader.lab], messages)
    if not verdict["judged"]:
        raise Fault(DEVICE, "Not judged: " + verdict["failure"])
    return 0 if verdict["points"] >= (options.passing or verdict["most"]) - 0.005 else 1
