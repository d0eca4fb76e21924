"""emulated.py -- parts of measure.py that need no GPU: the emulator's counters, traces, findings
and speed, and how long nvcc takes. The same kernels give the same counters on any machine, so `git
diff` shows the effect of a change."""
import collections
import csv
import glob
import os
import re
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile

import ncu
from ncu import EMU, logged
from recording import (TOP, about_cpu, about_gpu, at_once, catalogues, choose, folders, joined,
                       make, output, part, run, table_of, timed, with_toolkit, written)

MI = 2**20
TOOLS = ["memcheck", "racecheck", "initcheck", "synccheck"]
FOUND = "errors", "warnings", "kinds", "exit"


def emulated(what, name, **options):
    return part("emulated", "", what, name=name, to="profiles/emulated", **options)


@emulated("Counters of one scan, or of one copy, under the emulator.", "emulated-counters",
          file="counters")
def counters():
    """The number of polls in step 10's barrier, and of states that step 11 looks back, vary from
    run to run. With one host thread they are always the same, and in step 11 every tile finds the
    prefix before it."""
    def scan(number, *options, **env):
        return output("./step%d" % number, "--device", "emu", "--reps", 0, "--csv", *options,
                      env=env)

    def variants(number, n, *names, **env):
        return [scan(number, "--n", n, "--variant", name, **env) for name in names]
    one = {"EMU_THREADS": "1"}
    return joined([
        scan(0, "--n", MI), scan(2, "--n", 512), scan(3, "--n", 512),
        *(text for n in (512, 2048) for text in variants(4, n, "pad16", "pad32", "pad32x2")),
        *variants(5, MI, "naive", "work-efficient", "conflict-free", "conflict-free-remainder"),
        *variants(5, 1000, "conflict-free", "conflict-free-remainder"),
        *(scan(number, "--n", 65536) for number in (5, 6, 7, 8, 9)),
        scan(6, "--n", MI), scan(6, "--n", MI, "--offset", 1), scan(7, "--n", MI),
        *variants(8, MI, "hybrid", "tree", "naive"), *variants(9, MI, "shfl", "predicate"),
        scan(10, "--n", 65536, **one), scan(10, "--n", MI, **one), scan(11, "--n", 65536, **one),
        *variants(12, 65536, "f32", **one), *variants(12, MI, "f32", **one),
        *variants(11, MI, "tile2048", "tile4096", "tile8192", **one),
        scan(14, "--size", "1000x1000", **one), scan(14, "--size", "1001x1000", **one),
        scan(14, "--size", "200x100", "--real", **one), scan(15, "--n", 131072, **one)])


@emulated("Experiments under the emulator.", "emulated-experiments", file="experiments")
def experiments():
    return table_of([output("build/experiments/14-against-npp", "--device", "emu", "--csv",
                            env={"EMU_THREADS": "1"})])


@emulated("PTX instructions of warps, launch by launch.", "emulated-instructions",
          file="instructions")
def instructions():
    metric = "emu__ptx_inst_executed.sum"
    return table_of(sum((ncu.totals(
        logged("--csv", "--metrics", metric, "./step%d" % number, "--reps", 0, "--n", MI,
               *choose(variant)), (number, variant, MI), [metric])
        for number, variant in ((6, "-"), (7, "-"), (9, "shfl"), (9, "predicate"))), []))


