"""lab_files.py -- what is judged without nvcc in tests: of labs 2 to 5 the solutions, the
skeletons, the broken kernels, and ways to fill the gaps (tests/labs/gaps.txt)."""
import re

from own import TOP, run

LABS = (2, 3, 4, 5)
PARTS = re.compile(r"^( *// ---- gap (\d+):.*?)(^ *// ---- end of gap \d+\n)", re.M | re.S)


def source_of(lab):
    return next(TOP.glob(f"steps/{lab:02}-*/scan.cu"))


def made(*command):
    return run(*command).stdout


def sections(path):
    """The parts of a file by their names, `== NAME`."""
    text = (TOP / path).read_text(encoding="utf-8")
    return {name: part for name, part in re.findall(r"^== (.*)\n((?:(?!== ).*\n?)*)", text, re.M)}


def filled(lab, part):
    """A solution with some gaps filled otherwise, as tests/labs/gaps.txt says."""
    solution = made("common/labs/skeleton.sh", "--solution", lab, source_of(lab))
    ways = {gap: whole for whole, gap in re.findall(
        r"(^ *// ---- gap (\d+):.*?^ *// ---- end of gap[ \d]*\n?)", part, re.M | re.S)}
    commands = re.findall(r"^// sed: (.*)", part, re.M)
    text = PARTS.sub(lambda m: ways[m[2]] if m[2] in ways else m[0], solution)
    return run("sed", *(word for c in commands for word in ("-e", c)), given=text).stdout \
        if commands else text


def files():
    """(name, lab, text) of all that is judged."""
    for lab in LABS:
        yield f"solution{lab}", lab, made("common/labs/skeleton.sh", "--solution", lab,
                                          source_of(lab))
        yield f"skeleton{lab}", lab, made("common/labs/skeleton.sh", lab, source_of(lab))
    for name, part in sections("common/labs/bugs/bugs.txt").items():
        lab = int(re.match(r"# lab (\d+)", part)[1])
        if lab in LABS:
            yield f"bug{name}", lab, made("common/labs/bugs/bug.sh", name)
    for name, part in sections("tests/labs/gaps.txt").items():
        if int(name.split("-")[0]) in LABS:
            yield name, int(name.split("-")[0]), filled(int(name.split("-")[0]), part)
