#!/usr/bin/env python3
"""Makes one CSV of what ncu printed about patterns.cu, copies.cu or matrices.cu: see fidelity.sh.

usage: fidelity.py FOLDER
       fidelity.py --copies      prints the metrics of copies, with commas between them
       fidelity.py --matrices    those of moves of matrices

Of patterns.cu FOLDER holds
  patterns.csv                  patterns --list
  joined_SPACE.raw.gz           ncu --csv --page raw: a launch for each instruction, which goes
                                through all its patterns
  joined_SPACE.source.gz        ncu --csv --page source --print-source sass, of the same launches
  SPACE-OPERATION-TYPE.csv.gz   ncu --csv --page raw: a launch for each pattern of one instruction

Output: space,counter,pattern and a column for each instruction, in a table for each space. The
Source page counts each machine instruction, so it has numbers for each pattern. The hardware's
counters (l1tex__, sm__) are of a launch: the pattern is "all", or one pattern if it was launched
separately. A counter that is 0 in all launches of an instruction has empty cells there.

Of copies.cu FOLDER holds patterns.csv and OPERATION-BYTES.csv.gz (ncu --csv --page raw): a launch
for each pattern of a kind of copy. Output: operation,bytes,pattern, and a column for each metric.
Of matrices.cu it holds the same, with OPERATION-SHAPE.csv.gz.

Of tensor.cu FOLDER holds what the program has printed (lines). Output: kind,instruction,cases,hash
for all lines of a kind and instruction; and the lines with TELLING cases as they are.
"""
import csv
import glob
import gzip
import hashlib
import os
import re
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), ".."))
import cases  # noqa: E402

# The Source page's column: its metric, as ncu's other pages and the emulator call it.
COLUMNS = {"L1 Wavefronts Shared": "memory_l1_wavefronts_shared",
           "L1 Wavefronts Shared Ideal": "memory_l1_wavefronts_shared_ideal",
           "L2 Theoretical Sectors Global": "memory_l2_theoretical_sectors_global",
           "L2 Theoretical Sectors Local": "memory_l2_theoretical_sectors_local"}
HARDWARE = re.compile(
    r"(l1tex__.*_mem_(shared|global|local)_op_\w+|sm__idc_divergent_.*)\.sum")

# What is recorded of copies. NVIDIA's software computes smsp__sass_… and memory_… from addresses;
# l1tex__… are the hardware's counters.
SASS = "smsp__sass_l1tex_%s_op_ldgsts.sum"
COPIED = [SASS % "data_bank_conflicts_pipe_lsu_mem_shared",
          SASS % "data_pipe_lsu_wavefronts_mem_shared",
          SASS % "t_requests_pipe_lsu_mem_global",
          SASS % "t_sectors_pipe_lsu_mem_global",
          "smsp__sass_inst_executed_op_ldgsts.sum",
          "memory_l1_wavefronts_shared",
          "memory_l1_wavefronts_shared_ideal",
          "memory_l2_theoretical_sectors_global",
          "l1tex__t_requests_pipe_lsu_mem_global_op_ldgsts_cache_access.sum",
          "l1tex__t_sectors_pipe_lsu_mem_global_op_ldgsts_cache_access.sum",
          "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
          "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
          "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
          "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
          "l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_ldgsts_cache_access.sum",
          "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ldgsts.sum"]
# What is recorded of moves of matrices. The hardware's counters of loads and stores contain them.
SHARED = "l1tex__%s_pipe_lsu_mem_shared_op_%s.sum"
MOVED = [*(name % (kind, op) for op in ("ld", "st") for name, kind in
           ((SHARED, "data_bank_conflicts"),
            ("l1tex__%s_wavefronts_mem_shared_op_%s.sum", "data_pipe_lsu"),
            ("smsp__sass_%s_op_shared_%s.sum", "inst_executed"))),
         *(SASS.replace("ldgsts", op) % kind for op in ("ldsm", "stsm")
           for kind in ("data_bank_conflicts_pipe_lsu_mem_shared",
                        "data_pipe_lsu_wavefronts_mem_shared")),
         "smsp__sass_inst_executed_op_ldsm.sum",
         "smsp__sass_inst_executed_op_shared_stsm.sum",
         "memory_l1_wavefronts_shared",
         "memory_l1_wavefronts_shared_ideal"]


# Cases of tensor.cu that tell hypotheses apart, by kind.
TELLING = {"groups": "0 and [12]",
           "width": "16/16 at 0 cancelled and -?24/16 at 2 -1",
           "rounding": "16/16 at 0 and -?31/16 at 2 -1",
           "product": r"\(29/16\)\^2 cancelled and 24/16 at 2"}


def instruction_of(kernel):
    """("shared", "atom.add", "u32") of "void of_shared<shared_atom_add_u32, (int)20>(...)" """
    words = re.search(r"<(\w+),", kernel)[1].split("_")
    return words[0], ".".join(words[1:-1]), words[-1]