@emulated("Counters of scans, selections and sorts on emulated GPUs before Hopper.", "older")
def older():
    """A row for each run. Instructions are PTX instructions of warps, but not moves: most of these
    give a register another type, and ptxas leaves them out. Sectors are of global loads and stores.
    `look-back ...`: of these, what lines of FILES have. There blocks exchange the sums of tiles,
    and poll those that are missing: how often is chance on a GPU."""
    files = "look_back.cuh", "prefix.cuh", "states.cuh"
    metrics = ["emu__ptx_inst_executed.sum", "emu__ptx_inst_executed_class_move.sum",
               *("l1tex__t_sectors_pipe_lsu_mem_global_op_%s.sum" % op for op in ("ld", "st"))]

    def count(gpu, step, n, variant, *options):
        names, _, rows = ncu.table(logged(
            "--gpu", gpu, "--csv", "--page", "source", "--metrics", ",".join(metrics),
            "./step%d" % step, "--reps", 0, "--verify", "none", "--n", n, *options,
            env={"EMU_THREADS": "1", "EMU_PROGRESS": "0"}))
        counts, kernels = {False: [0, 0], True: [0, 0]}, {}
        for row in rows:
            of = dict(zip(names, row))
            kernels[of["ID"]] = ncu.function_name(of["Kernel Name"])
            all_, moves, loads, stores = map(ncu.number, row[-4:])
            pair = counts[os.path.basename(of["File"]) in files]
            pair[0] += all_ - moves
            pair[1] += loads + stores
        cells = [gpu, step, variant, n, " ".join(dict.fromkeys(kernels.values())), len(kernels),
                 *(sum(pair) for pair in zip(*counts.values())), *counts[True]]
        return ",".join(map(str, cells)) + "\n"
    text = ("gpu,step,variant,n,kernels,launches,instructions,sectors,look-back instructions,"
            "look-back sectors\n")
    named = lambda gpu, step, n, *names: "".join(
        count(gpu, step, n, name, "--variant", name) for name in names)
    for gpu in ("t4", "a100", "rtx4090"):
        for n in (65536, MI, 8 * MI, 16 * MI):
            text += count(gpu, 11, n, "-") + named(gpu, 12, n, "f32", "i32")
        text += named(gpu, 11, 16 * MI, "tile8192") + count(gpu, 11, 2 * MI, "-")
        text += count(gpu, 16, 2 * MI, "sum", "--op", "sum")
        text += "".join(named(gpu, 13, n, "document", "fast") for n in (65536, MI, 16 * MI))
        text += "".join(named(gpu, 15, n, "document", "fast") for n in (65536, MI))
    return text


# ---- traces --------------------------------------------------------------------------------------

WORD, APART = 4, 256  # bytes: of an element; between two arrays in global memory


