#!/usr/bin/env python3
"""kernels.py [STEP...] -- are all changes of the steps' kernels noticed? STEPS by default.

Each operator, constant, argument and statement of `make aloneN`, above its main, is changed once.
The program then has to be wrong, to be reported by a checker, or to have other launches or counters
of memory (those that are compared with an H200's). What survives is printed, unless kernels.txt
says why it changes nothing; then the exit status is 1.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

TOP = Path(__file__).resolve().parents[3]
EMU = TOP / "build/emu/emu"
KNOWN = Path(__file__).with_name("kernels.txt")
MAIN = "---- the program"
MOVED = "CHECK(cudaMemcpy(d_in, in"
STEPS = range(1, 12)
BLOCKS = "0 1 5 1000 1002+1 1003+1 1004+1 4700 4096 2049"  # full blocks and parts; N+1: displaced
SIZES = {2: "0 1 2 512 1024 1025", 3: "0 1 2 64 2048 4096 1000", 4: "0 1 2 64 2048 4096 1000",
         5: "0 1 5 1000 4700 4096 2049 270000",  # the last: three levels of blocks
         8: BLOCKS + " 8 1000+1 1005+1+1",  # N+1+K: variant K, displaced
         10: BLOCKS + " 540000 540000+1+1",
         11: BLOCKS + " 270000 40000+1+1 40000+1+2"}
# Small arrays have what large ones have: step 8 several levels, step 10 blocks with two tiles.
LESS = {8: ("(1 << 17)", "512"), 10: ("MOST_BLOCKS 4096", "MOST_BLOCKS 260")}
# Without cuda::std the same PTX takes a third of the time.
GROUPS = "#define _CG_LIMIT_INCLUDED_DEPENDENCIES\n#include <cooperative_groups.h>\n"
SECONDS, INSTRUCTIONS = 60, "20000000"  # a mutant may never end
ENVIRONMENT = {**os.environ, "EMU_THREADS": "1", "EMU_PROGRESS": "0"}  # so that counts repeat
CHECKERS = "--tool all --error-exitcode 9 --schedule 1 --blocks descending".split()
COUNTED = [("shared", "wavefronts"), ("shared", "ideal_wavefronts"), ("global", "requests"),
           ("global", "sectors")]

TOKEN = re.compile(
    r"""(?P<skip>\s+|//[^\n]*|/\*.*?\*/|^[ \t]*\#(?:\\\n|/\*.*?\*/|[^\n])*)
      | (?P<string>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')
      | (?P<number>\.?[0-9](?:[eEpP][+-]|[0-9A-Za-z_.])*)
      | (?P<word>[A-Za-z_]\w*)
      | (?P<sign><<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.)""",
                   re.X | re.S | re.M)
KEYWORDS = set("break case continue default do else for goto if return sizeof switch while".split())
HEADS = {"if", "for", "while", "switch"}
OPERATORS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "+": "-", "-": "+",
             "*": "/", "/": "*", "%": "/", "&": "|", "|": "&", "^": "|", "&&": "||", "||": "&&",
             "<<": ">>", ">>": "<<", "+=": "-=", "-=": "+=", "*=": "/=", "/=": "*=", "|=": "&=",
             "&=": "|=", "^=": "|=", "<<=": ">>=", ">>=": "<<=", "++": "--", "--": "++"}
WORDS = {"true": "false", "false": "true", "break": "continue", "continue": "break"}
UNARY = {"!", "~", "-"}  # dropped where they have one operand
EITHER = {"-", "+", "*", "&"}  # these may have one operand, too
TYPES = set("bool char const double float int long short signed size_t unsigned void".split())
ASSIGNS = {"=", ".", "->", "[", "(", "++", "--"} | {sign for sign in OPERATORS if sign[-1] == "="}


class Mutation:
    """The text from `start` to `end` becomes `new`. `before` and `after` are the lines that change,
    with single spaces."""

    def __init__(self, text, start, end, new):
        self.start, self.end = start, end
        self.new = new + "\n" * (text.count("\n", start, end) - new.count("\n"))
        begin, stop = text.rfind("\n", 0, start) + 1, text.find("\n", end)
        self.before = " ".join(text[begin:stop].split())
        self.after = " ".join((text[begin:start] + self.new + text[end:stop]).split())

    def applied(self, text):
        return text[:self.start] + self.new + text[self.end:]


class Source:
    """A file of CUDA C as tokens; this is no parser: which brackets belong together, and which one
    a token is in. The compiler refuses what it gets wrong."""

    def __init__(self, text):
        self.text, self.tokens = text, [match for match in TOKEN.finditer(text)
                                        if match.lastgroup != "skip"]
        self.words = [match[0] for match in self.tokens] + [""] * 3  # so that [-1] is one
        self.kinds = [match.lastgroup for match in self.tokens] + [""] * 3
        self.partner, self.around, opened = {}, {}, []
        for i, word in enumerate(self.words):
            if word in (")", "]", "}"):
                self.partner[i] = opened.pop()
                self.partner[self.partner[i]] = i
            self.around[i] = opened[-1] if opened else None
            if word in ("(", "[", "{"):
                opened.append(i)

    def between(self, first, last):
        """The text of tokens first … last."""
        return self.text[self.tokens[first].start():self.tokens[last].end()]

    def mutations(self):
        """At each token of a function at most one: not in sizes of arrays, and in assertions."""
        for i, word in enumerate(self.words):
            if word == "{" and self.around[i] is None and self.words[i - 1] in (")", "="):
                for k in range(i, self.partner[i]):
                    change = self.is_changed(k) and self.change_at(k)
                    if change:
                        yield Mutation(self.text, self.tokens[k].start(),
                                       self.tokens[change[0]].end(), change[1])

    def is_changed(self, i):
        while i is not None:
            before = i - 1
            while self.words[before - 1] == "*":
                before -= 1
            if self.words[i] == "[" and self.kinds[i - 1] == "word" == self.kinds[before - 1] and \
                    self.words[before - 1] not in KEYWORDS:
                return False
            if self.words[i] == "(" and self.words[i - 1] == "static_assert":
                return False
            i = self.around[i]
        return True

    def change_at(self, i):
        """The index of the last token that is replaced, and what replaces them; or None."""
        word, kind = self.words[i], self.kinds[i]
        new = (self.other_operator(i) if kind == "sign" else other_number(word) if kind == "number"
               else WORDS.get(word))
        if new is not None:
            return i, new
        if word in ("if", "while"):
            last = self.partner[i + 1]
            return last, "%s (!%s)" % (word, self.between(i + 1, last))
        return (self.exchanged_arguments(i) if kind == "word" else None) or (
            self.statement_change(i) if self.begins_statement(i) else None)

    def other_operator(self, i):
        sign, before = self.words[i], self.words[i - 1]
        is_value = self.kinds[i - 1] in ("number", "string", "word") or before in (")", "]")
        if sign in UNARY | EITHER and (sign not in EITHER or before in KEYWORDS or not is_value):
            return "" if sign in UNARY else None
        is_pointer = sign == "*" and (before in TYPES or before.endswith("_t") or before == "*")
        return None if is_pointer else OPERATORS.get(sign)

    def exchanged_arguments(self, i):
        """A call with its first two arguments that differ exchanged; not those of a format."""
        if self.words[i] in KEYWORDS or self.words[i + 1] != "(":
            return None
        last = self.partner[i + 1]
        commas = [i + 1] + [k for k in range(i + 2, last)
                            if self.words[k] == "," and self.around[k] == i + 1] + [last]
        for a, b, c in zip(commas, commas[1:], commas[2:]):
            one, other = self.between(a + 1, b - 1), self.between(b + 1, c - 1)
            if one != other and "string" not in self.kinds[a:c]:
                head = self.text[self.tokens[i].start():self.tokens[a + 1].start()]
                tail = self.text[self.tokens[c - 1].end():self.tokens[last].end()]
                return last, "%s%s, %s%s" % (head, other, one, tail)
        return None

    def begins_statement(self, i):
        at, word = self.around[i], self.words[i - 1]
        if at is None or self.words[at] != "{" or self.words[at - 1] in ("=", ",", "("):
            return False
        if word == ")":
            return self.words[self.partner[i - 1] - 1] in HEADS
        return word in (";", "{", "}", "else", "do") or word == ":" and (
            self.words[i - 3] == "case" or self.words[i - 2] == "default")

    def statement_change(self, i):
        """A call or an assignment is left out; a function returns nothing."""
        end, word = i, self.words[i]
        while self.words[end] != ";":
            end = self.partner.get(end, end) + 1
            if end <= i or self.words[end - 1] == "}" and self.partner[end - 1] < i:
                return None
        if word == "return" and end > i + 1:
            is_nothing = self.between(i + 1, end - 1) in ("0", "NULL", "false")
            return None if is_nothing else (end, "return 0;")
        is_action = word in ("*", "++", "--") or (
            self.kinds[i] == "word" and word not in KEYWORDS and self.words[i + 1] in ASSIGNS)
        return (end, "{}") if word == "return" or is_action else None


def other_number(text):
    whole = re.match(r"(0[xX]|)([0-9A-Fa-f]+)([uUlL]*)$", text)
    real = re.match(r"([0-9.]+(?:[eE][-+]?[0-9]+)?)([fFlL]?)$", text)
    if whole:
        prefix, digits, suffix = whole.groups()
        return ("%s%x%s" if prefix else "%s%d%s") % (
            prefix, int(digits, 16 if prefix else 10) + 1, suffix)
    return real and repr(2 * float(real[1]) or 1.0) + real[2]


def built(text, folder, step):
    """The program, or None if it does not compile."""
    source = Path(folder) / ("step.c" if step == 1 else "step.cu")
    source.write_text(text, encoding="utf-8")
    nvcc = subprocess.check_output([TOP / "common/build/toolkit.sh"], cwd=TOP, text=True).strip()
    compiler = ["cc", "-O1"] if step == 1 else [
        nvcc + "/bin/nvcc", "-cudart", "shared", "-arch=compute_90", "-code=compute_90"]
    done = subprocess.run([*compiler, "-w", "-o", "step", source.name], cwd=folder, check=False,
                          stderr=subprocess.DEVNULL)
    return Path(folder) / "step" if done.returncode == 0 else None


def counts(program, n):
    """Its launches and counters of memory, or that n is refused. None: it is wrong, or a checker
    reports it."""
    log = program.with_name("log")
    for arguments in CHECKERS, ["--json"]:
        try:
            run = subprocess.run([EMU, *arguments, "--log-file", log, "--kernel-instructions",
                                  INSTRUCTIONS, program, *n.split("+")], env=ENVIRONMENT,
                                 check=False, capture_output=True, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return None
        if run.returncode:
            return "refused" if b"invalid argument" in run.stderr else None
    report = json.loads(log.read_text(encoding="utf-8"))  # step 1's: no program with CUDA
    return [[one["grid"], one["block"], one["dynamic_shared"], one["counters"]["adds"]["f32"]]
            + [one["counters"][memory + access][name] for memory, name in COUNTED
               for access in ("_load", "_store")] for one in report and report["launches"]]


def survives(text, step, expected):
    """Whether nothing is noticed; None: it does not compile."""
    with tempfile.TemporaryDirectory() as folder:
        program = built(text, folder, step)
        return program and all(counts(program, n) == want for n, want in expected.items())


def survivors(step):
    text = subprocess.check_output([TOP / "common/build/alone.py", str(step)], text=True)
    text = text.replace("d_in, bytes + 1", "d_in, bytes + (argc > 2 ? 4 : 1)").replace(
        "d_out, bytes + 1", "d_out, bytes + (argc > 2 ? 4 : 1)").replace(
        MOVED, "if (argc > 2) d_in++, d_out++;\n" + MOVED).replace(*LESS.get(step, ("", "")))
    text = re.sub(r".*(cudaMemset\(workspace.*|_scan\(d_out.*\n(?=.*begin))\n?", "", text)
    text = re.sub(r"(step\d\d_(scan|workspace)\(.*n), 0", r"\1, argc > 3 ? atoi(argv[3]) : 0", text)
    text = GROUPS + text if "cooperative_groups.h" in text else text
    with tempfile.TemporaryDirectory() as folder:
        program = built(text, folder, step)
        expected = {n: counts(program, n) for n in SIZES.get(step, BLOCKS).split()}
    assert None not in expected.values(), "step %d is wrong as it is" % step
    changes = list(Source(text[:text.index(MAIN)]).mutations())
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(lambda m: survives(m.applied(text), step, expected), changes))
    print("step %d: %d of %d mutants survive" % (
        step, sum(map(bool, found)), sum(one is not None for one in found)), flush=True)
    return [re.sub(r"step\d\d_", "stepNN_", "- %s\n+ %s\n" % (m.before, m.after))
            for m, one in zip(changes, found) if one]


def main():
    known, lost, before = Counter(), 0, ""
    for block in KNOWN.read_text(encoding="utf-8").split("\n\nstep ")[1:]:
        steps, *rows = block.splitlines(True)
        for row in rows:
            before = row if row.startswith("- ") else before
            known.update((int(step), before + row) for step in steps.split() if row[:2] == "+ ")
    for step in map(int, sys.argv[1:] or STEPS):
        for one in survivors(step):
            known[step, one] -= 1
            if known[step, one] < 0:
                print("step %d\n%s" % (step, one), flush=True)
                lost += 1
    return lost > 0


if __name__ == "__main__":
    sys.exit(main())
