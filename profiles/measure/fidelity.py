"""fidelity.py -- parts of measure.py that record what a GPU does, for the emulator to equal: ncu's
counters of memory instructions in many patterns, and tables that the programs in fidelity/
print."""
import collections
import csv
import hashlib
import os
import re
import sys

import ncu
from recording import (about_gpu, at_once, failed, joined, make, output, part, run, table_of,
                       toolkit, with_toolkit)

# The Source page's column: its metric, as ncu's other pages and the emulator call it.
COLUMNS = {"L1 Wavefronts Shared": "memory_l1_wavefronts_shared",
           "L1 Wavefronts Shared Ideal": "memory_l1_wavefronts_shared_ideal",
           "L2 Theoretical Sectors Global": "memory_l2_theoretical_sectors_global",
           "L2 Theoretical Sectors Local": "memory_l2_theoretical_sectors_local"}
# What is recorded of copies. NVIDIA's software computes smsp__sass_… and memory_… from addresses;
# l1tex__… are the hardware's counters.
SASS = "smsp__sass_l1tex_%s_op_ldgsts.sum"
SHARED = ["data_bank_conflicts_pipe_lsu_mem_shared", "data_pipe_lsu_wavefronts_mem_shared"]
COPIED = [*(SASS % name for name in SHARED),
          SASS % "t_requests_pipe_lsu_mem_global",
          SASS % "t_sectors_pipe_lsu_mem_global",
          "smsp__sass_inst_executed_op_ldgsts.sum",
          "memory_l1_wavefronts_shared",
          "memory_l1_wavefronts_shared_ideal",
          "l1tex__t_requests_pipe_lsu_mem_global_op_ldgsts_cache_access.sum",
          "l1tex__t_sectors_pipe_lsu_mem_global_op_ldgsts_cache_access.sum",
          "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
          "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
          *("l1tex__%s_op_st.sum" % name for name in SHARED)]
# What is recorded of moves of matrices. The hardware's counters of loads and stores contain them.
MOVED = [*(name % op for op in ("ld", "st") for name in (
            *("l1tex__%s_op_%%s.sum" % name for name in SHARED),
            "smsp__sass_inst_executed_op_shared_%s.sum")),
         *(SASS.replace("ldgsts", op) % name for op in ("ldsm", "stsm") for name in SHARED),
         "smsp__sass_inst_executed_op_ldsm.sum",
         "smsp__sass_inst_executed_op_shared_stsm.sum",
         "memory_l1_wavefronts_shared",
         "memory_l1_wavefronts_shared_ideal"]
# Those of a launch.
HARDWARE = {
    "shared": ["l1tex__%s_op_%s.sum" % (name, op) for name in SHARED
               for op in ("ld", "st", "atom")],
    "global": ["l1tex__t_%s_pipe_lsu_mem_%s_op_%s.sum" % (what, space, op)
               for what in ("requests", "sectors") for space, ops in (
                   ("global", ("ld", "st", "atom", "red")), ("local", ("ld", "st")))
               for op in ops],
    "constant": ["sm__idc_divergent_%s.sum" % what
                 for what in ("instructions", "instruction_replays")]}
# Instructions whose hardware counters are recorded for each pattern.
SEPARATE = ["shared atom.add u32", "shared atom.cas b32", "shared atom.exch b64",
            "shared atom.xor b64", "shared red.add u32", "shared atom.add f32",
            "global atom.add u32", "global red.add u32", "global atom.cas b32",
            "global atom.add u64"]
# Cases of tensor.cu that tell hypotheses apart, by kind.
TELLING = {"groups": "0 and [12]",
           "width": "16/16 at 0 cancelled and -?24/16 at 2 -1",
           "rounding": "16/16 at 0 and -?31/16 at 2 -1",
           "product": r"\(29/16\)\^2 cancelled and 24/16 at 2"}
WAYS = ("right unaligned large zeros rank local between before filled-f16 filled-f32 filled-f64 "
        "stored-between stored-before added-between added-before ahead-between "
        "ahead-before").split()


def recorded(what, **options):
    return part("fidelity", "GPU", what, more=about_gpu, **options)


def printed(name, *options):
    """What a program in fidelity/ prints."""
    make("build/fidelity/" + name)
    return output("build/fidelity/" + name, *options, env=with_toolkit())


