"""recording.py -- what the parts of measure.py share: the registry, programs and their output, the
steps, and the head of a recording.

STEPS="8 9", VARIANTS and SIZES="2^16 2^24" leave out all others.
"""
import collections
import concurrent.futures
import csv
import functools
import glob
import io
import os
import re
import subprocess
import sys
import time

import cases

sys.path.append(os.path.join(os.path.dirname(cases.__file__), "../../common/build"))
from step_table import steps_with  # noqa: E402

# In build/test, where tests run, profiles/ is a link, and the steps are those built for tests; so
# the name by which a script was called says where the tree is.
CALLED = sys.argv[0] if os.path.dirname(sys.argv[0]).endswith("profiles/measure") else __file__
TOP = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(CALLED)), "..", ".."))
PARTS, FAILED = {}, []
# A part: its group, the machine that it needs, the file that it writes and where, the first line of
# that, what makes the rest, and what makes further lines of the head.
Part = collections.namedtuple("Part", "group needs what make more file to")


def part(group, needs, what, name=None, more=list, file=None, to="build/profiles"):
    """Puts a function among PARTS that returns the text below the head of a recording."""
    def decorate(make):
        own = name or make.__name__.replace("_", "-")
        PARTS[own] = Part(group, needs, what, make, more, file or own, to)
        return make
    return decorate


# ---- programs ------------------------------------------------------------------------------------

def run(*command, env=None, check=True, both=False, **options):
    """A program's end, with its output as text. `both`: what it says is in the output, too."""
    done = subprocess.run([str(word) for word in command], cwd=TOP, text=True, errors="replace",
                          stdout=subprocess.PIPE, env={**os.environ, **(env or {})}, check=False,
                          stderr=subprocess.STDOUT if both else subprocess.PIPE, **options)
    if check and done.returncode:
        sys.exit("measure: %s failed:\n%s%s" % (" ".join(map(str, command)), done.stdout[-2000:],
                                                 (done.stderr or "")[-2000:]))
    return done


def output(*command, **options):
    return run(*command, **options).stdout


def tried(*command, **options):
    """The output, or None: then the run is counted as failed."""
    try:
        done = run(*command, check=False, **options)
    except OSError as error:
        return failed(command[0], "%s\n" % error)
    return done.stdout if done.returncode == 0 else failed(" ".join(map(str, command)), done.stderr)


def failed(what, why=""):
    FAILED.append(what)
    print("measure: %s failed\n%s" % (what, why or ""), end="", file=sys.stderr)


def make(*targets, **options):
    """Builds them. False: that has failed."""
    done = subprocess.run(["make", *targets], cwd=TOP, check=False, stdout=sys.stderr, **options)
    return done.returncode == 0 or bool(failed("make " + " ".join(targets)))


def at_once(count, call, tasks):
    """The results of calls with these arguments, in their order; some at a time."""
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("AT_ONCE", count))) as pool:
        return list(pool.map(lambda task: call(*task), tasks))


def timed(call):
    """Elapsed seconds, and seconds of processor time of the programs that it runs."""
    spent, began = os.times(), time.monotonic()
    call()
    elapsed, now = time.monotonic() - began, os.times()
    return elapsed, sum(now[2:4]) - sum(spent[2:4])


@functools.cache
def toolkit():
    return output("common/build/toolkit.sh").strip()


def with_toolkit():
    """The environment in which its programs and libraries are found."""
    return {"PATH": os.environ["PATH"] + ":%s/bin" % toolkit(),
            "LD_LIBRARY_PATH": "%s/lib64:%s" % (toolkit(), os.environ.get("LD_LIBRARY_PATH", ""))}


# ---- texts ---------------------------------------------------------------------------------------

def of_gpu(what):
    return output("nvidia-smi", "--query-gpu=" + what, "--format=csv,noheader").splitlines()[0]


def about_gpu():
    return ["GPU: " + of_gpu("name"), "driver: " + of_gpu("driver_version")]