def number(text):
    return int(text.replace(",", ""))


def launches(path):
    """The raw page's columns of each launch."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = list(csv.reader(line for line in file if not line.startswith("==")))
    return [dict(zip(rows[0], row)) for row in rows[2:]]


def raw_page(path):
    """For each launch its instruction and its hardware counters."""
    for launch in launches(path):
        counters = {name: number(text) for name, text in launch.items() if HARDWARE.fullmatch(name)}
        yield instruction_of(launch["Kernel Name"]), counters


def source_page(path):
    """The rows of machine code of each instruction's kernel, which ncu prints twice."""
    kernels = {}
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for row in csv.reader(file):
            if row[:1] == ["Kernel Name"]:
                rows = []
                kernels.setdefault(instruction_of(row[1]), rows)
            elif row[:1] == ["Address"]:
                header = row
            elif row:
                rows.append(dict(zip(header, row)))
    return kernels


def opcode(row):
    return re.sub(r"^@!?U?P\d+ ", "", row["Source"].strip()).split()[0]


def by_pattern(rows, space, count):
    """The Source page's counters of each pattern. Each machine instruction of a pattern's access (a
    loop with compare-and-swap has two) is in the code once for each pattern, in their order."""
    kinds = {}
    for row in rows:
        if row["Address Space"].lower() == space:
            kinds.setdefault(opcode(row), []).append(row)
    patterns = [dict() for _ in range(count)]
    for name, found in kinds.items():
        if len(found) != count:
            sys.exit("fidelity: %d %s for %d patterns" % (len(found), name, count))
        for pattern, row in zip(patterns, found):
            for column, metric in COLUMNS.items():
                if column in row:
                    pattern[metric] = pattern.get(metric, 0) + number(row[column])
    return patterns


def numbers(instruction, names, values):
    """For cases.py a row for each number, without counters that are 0 in all patterns."""
    for name, counters in zip(names, values):
        for counter in sorted(counters):
            if any(v.get(counter) for v in values):
                yield {"space": instruction[0], "counter": counter, "pattern": name,
                       "metric": " ".join(instruction[1:]), "value": counters[counter]}


def write_separate(folder, rows):
    """Of launches of copies or of matrices: each has one pattern."""
    kind, variant, _ = rows[0]
    names = {}
    for row in rows:
        names.setdefault((row[kind], row[variant]), []).append(row["pattern"])
    metrics = COPIED if variant == "bytes" else MOVED
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow([kind, variant, "pattern", *metrics])
    for move, all_names in names.items():
        measured = launches(os.path.join(folder, "%s-%s.csv.gz" % move))
        if len(measured) != len(all_names):
            sys.exit("fidelity: %d launches of %s" % (len(measured), move))
        for name, launch in zip(all_names, measured):
            out.writerow([*move, name, *(number(launch[metric]) for metric in metrics)])


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


def write_tensor(path):
    with open(path, encoding="utf-8") as file:
        rows = condensed(list(file))
    csv.writer(sys.stdout, lineterminator="\n").writerows(
        [["kind", "instruction", "cases", "hash"], *rows])


def main(folder):
    lines = os.path.join(folder, "lines")
    if os.path.exists(lines):
        return write_tensor(lines)
    with open(os.path.join(folder, "patterns.csv"), encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
        if "space" not in rows[0]:
            return write_separate(folder, rows)
        patterns = {}
        for row in rows:
            instruction = row["space"], row["operation"], row["type"]
            patterns.setdefault(instruction, []).append(row["pattern"])
    source, joined, separate = {}, {}, {}
    for path in sorted(glob.glob(os.path.join(folder, "joined_*.source.gz"))):
        source.update(source_page(path))
    for path in sorted(glob.glob(os.path.join(folder, "joined_*.raw.gz"))):
        joined.update(raw_page(path))
    for path in sorted(glob.glob(os.path.join(folder, "*-*-*.csv.gz"))):
        for instruction, counters in raw_page(path):
            separate.setdefault(instruction, []).append(counters)
    found = []
    for instruction, names in patterns.items():
        if instruction in source:
            rows = by_pattern(source[instruction], instruction[0], len(names))
            found += numbers(instruction, names, rows)
        if instruction in separate:
            if len(separate[instruction]) != len(names):
                sys.exit("fidelity: %d launches of %s" % (len(separate[instruction]), instruction))
            found += numbers(instruction, names, separate[instruction])
        if instruction in joined:
            found += numbers(instruction, ["all"], [joined[instruction]])
    cases.write(sys.stdout, *cases.cases(found))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    asked = {"--copies": COPIED, "--matrices": MOVED}.get(sys.argv[1])
    print(",".join(asked)) if asked else main(sys.argv[1])