for part_, program, what_ in (
        ("textures", ["textures"], "What texture units read, as raw bits"),
        ("bits", ["bits"], "What operations compute, bit for bit"),
        ("carries", ["bits", "carries"], "The carry flag after instructions with .cc"),
        ("contraction", ["bits", "contraction"],
         "Products and sums that ptxas makes one fma of"),
        ("alignments", ["memory", "alignments"],
         "To how many bytes allocations are aligned"),
        ("pages", ["memory", "pages"],
         "Which accesses outside of an array end a kernel"),
        ("answers", ["answers"], "What the runtime answers")):
    recorded("%s: see %s.cu." % (what_, program[0]), name=part_)(
        lambda program=program: printed(*program))


def condensed(lines):
    """Rows of what tensor.cu prints: one for each kind and instruction, and the telling cases."""
    found, whole = {}, []
    for line in lines[1:]:
        kind, instruction, case, bits = line.rstrip("\n").split(",", 3)
        found.setdefault((kind, instruction), []).append(line.rstrip("\n"))
        if kind in TELLING and re.fullmatch(TELLING[kind], case):
            whole.append([kind, instruction, case, bits])
    hashes = [[*key, len(of_key), hashlib.sha256("\n".join(of_key).encode()).hexdigest()[:16]]
              for key, of_key in found.items()]
    return hashes + whole


@recorded("What tensor cores compute, as raw bits: see tensor.cu.")
def tensor():
    """For each kind of input and instruction the number of lines and a hash of them; then a few."""
    rows = condensed(printed("tensor").splitlines())
    return "".join("%s\n" % ",".join(map(str, row))
                   for row in [["kind", "instruction", "cases", "hash"], *rows])


@recorded("What functions compute, a digest each: see functions.py.", name="functions")
def all_functions():
    run("rm", "-rf", "build/functions")  # the tests' programs are PTX alone
    shares = ["build/functions/" + number for number in output(
        "profiles/measure/fidelity/functions.py", "--shares", "slow").split()]
    make("-j%d" % os.cpu_count(), "FUNCTION_CODE=-arch=sm_90", *shares)
    text = joined(output(share, env=with_toolkit()) for share in shares)
    run("rm", "-rf", "build/functions")
    return text


@recorded("Bulk copies of boxes of tensors: see tests/cases/fixtures/programs/tensors.cu.")
def boxes():
    """A row for each way whose result does not depend on what lies beside the tensor."""
    run(toolkit() + "/bin/nvcc", "-O3", "-arch=sm_90", "tests/cases/fixtures/programs/tensors.cu",
        "-lcuda", "-o", "build/tensors")
    said = [run("timeout", 60, "build/tensors", way, check=False).stdout for way in WAYS]
    return "way,error,element\n" + "".join(
        line.replace(": ", ",", 1).replace(", ", ",", 1) for line in said)


# ---- ncu -----------------------------------------------------------------------------------------

CACHES = "--cache-control", "none"  # as in everyday runs


def columns(raw):
    """For each launch the columns of ncu's raw page."""
    names, _, launches = ncu.table(raw)
    return [dict(zip(names, launch)) for launch in launches]


def raw_page(metrics, *command):
    """What ncu prints of a program's launches."""
    return output(*ncu.NCU, *CACHES, "--metrics", ",".join(metrics), *ncu.RAW, *command,
                  env=with_toolkit())


def each_kind(name, metrics):
    """A launch for each pattern of each kind of instruction. Each kind has an ncu of its own,
    because ncu waits more than it computes."""
    rows = list(csv.DictReader(printed("patterns", "--list", name).splitlines()))
    kind, variant, _ = rows[0]
    patterns = collections.defaultdict(list)
    for row in rows:
        patterns[row[kind], row[variant]].append(row["pattern"])
    program = "build/fidelity/patterns", name
    launches = at_once(3, lambda *which: columns(raw_page(metrics, *program, *which)),
                       list(patterns))
    text = ",".join([kind, variant, "pattern", *metrics]) + "\n"
    for (which, names), measured in zip(patterns.items(), launches):
        if len(measured) != len(names):
            sys.exit("fidelity: %d launches of %s" % (len(measured), which))
        text += "".join("%s,%s,%s,%s\n" % (
            *which, '"%s"' % pattern if "," in pattern else pattern,
            ",".join(str(ncu.number(launch[metric])) for metric in metrics))
                        for pattern, launch in zip(names, measured))
    return text


MANY = "ncu's counters of memory instructions in many patterns: one warp, one instruction."


@recorded(MANY)
def copies():
    return each_kind("copies", COPIED)