def about_cub():
    """The version of CUB with which make builds: that in CCCL=DIR (bench.mk), or the toolkit's."""
    for place in ("cub", "cub/cub", "include/cccl/cub", "nvidia/*/include/cccl/cub"):
        for path in glob.glob("%s/%s/version.cuh" % (os.environ.get("CCCL") or toolkit(), place)):
            with open(path, encoding="utf-8") as file:
                version = int(re.search(r"#define CUB_VERSION (\d+)", file.read())[1])
            return ["CUB: %d.%d.%d" % (version // 10**5, version // 100 % 1000, version % 100)]
    return []


def about_cpu():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        name = re.search(r"^model name\s*: (.*)", file.read(), re.M)
    return ["CPU: %s, %d cores" % (name[1] if name else "unknown", os.cpu_count())]


def head(*lines):
    nvcc = output(toolkit() + "/bin/nvcc", "--version")
    lines += ("toolkit: " + re.search(r"release [^,]*, V(\S+)", nvcc)[1],
              "date: " + time.strftime("%Y-%m-%d", time.gmtime()))
    return "".join("# %s\n" % line for line in lines)


def joined(texts):
    """CSV texts as one, with the first line of the first."""
    texts = [text for text in texts if text]
    return "".join(texts[:1] + [text.partition("\n")[2] for text in texts[1:]])


def written(columns, rows):
    file = io.StringIO()
    cases.write(file, columns, rows)
    return file.getvalue()


def table_of(values):
    """A table of rows with a number each, or of CSV texts of them."""
    if not isinstance(values, list) or values and isinstance(values[0], str):
        values = list(csv.DictReader(joined(values).splitlines()))
    return written(*cases.cases(values)) if values else ""


def catalogues():
    """{pair: its catalogue in tests/cases/checks}"""
    found = {}
    for path in glob.glob(TOP + "/tests/cases/checks/*.cu"):
        with open(path, encoding="utf-8") as file:
            names = re.findall(r"^/\* ([a-z-]+) — ", file.read(), re.M)
        found.update(dict.fromkeys(names, os.path.basename(path)[:-3]))
    return found


# ---- steps ---------------------------------------------------------------------------------------

def among(words, name):
    """Those that the variable names; all, if it is empty."""
    wanted = os.environ.get(name, "").split()
    return [word for word in words if not wanted or str(word) in wanted]


def folders():
    """{number: folder} of all steps but those that run in several processes."""
    found = {int(os.path.basename(path)[:2]): path
             for path in sorted(glob.glob("steps/[0-9][0-9]-*", root_dir=TOP))}
    return {number: path for number, path in found.items()
            if number not in steps_with("kind", "ranks")}


def steps(first, *others):
    """The steps from this one on that are built and asked for; then the others asked for."""
    built = [number for number in folders() if number >= first and
             os.access("%s/step%d" % (TOP, number), os.X_OK)]
    return among(built + list(others), "STEPS")


def program(step):
    return "./cub" if step == "cub" else "./step%s" % step


@functools.cache
def help_of(step):
    return output(program(step), "--help")


def variants(step):
    """A step's variants, the default first; "-" if it has none or if one run is enough: step 0 runs
    all of them by default, and step 1 and CUB are only references."""
    said = re.search(r"^Variants: (.*)\.$", help_of(step), re.M)
    if not said or step in (0, 1, "cub"):
        return ["-"]
    return among(said[1].replace(" (default)", "").split(", "), "VARIANTS")


def limit(step):
    """The most elements that a step takes; None if it takes any number."""
    found = re.search(r"^Default n:.* At most (\d+)\.", help_of(step), re.M)
    return found and int(found[1])


def value(size):
    """1048577 of 2^20+1"""
    base, more = (str(size) + "+0").split("+")[:2]
    number, _, power = base.partition("^")
    return int(number) ** int(power or 1) + int(more)


def up_to(step, *all_sizes):
    """The sizes that the step takes."""
    return [size for size in among(all_sizes, "SIZES") if value(size) <= (limit(step) or 2**62)]


def choose(variant):
    return [] if variant == "-" else ["--variant", variant]
