"""gpu.py -- parts of measure.py that need a GPU: every step verified, timed, checked by
compute-sanitizer, and counted by ncu; step 17 on several GPUs; the Python package."""
import collections
import glob
import os
import re
import sys
import tempfile

import cases
import ncu
from recording import (TOP, about_cub, about_gpu, among, at_once, choose, failed, folders, joined,
                       limit, make, of_gpu, output, part, program, run, steps, table_of, toolkit,
                       tried, up_to, value, variants, with_toolkit)
from step_table import ROWS, steps_with

TOOLS = ["memcheck", "racecheck", "initcheck", "synccheck"]


def on_gpu(what, **options):
    return part("gpu", "GPU", what, more=about_gpu, **options)


def beside_cub(what, **options):
    return part("gpu", "GPU", what, more=lambda: about_gpu() + about_cub(), **options)


def step(number, variant, *options):
    return tried(program(number), "--device", "cuda", *choose(variant), *options)


@beside_cub("Every step, and CUB: verified, timed (cold L2, medians), beside the roof.")
def verify():
    """At 2^10 to 2^28, or up to the step's limit."""
    powers = ["2^%d" % k for k in (*range(10, 25), 26, 28)] + ["2^20+1"]
    return joined(step(number, variant, "--n", n, "--csv")
                  for number in steps(1, "cub") for variant in variants(number)
                  for n in up_to(number, *((512, 1024, 2048) if limit(number) else powers)))


@on_gpu("Access patterns of step 0: time and bytes a second.")
def patterns():
    return step(0, "-", "--n", "2^26", "--csv") or ""