@recorded(MANY)
def matrices():
    return each_kind("matrices", MOVED)


@recorded("ncu's counters of the kernels of notes/more/matrix-product.cu, 64 x 64.")
def product():
    """One row for each kernel, which is launched once."""
    metrics = ["l1tex__%s_op_%s.sum" % (name, op)
               for name in (*SHARED, "t_sectors_pipe_lsu_mem_global") for op in ("ld", "st")]
    run(toolkit() + "/bin/nvcc", "-O3", "-arch=sm_90", "notes/more/matrix-product.cu", "-o",
        "build/matrix-product")
    said = raw_page(metrics, "build/matrix-product")
    return table_of(ncu.totals(said, ("product", "-", 64), metrics))


def instruction_of(kernel):
    """("shared", "atom.add", "u32") of "void of_shared<shared_atom_add_u32, (int)20>(...)" """
    words = re.search(r"<(\w+),", kernel)[1].split("_")
    return words[0], ".".join(words[1:-1]), words[-1]


def source_page(text):
    """The rows of machine code of each instruction's kernel, which ncu prints twice."""
    kernels, columns, rows = {}, [], []
    for row in csv.reader(text.splitlines()):
        if row[:1] == ["Kernel Name"]:
            rows = []
            kernels.setdefault(instruction_of(row[1]), rows)
        elif row[:1] == ["Address"]:
            columns = row
        elif row:
            rows.append(dict(zip(columns, row)))
    return kernels


def by_pattern(rows, space, count):
    """The Source page's counters of each pattern. Each machine instruction of a pattern's access (a
    loop with compare-and-swap has two) is in the code once for each pattern, in their order."""
    kinds, patterns = {}, [{} for _ in range(count)]
    for row in rows:
        if row["Address Space"].lower() == space:
            opcode = re.sub(r"^@!?U?P\d+ ", "", row["Source"].strip()).split()[0]
            kinds.setdefault(opcode, []).append(row)
    for name, found in kinds.items():
        if len(found) != count:
            sys.exit("fidelity: %d %s for %d patterns" % (len(found), name, count))
        for pattern, row in zip(patterns, found):
            for column, metric in COLUMNS.items():
                if column in row:
                    pattern[metric] = pattern.get(metric, 0) + ncu.number(row[column])
    return patterns


def numbers(instruction, names, values):
    """A row for each number, without counters that are 0 in all patterns."""
    return [{"space": instruction[0], "counter": counter, "pattern": name,
             "metric": " ".join(instruction[1:]), "value": counters[counter]}
            for name, counters in zip(names, values) for counter in sorted(counters)
            if any(v.get(counter) for v in values)]


@recorded(MANY, file="fidelity")
def memory():
    """A table for each space: a row for each counter and pattern, a column for each instruction.
    The Source page counts each machine instruction, so it has numbers for each pattern. The
    hardware's counters (l1tex__, sm__) are of a launch: the pattern is "all", or one pattern if it
    was launched separately."""
    program, patterns, source, launched = "build/fidelity/patterns", {}, {}, {}
    for row in csv.DictReader(printed("patterns", "--list").splitlines()):
        patterns.setdefault((row["space"], row["operation"], row["type"]), []).append(
            row["pattern"])

    def take(launches, metrics, what):
        for launch in launches:
            launched.setdefault((what, instruction_of(launch["Kernel Name"])), []).append(
                {name: ncu.number(launch[name])
                 for name in metrics})
    for space in ("shared", "global", "local", "const"):
        metrics = sum(HARDWARE.values(), [])
        _, raw, page = ncu.pages(metrics, program, "--joined", space, lines="sass",
                                 options=CACHES, env=with_toolkit())
        take(columns(raw), metrics, "joined")
        source.update(source_page(page))
    for which in SEPARATE:
        metrics = HARDWARE[which.split()[0]]
        take(columns(raw_page(metrics, program, *which.split())), metrics, "separate")
    found = []
    for instruction, names in patterns.items():
        if instruction in source:
            rows = by_pattern(source[instruction], instruction[0], len(names))
            found += numbers(instruction, names, rows)
        if ("separate", instruction) in launched:
            separate = launched["separate", instruction]
            if len(separate) != len(names):
                failed("fidelity", "%d launches of %s\n" % (len(separate), instruction))
            found += numbers(instruction, names, separate)
        if ("joined", instruction) in launched:
            found += numbers(instruction, ["all"], launched["joined", instruction])
    return table_of(found)