class Arrays:
    """The arrays in global memory, a letter each in order of first use: A0 is the first element of
    the first."""

    def __init__(self, rows):
        used = sorted({int(a, 16) for row in rows if row["space"] == "global"
                       for a in row["addresses"].split()})
        starts = [a for before, a in zip([-APART] + used, used) if a - before >= APART]
        self.start_of = {a: max(start for start in starts if start <= a) for a in used}
        self.letters = {}

    def place(self, address):
        start = self.start_of[address]
        letter = self.letters.setdefault(start, chr(ord("A") + len(self.letters)))
        return "%s%d" % (letter, (address - start) // WORD)


def accesses_of(rows, step, variant, n, warp=None, lane=None):
    """Rows of a trace (the emulator's watch/trace.h): of all accesses, or of one warp, without
    values, or of one lane. A source line is named by its text, so that rows stay as they are when
    lines are added above it."""
    arrays, texts = Arrays(rows), {}
    number = lambda bits: "%g" % struct.unpack("<f", struct.pack("<I", int(bits, 16)))[0]
    for row in rows:
        mask = int(row["mask"], 16)
        if warp not in (None, row["warp"]) or lane is not None and not mask >> lane & 1:
            continue
        lanes = [k for k in range(32) if mask >> k & 1]
        places = [int(a, 16) for a in row["addresses"].split()]
        places = [arrays.place(a) if row["space"] == "global" else a // WORD for a in places]
        values = ["+".join(map(number, word.split(","))) for word in row["values"].split()]
        if lane is not None:
            at = lanes.index(lane)
            mask, places, values = 1 << lane, places[at:at + 1], values[at:at + 1]
        elif warp is not None:
            values = []
        length = re.match(r"_Z(\d+)", row["kernel"])  # scan_block of _Z10scan_blockPfPKfi
        name, line = row["line"].split(":")
        if name not in texts:
            path = os.path.join(TOP, folders()[step], name)
            if not os.path.exists(path): # float4.cuh
                path = os.path.join(TOP, "common/step", name)
            with open(path, encoding="utf-8") as file:
                texts[name] = file.read().splitlines()
        yield [step, variant, n, row["launch"], row["kernel"][length.end():][:int(length[1])],
               row["block"], row["warp"], row["epoch"], row["operation"], row["space"],
               "%x" % mask, " ".join(map(str, places)), " ".join(values),
               texts[name][int(line) - 1].strip()]


@emulated("Accesses traced by the emulator: elements of arrays A, B, C in memory, words of shared "
          "memory.", "accesses")
def accesses():
    """Every access of a few scans, for the figures of the notes. The inputs are the documents'
    eight numbers and seven others, repeated."""
    fifteen, rows = [3, 1, 7, 0, 4, 1, 6, 3, 2, 0, 5, 1, 1, 8, 2], []
    for program, variant, n, *which in (
            ("step2", "-", 8), ("step3", "-", 8), ("step5-B4", "conflict-free", 16),
            ("step3", "-", 512, "0"), ("step4", "pad16", 512, "0"), ("step4", "pad32", 512, "0"),
            ("step6", "-", 2048, "0", 1)):
        with tempfile.TemporaryDirectory() as folder:
            run("./" + program, "--device", "emu", "--trace", folder + "/trace", "--input", "-",
                *choose(variant), input="".join("%d\n" % fifteen[k % 15] for k in range(n)))
            with open(folder + "/trace", encoding="utf-8") as file:
                trace = list(csv.DictReader(file, delimiter="\t"))
        rows += accesses_of(trace, int(program[4]), variant, n, *which)
    columns = ("step variant n launch kernel block warp epoch operation space mask places values "
               "source").split()
    return written(columns, [dict(zip(columns, row)) for row in rows])


# ---- findings of checkers ------------------------------------------------------------------------

MARK = "========= "
# The first line of a finding: how it looks, and what is kept of it.
KINDS = [
    (r"(Invalid \S+ (?:read|write|atomic))", r"\1"),
    (r"(Uninitialized \S+ (?:memory )?(?:read|access))", r"\1"),
    (r"(?:Error|Warning|Info): (Race reported between \S+ access).* at .*", r"\1"),
    (r"Error: (Race reported between [^(]+) of (?:a |memory).*", r"\1"),
    (r"(?:Error|Warning|Info): Potential (\S+) hazard.*", r"\1 hazard"),
    (r"(Barrier error detected\. [^.(]*(?:\(s\))?[^.(]*)", r"\1"),
    (r"Program hit (\S+) .* on CUDA API call to (\S+?)\.?$", r"\1 from \2"),
    (r"(Leaked) ", r"\1"),
    (r"(Malloc/Free [Ee]rror[^.]*)", r"\1"),
    (r"(deadlock): ", r"\1"),
]
PASSED_BY = ("COMPUTE-SANITIZER", "EMU", "ERROR SUMMARY", "RACECHECK SUMMARY", "LEAK SUMMARY",
             "Target ", "Process ")
# Errors and warnings; hazards and faults have a summary each.
SUMMARY = re.compile(r"ERROR SUMMARY: (\d+) errors?(?:, (\d+) warnings?)?$|RACECHECK SUMMARY: \d+ "
                     r"hazards? displayed \((\d+) errors?, (\d+) warnings?\)")


def kind_of(line):
    for pattern, kept in KINDS:
        match = re.match(pattern, line)
        if match:
            return match.expand(kept).strip()
    return re.sub(r"\s*(0x[0-9a-f]+|\d+)", "", line.split(" at ")[0]).strip()


def findings(said):
    """Errors, warnings, and kinds of findings: their first lines without numbers and places. Errors
    are "?" where the summary is missing, as when the program was stopped, or crashed."""
    sums, kinds = None, set()
    for line in said.splitlines():
        text = line.removeprefix(MARK)
        if text == line:
            continue
        summary = SUMMARY.match(text)
        if summary:
            counts = [int(group or 0) for group in summary.groups()]
            sums = [a + b + c for a, b, c in zip(sums or [0, 0], counts[:2], counts[2:])]
        if not text[:1].isspace() and text.strip() and not text.startswith(PASSED_BY):
            kinds.add(kind_of(text))
    return [*(sums or ["?", 0]), "; ".join(sorted(kinds))]


def checks(command, built, count, env):
    """A row for each pair of cases/checks in its wrong and its right version, with what each tool
    has found and its exit code. A run is limited to a minute. The wrong versions of deadlock-*
    never end on a GPU: they run last, one at a time, for 15 seconds each, and have exit code 124.
    PROGRAMS="race-bulk …" runs only these; `measure.py merge` puts such rows into a recording."""
    make(os.path.basename(built))
    pairs = catalogues()

    def one(pair, version, tool, limit, env):
        leaks = ["--leak-check", "full"] if tool == "memcheck" else []
        done = run("timeout", "-k", 5, limit, *command, "--print-limit", 1000, "--tool", tool,
                   *leaks, "%s/%s" % (built, pairs[pair]), pair, version, env=env, check=False,
                   both=True, stdin=subprocess.DEVNULL)
        return (pair, version), tool, [*findings(done.stdout), done.returncode]
    waits = lambda pair, version: pair.startswith("deadlock-") and version == "wrong"
    runs = [(pair, version, tool) for pair in os.environ.get("PROGRAMS", "").split() or pairs
            for version in ("wrong", "right") for tool in TOOLS]
    found = at_once(count, one, [(*task, 60, env) for task in runs if not waits(*task[:2])])
    env = {**env, "EMU_TIMEOUT": os.environ.get("EMU_TIMEOUT", "3")}
    found += [one(*task, 15, env) for task in runs if waits(*task[:2])]
    rows = collections.defaultdict(dict)
    for key, tool, cells in found:
        rows[key].update(zip(("program", "version"), key))
        rows[key].update(zip(("%s %s" % (tool, name) for name in FOUND), cells))
    columns = ["program", "version", *("%s %s" % (tool, name) for tool in TOOLS for name in FOUND)]
    return written(columns, [rows[key] for key in sorted(rows)])


@part("checks", "GPU, compute-sanitizer", "compute-sanitizer on the programs of cases/checks.",
      file="checks", more=lambda: about_gpu() + ["compute-sanitizer: " + re.search(
          r"Version (.*)", output("compute-sanitizer", "--version"))[1]])
def checks_sanitizer():
    return checks(["compute-sanitizer"], "build/checks", 16, with_toolkit())


@part("checks", "", "The emulator's checkers on the programs of tests/cases/checks.", file="checks",
      to="profiles/emulated")
def checks_emulator():
    return checks([EMU, "--threads", 1], "build/pairs", os.cpu_count(), {})


# ---- speed ---------------------------------------------------------------------------------------

# Of each of perf's samples, by the name of the function.
SAMPLED = [("counting", "count_|wavefronts|take_units|distinct|lanes_pair"),
           ("memory", "load|store|resolve|enter|event_access|access|atomic|change|combined|"
            "find_range|device_range"),
           ("control", "warp_run|flow_|barrier|branch|block_|cluster_|next_|work|frame_|launch_|"
            "start_|run_")]


EMULATED = {"LD_LIBRARY_PATH": "build/emu"}


def startup(command):
    """A row of a program's processor time, from start to end: the median of 7 runs."""
    used = []
    for _ in range(7):
        child = subprocess.Popen([command], cwd=TOP, stdout=subprocess.DEVNULL,
                                 env={**os.environ, "EMU_THREADS": "1", **EMULATED})
        _, child.returncode, usage = os.wait4(child.pid, 0)
        used.append(usage.ru_utime + usage.ru_stime)
        if child.returncode:
            sys.exit("measure: %s fails" % command)
    return "startup,%s,0,0,1,plain,processor,%.6g,ms\n" % (os.path.basename(command),
                                                           1e3 * statistics.median(used))


def shares(bench, mode, name):
    """The shares of the emulator's parts of the processor time."""
    env = {"EMU_THREADS": "1", "BENCH_ONLY": name, **EMULATED}
    parts = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        run("perf", "record", "-q", "-e", "cpu-clock", "-F", 2000, "-o", folder + "/perf", bench,
            mode, "scans", env=env)
        said = output("perf", "report", "-i", folder + "/perf", "--no-children", "--stdio", "-F",
                      "overhead,dso,sym")
    for line in said.splitlines():
        words = line.split()
        if line.startswith("#") or len(words) < 4:
            continue
        kind = next((kind for kind, names in SAMPLED if re.match(names, words[3])), "arithmetic")
        parts[kind if "libcudart" in words[1] else "host"] += float(words[0].rstrip("%"))
    return "".join("share,%s,1048576,256,1,%s,%s,%.3g,%%\n" % (name, mode, kind, share)
                   for kind, share in sorted(parts.items()))


def about_speed():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        has_avx2 = re.search(r"\bavx2\b", file.read())
    return [about_cpu()[0] + (", AVX2" if has_avx2 else ", no AVX2"),
            "compiler: " + output("gcc", "--version").splitlines()[0]]


@part("speed", "nothing else running", "The emulator's speed; see profiles/README.md.",
      more=about_speed, to="profiles/emulated")
def speed():
    """`make bench-emu` builds what it needs. Rates and start-up times are processor time, medians
    of 7 runs, so a busy machine changes them little. Elapsed times are those of one run. The shares
    need perf and are left out without it."""
    bench, cores = "build/tests/bench/run", os.cpu_count()
    text = "group,case,n,block,cores,mode,metric,value,unit\n"

    def say(mode, what, threads=1, **env):
        return output(bench, mode, what, env={"EMU_THREADS": str(threads), **EMULATED, **env})
    for mode in ("plain", "counters"):
        text += say(mode, "scans") + say(mode, "micro")
    text += say("plain", "growth") + say("plain", "launches")
    for threads in range(2, cores + 1):
        text += say("plain", "scans", threads=threads, BENCH_ONLY="step 5")
        text += say("plain", "launches", threads=threads)
    text += say("plain", "blocks", threads=cores) + say("plain", "check")
    text += "".join(say(tool, "check", EMU_TOOL=tool) for tool in TOOLS)
    for command in ("build/tests/programs/shared", "build/tests/cases/programs/O3/thrust_sort"):
        text += startup(command)
    if shutil.which("perf"):
        text += "".join(shares(bench, mode, name) for mode in ("plain", "counters")
                        for name in ("step 5", "step 7"))
    print(text)
    return table_of([text])


# ---- nvcc ----------------------------------------------------------------------------------------

@part("compile", "nothing else running",
      "How long nvcc takes for the kernels of a step; see profiles/README.md.", name="compile",
      more=about_cpu, to="profiles")
def compile_step():
    """Step 16's objects are removed and made again by two processes at a time, three times: how
    fast the processor is may change from run to run."""
    text = "step,files,processes,run,elapsed,processor\n"
    objects = TOP + "/build/common/tools/library/scan/*.cu.o"
    for number in (1, 2, 3):
        for path in glob.glob(objects):
            os.remove(path)
        elapsed, processor = timed(lambda: make("-j2", "build/kernels16"))
        text += "16,%d,2,%d,%.3f,%.3f\n" % (len(glob.glob(objects)), number, elapsed, processor)
    return text


@part("library", "nothing else running",
      "How large libupsweep for all GPUs is; see profiles/README.md.", more=about_cpu,
      to="profiles")
def library():
    """Built anew by two processes. `gpus` are those with machine code; sizes in bytes, times in
    seconds."""
    built = TOP + "/build/library/gpus"
    shutil.rmtree(built, ignore_errors=True)
    times = timed(lambda: make("-j2", "library", "ALL_GPUS=1"))
    said = output("make", "-n", "library", "ALL_GPUS=1", "-W", "steps/12-pipeline/scan.cu", "V=1")
    gpus = sorted(set(re.findall(r"code=sm_(\d+)", said)), key=int)
    shared, = glob.glob(built + "/libupsweep.so.*.*")
    files = glob.glob(built + "/**/*.cu.o", recursive=True)
    return "gpus,files,shared,static,elapsed,processor\n%s,%d,%d,%d,%.3f,%.3f\n" % (
        " ".join(gpus), len(files), os.path.getsize(shared),
        os.path.getsize(built + "/libupsweep.a"), *times)
