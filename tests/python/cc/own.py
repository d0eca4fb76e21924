"""own.py -- what the tests of our own compiler use: compiling with it, running PTX from a
request of the page (common/tools/page/face/face.h), and the labs that are judged without nvcc."""
import json
import os
import re
import subprocess
from pathlib import Path

from step_table import steps_with

TOP = Path.cwd()  # of a built tree: the sanitizers have one of their own
UPCC = str(TOP / "build/cc/upcc")
BUILT = TOP / "build/tests/cc"
BUILT.mkdir(parents=True, exist_ok=True)
CUDA = subprocess.run(["common/build/toolkit.sh"], cwd=TOP, capture_output=True, text=True,
                      check=False).stdout.strip()
LABS = steps_with("lab", "yes")
PARTS = re.compile(r"^( *// ---- gap (\d+):.*?)(^ *// ---- end of gap \d+\n)", re.M | re.S)
ENVIRONMENT = {**os.environ, "EMU_THREADS": "1"}


def run(*command, given=None):
    """A finished command: its exit code, its stdout and its stderr."""
    return subprocess.run([str(word) for word in command], input=given, capture_output=True,
                          text=True, env=ENVIRONMENT, cwd=TOP, check=False)


def compile_own(source):
    """(PTX, what the compiler says): PTX is None if it refuses the source."""
    done = run(UPCC, source)
    return (done.stdout if done.returncode == 0 else None), done.stderr


def answer(request):
    """The answer, and what was printed before it."""
    printed, brace, text = run(TOP / "build/page/native", given=request).stdout.partition('{\n  "')
    return {**json.loads(brace + text), "printed": printed}


def counters(launch):
    """What is compared of a launch's counters: shared and global memory, additions, barriers."""
    found = {"barriers": launch["barriers"], "additions": launch["adds"]["f32"]}
    for name in ("shared_load", "shared_store"):
        found[name] = (launch[name]["instructions"], launch[name]["wavefronts"])
    for name in ("global_load", "global_store", "local_load", "local_store"):
        found[name] = (launch[name]["requests"], launch[name]["sectors"])
    return found


def source_of(lab):
    own = TOP / "common/tools/labs/sources/13-compaction.cu"
    return own if lab == 13 else next(TOP.glob(f"steps/{lab:02}-*/scan.cu"))


def made(*command):
    return run(*command).stdout


def sections(path):
    """The parts of a file by their names, `== NAME`."""
    text = (TOP / path).read_text(encoding="utf-8")
    return {name: part for name, part in re.findall(r"^== (.*)\n((?:(?!== ).*\n?)*)", text, re.M)}


def filled(lab, part):
    """A solution with some gaps filled otherwise, as tests/cli/gaps.txt says."""
    solution = made("common/tools/labs/skeleton.sh", "--solution", lab, source_of(lab))
    ways = {gap: whole for whole, gap in re.findall(
        r"(^ *// ---- gap (\d+):.*?^ *// ---- end of gap[ \d]*\n?)", part, re.M | re.S)}
    commands = re.findall(r"^// sed: (.*)", part, re.M)
    text = PARTS.sub(lambda m: ways[m[2]] if m[2] in ways else m[0], solution)
    return run("sed", *(word for c in commands for word in ("-e", c)), given=text).stdout \
        if commands else text


def files():
    """(name, lab, text) of all that is judged."""
    for lab in LABS:
        yield f"solution{lab}", lab, made("common/tools/labs/skeleton.sh", "--solution", lab,
                                          source_of(lab))
        yield f"skeleton{lab}", lab, made("common/tools/labs/skeleton.sh", lab, source_of(lab))
    for name, part in sections("common/tools/labs/exercises/bugs.txt").items():
        lab = int(re.match(r"# lab (\d+)", part)[1])
        if lab in LABS:
            yield f"bug{name}", lab, made("common/tools/labs/exercises/exercise.sh", "--bug",
                                          name)
    for name, part in sections("tests/cli/gaps.txt").items():
        if int(name.split("-")[0]) in LABS:
            yield name, int(name.split("-")[0]), filled(int(name.split("-")[0]), part)