@on_gpu("Steps of any size at 2^31 + 5 elements, verified element by element.")
def large():
    """As many at a time as fit into the GPU's memory. Each needs 4 times 8 GiB: input, output, and
    a workspace as large as both."""
    free = int(output("nvidia-smi", "--query-gpu=memory.free",
                      "--format=csv,noheader,nounits").splitlines()[0])
    runs = [(number, variant, "--n", "2^31+5", "--reps", "0", "--csv")
            for number in steps(0) if not limit(number)
            for variant in (["float4"] if number == 0 else variants(number))]
    return joined(at_once(max(1, free // (4 * 8 * 1024 + 1024)), step, runs))


@on_gpu("compute-sanitizer on every step: 0 errors means clean.")
def sanitizer():
    """It slows down every launch, and step 8 has dozens of them, so few elements must be enough
    there. Step 12 has a kernel each for small, mid-sized and large n. Several at a time, because
    compute-sanitizer's programs wait more than they compute."""
    def sizes(number, variant):
        if number == 8 or limit(number):
            return [1024 if "A power of two." in output(program(number), "--help") else 1000]
        return {(12, "f32"): (1000, 65539, "2^22+5", "2^23+1048581"),
                (12, "f64"): (65539, "2^21+5", "2^22+524293")}.get((number, variant), (65539,))

    def sanitize(tool, number, variant, n):
        done = run("timeout", 300, "compute-sanitizer", "--tool", tool, "--error-exitcode", 9,
                   program(number), "--device", "cuda", *choose(variant), "--n", n, "--reps", 0,
                   check=False, both=True)
        errors = re.findall(r"(?:ERROR SUMMARY: (\d+) error|RACECHECK SUMMARY: (\d+) hazard)",
                            done.stdout)
        case = {"step": number, "variant": variant, "n": n}
        if done.returncode or not errors or set("".join(pair) for pair in errors) != {"0"}:
            failed("%s of step %s %s %s" % (tool, number, variant, n), done.stdout[-500:])
        return [{**case, "metric": tool + " errors",
                 "value": "".join(errors[0]) if errors else "?"},
                {**case, "metric": tool + " exit", "value": done.returncode}]
    runs = [(tool, number, variant, value(n)) for tool in TOOLS
            for number in steps(0) if number != 1  # that one runs on the CPU
            for variant in variants(number) for n in sizes(number, variant)]
    return table_of(sum(at_once(8, sanitize, runs), []))


@beside_cub("All steps, CUB and copies side by side: ./bench, L2 emptied by reading, medians.")
def bench():
    """Every step at powers of two; beside these only steps that should be faster than CUB; the
    other types; L2 emptied by memset. TYPES=u64,f64 measures these alone."""
    make("bench")
    numbers, sizes = (os.environ.get(name, "").replace(" ", ",") for name in ("STEPS", "SIZES"))
    chosen = ["--steps", "roof,cub," + numbers] if numbers else []
    few = ["--steps", "roof,cub,12"]
    types = os.environ.get("TYPES")
    return joined(tried("./bench", "--device", "cuda", "--csv", *options) for options in (
        [*few, "--n", sizes or "2^10..2^30", "--types", types or "i32,u64,f64,i16,i8"],
        [*chosen, "--n", sizes or "2^10..2^30"], [*few, "--n", sizes or "2^10..2^30", "--near"],
        [*few, "--n", sizes or "2^10..2^28", "--flush", "memset"])[:1 if types else None])


@beside_cub("Step 12 beside another CUB than the toolkit's, CCCL=DIR: as bench.csv.")
def newer():
    """At the sizes that notes/bench.md shows of other types."""
    make("bench")
    return tried("./bench", "--device", "cuda", "--csv", "--steps", "roof,cub,12", "--types",
                 os.environ.get("TYPES", "f32,i32,u64,f64,i16,i8"), "--n",
                 ",".join("2^%d" % k for k in (10, 14, 18, 20, 21, 22, 26, 28, 30)))


# ---- ncu -----------------------------------------------------------------------------------------

@on_gpu("ncu --clock-control none: counters of every launch of one verified scan, and of its "
        "source lines.")
def counters():
    """At sizes of one block, and from one block to many; two of them if a variant changes little.
    Each launch becomes a row, so for step 8, with dozens of launches, one variant and fewer sizes
    must be enough."""
    few = {(8, "hybrid"): (512, "2^16", "2^20"), (10, "forward"): ("2^16", "2^20"),
           (11, "tile4096"): ("2^16", "2^20"), (11, "tile8192"): ("2^16", "2^20"),
           (12, "f32"): (512, 2048, "2^16", "2^20", "2^22", "2^24"),  # from 2^24 on scan_pipeline
           (12, "f64"): (2048, "2^16", "2^22")}

    def sizes(number, variant):
        usual = {"many": (512, 1024, 2048, "2^16", "2^20", "2^24"),
                 "few": (512, "2^16")}.get(ROWS[number]["counted"], ())
        return up_to(number, *few.get((number, variant), usual))

    def count(number, variant, n):
        try:
            return ncu.of_scan((number, variant, n), ncu.METRICS, program(number), "--device",
                               "cuda", *choose(variant), "--n", n, "--reps", 0, "--verify", "full")
        except ValueError as error:
            return failed("step %s %s %s" % (number, variant, n), error) or []
    # ncu lets one kernel run after the other.
    return table_of(sum(at_once(4, count, [
        (number, variant, value(n)) for number in steps(2) for variant in variants(number)
        for n in sizes(number, variant)]), []))


def launches_of(metrics, number, name, n, *options):
    """What ncu says of each launch of a scan. `name` says in the rows what the options choose."""
    said = run(*ncu.NCU, "--metrics", ",".join(metrics), *ncu.RAW, program(number), "--device",
               "cuda", "--n", value(n), "--reps", 0, "--verify", "none", *options, check=False,
               both=True).stdout
    try:
        return ncu.totals(said, (number, name, value(n)), metrics)
    except ValueError as error:
        return failed("step %s %s %s" % (number, name, n), "%s\n%s" % (error, said[-500:])) or []


@on_gpu("What limits some launches: ncu's time, and how busy the parts of the GPU are.")
def limits():
    """Launches that miss a goal, or are near to it."""
    kept = "--variant", "fast", "--real", "--keep", "x > 0.9"
    return table_of(sum(
        [launches_of(ncu.METRICS_LIMITS, 13, "kept10", n, *kept) for n in ("2^24", "2^28")] +
        [launches_of(ncu.METRICS_LIMITS, 15, "u32", n, "--variant", "fast")
         for n in ("2^16", "2^17", "2^28")], []))


@on_gpu("What warps wait for, and how busy the GPU is: ncu --clock-control none.")
def stalls():
    """Beside step 0's copy. One at a time, so that no other program uses the memory meanwhile; ncu
    empties the caches before each launch. Short launches differ from run to run."""
    scans = {0: ["float4"], 2: ["-"], 3: ["-"], 4: ["pad32"],
             5: ["conflict-free", "work-efficient", "naive"], 6: ["-"], 7: ["-"], 8: ["hybrid"],
             9: ["shfl"], 10: ["backward"], 11: ["tile2048", "tile8192"], 12: ["f32"]}
    sizes = {2: [512] * 4, 3: [512] * 4, 4: [512] * 4, 0: ["2^20", "2^24", "2^28"],
             12: ["2^20", "2^24", "2^28"]}
    return table_of(sum((launches_of(ncu.METRICS_STALLS, number, variant, n, *choose(variant))
                         for number in among(scans, "STEPS") for variant in scans[number]
                         for n in among(sizes.get(number, ["2^20", "2^24"]), "SIZES")), []))


# ---- machine code --------------------------------------------------------------------------------

@on_gpu("What ptxas makes of PTX's cache operators and orderings, for sm_90.")
def operators():
    """Of a kernel for each, without the store at the end of a load's kernel."""
    kernel = 'extern "C" __global__ void %s(float *out, const float *in)\n{\n%s}\n'
    load = ('    float x;\n    asm volatile("%s.f32 %%0, [%%1];" : "=f"(x) : "l"(in) : "memory");\n'
            '    asm volatile("st.global.f32 [%%0], %%1;" ::"l"(out), "f"(x) : "memory");\n')
    store = '    asm volatile("%s.f32 [%%0], 0f3F800000;" ::"l"(out) : "memory");\n'
    source = ""
    for access, words in (("ld", "plain ca cg cs lu cv nc volatile relaxed.gpu acquire.gpu"),
                          ("st", "plain wb cg cs wt volatile relaxed.gpu release.gpu")):
        for word in words.split():
            text = (access + ".global" if word == "plain" else "%s.global.%s" % (access, word)
                    if len(word) == 2 else "%s.%s.global" % (access, word))
            source += kernel % ("%s_%s" % (access, word.replace(".", "_")),
                                (load if access == "ld" else store) % text)
    with tempfile.TemporaryDirectory() as folder:
        run(toolkit() + "/bin/nvcc", "-arch=sm_90", "-cubin", "-x", "cu", "-", "-o",
            folder + "/cubin", input=source)
        code = output("cuobjdump", "-sass", folder + "/cubin", env=with_toolkit())
    rows = []
    for name, body in re.findall(r"Function : (\w+)\n(.*?)(?=Function :|\Z)", code, re.S):
        words = re.findall(r"\*/\s+((?:LDG|STG|MEMBAR|CCTL|FENCE)[\w.]*)", body)
        if name.startswith("ld") and words[-1] == "STG.E":
            words.pop()
        rows.append("%s,%s\n" % (name, " ".join(words)))
    return "ptx,sass\n" + "".join(sorted(rows))


@on_gpu("Machine instructions of step 9's scan_block, as ptxas writes them for sm_90.")
def shuffles():
    """How often each is there, and under a predicate. In the kernels' mangled names the variant is
    a number."""
    code = output("cuobjdump", "-arch", "sm_90", "-sass", "step9", env=with_toolkit())
    counts, predicated = collections.Counter(), collections.Counter()
    for name, body in re.findall(r"Function : (\S+)\n(.*?)(?=Function :|\Z)", code, re.S):
        variant = re.search("scan_blockILi([01])E", name)
        for guard, word in re.findall(r"^\s*/\*[0-9a-f]+\*/\s+(@\S+\s+)?([A-Z]\w*)", body, re.M):
            if variant:
                key = ["shfl", "predicate"][int(variant[1])], word
                counts[key] += 1
                predicated[key] += bool(guard)
    return "variant,instruction,count,predicated\n" + "".join(sorted(
        "%s,%s,%d,%d\n" % (*key, count, predicated[key]) for key, count in counts.items()))


@on_gpu("Step 5 with blocks of B elements, step 7 with at most R registers a thread: times.")
def compiled():
    """The first column names the option: B128, R24, or - for the default. cuobjdump prints the
    registers and the local memory (stack) of the largest kernel."""
    programs, texts = "5-B64 5-B128 5-B256 5 5-B1024 5-B2048 7-R24 7-R32 7".split(), []
    make(*("step" + name for name in programs if "-" in name))
    for name in programs:
        said = run("cuobjdump", "-arch", "sm_90", "-res-usage", "step" + name, env=with_toolkit(),
                   check=False, both=True).stdout
        used = max(re.findall(r"REG:(\d+) STACK:(\d+)", said), key=lambda pair: int(pair[0]))
        for n in ("2^16", "2^20", "2^24", "2^28"):
            lines = (step(name, "-", "--n", n, "--csv") or "").splitlines()
            front = ",".join([name[2:] or "-", *used])
            texts.append("".join("%s,%s\n" % (front if k else "how,registers,stack", line)
                                 for k, line in enumerate(lines)))
    return joined(texts)


# ---- programs that print rows --------------------------------------------------------------------

def rows_of(programs):
    """The texts of those that can be built, and run well."""
    make(*programs)
    return [text for text in (tried(name, "--device", "cuda", "--csv") for name in programs)
            if text]


@beside_cub("The small experiments, steps/*/experiments: times are medians.")
def experiments(numbers=None):
    """Not step 17's, which have several processes. ROWS keeps the rows that match it."""
    chosen = numbers or among(folders(), "STEPS")
    texts = rows_of(["build/experiments/%02d-%s" % (number, os.path.basename(path)[:-3])
                     for number, folder in folders().items() if number in chosen for path in sorted(
                         glob.glob(folder + "/experiments/*.cu", root_dir=TOP))])
    if "ROWS" in os.environ:
        texts = ["".join(line + "\n" for line in text.splitlines() if line.startswith("experiment,")
                         or re.search(os.environ["ROWS"], line)) for text in texts]
    return table_of(texts)


@beside_cub("The small experiments: the rows that notes/bench.md shows of two GPUs.",
            file="experiments")
def both():
    """Those whose parameters the recording of an H100 has, as in "u32 pairs n=16777216"."""
    recorded, _ = cases.read(TOP + "/profiles/h100/experiments.csv")
    os.environ["ROWS"] = ",(%s)," % "|".join(sorted({row["parameter"] for row in recorded}))
    return experiments(steps_with("kind", "application"))


@beside_cub("What step 12 promises, tried: every element compared with what it has to be.")
def promises():
    return table_of(rows_of(["build/promises/12-" + name for name in (
        "same-bits-cub", "every-way", "streams", "beside")]))


# ---- several GPUs --------------------------------------------------------------------------------

DEVICE = os.environ.get("DEVICE", "cuda")


def gpus():
    return len(output("nvidia-smi", "-L").splitlines()) if DEVICE == "cuda" else 2


def about_ranks():
    header = output("common/build/nccl.sh", "--home").strip() + "/include/nccl.h"
    version = ""
    if os.path.exists(header):
        with open(header, encoding="utf-8") as file:
            version = re.search(r"#define NCCL_VERSION_CODE *(\S+)", file.read())[1]
    where = (["GPU: %d of %s" % (gpus(), of_gpu("name")), about_gpu()[1]] if DEVICE == "cuda" else
             ["GPU: %d emulated" % gpus()])
    return where + ["MPI: " + output("mpirun", "--version").splitlines()[0], "NCCL: " + version]


def with_ranks(count, *command):
    # Multicast through NVLink stays off: it is not needed here.
    return output("common/build/mpirun.sh", "-x", "NCCL_NVLS_ENABLE", "-np", count, *command,
                  "--device", DEVICE, "--csv", env={"NCCL_NVLS_ENABLE": "0"})


@part("ranks", "GPUs", "Scans by several GPUs: medians and quartiles, of the slowest rank.",
      more=about_ranks, file="ranks")
def ranks_timed():
    """Rows of the experiment 17-rates for 1 rank, 2 ranks and so on, up to the number of GPUs;
    every result is verified there. DEVICE=emu: on the emulator, with few elements and no times."""
    make("build/experiments/17-rates")
    texts = [with_ranks(k, "build/experiments/17-rates") for k in range(1, gpus() + 1)]
    # The row of a checksum is there once for each number of ranks, always with the same value.
    found = {}
    for line in "".join(texts).splitlines():
        if ",checksum_" in line:
            *key, number, _ = line.split(",")
            found.setdefault(",".join(key[2:]), set()).add(number)
    different = [key for key, numbers in found.items() if len(numbers) > 1]
    if different:
        sys.exit("results differ between numbers of ranks: " + " ".join(different))
    return table_of(texts)


@part("ranks", "GPUs", "./step17 with all GPUs, verified on the host.", more=about_ranks,
      file="ranks_verified")
def ranks_verified():
    """Each operator and type, and each exchange. NCCL is the one that step 17 was built with."""
    make("step17")
    has_nccl = DEVICE == "cuda" and output("common/build/nccl.sh").strip()
    options = [["--type", of, "--real"] for of in ("f32", "f64")] + [
        ["--type", of] for of in ("i32", "i64")] + [["--op", "affine"]] + [
        ["--exchange", how] for how in ("mpi", "exscan", *(["nccl"] if has_nccl else []))]
    return joined(with_ranks(gpus(), "./step17", "--n", "2^24+5" if DEVICE == "cuda" else 20011,
                             *each) for each in options)


# ---- the Python package --------------------------------------------------------------------------

def side_by_side(*options):
    library = os.environ.get("UPSWEEP_LIBRARY", TOP + "/build/library/libupsweep.so")
    paths = filter(None, (TOP + "/common/tools/library/python", os.environ.get("PYTHONPATH")))
    return run(sys.executable, "-B", "profiles/measure/side_by_side.py", *options, check=False,
               env={"UPSWEEP_LIBRARY": library, "UPSWEEP_DEVICE": "cuda",
                    "PYTHONPATH": ":".join(paths)})


@part("python", "GPU, PyTorch, NumPy; CuPy or not",
      "The Python package, PyTorch and CuPy side by side: cold L2, medians of interleaved runs.",
      more=lambda: about_gpu() + [side_by_side("--versions").stdout.strip()])
def python():
    """Uses build/library/libupsweep.so (make library). ROWS="cumsum sort host" chooses
    operations."""
    done = side_by_side()
    if done.returncode:
        failed("side_by_side.py", done.stderr)
    return done.stdout
