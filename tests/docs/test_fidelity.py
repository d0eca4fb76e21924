"""test_fidelity.py -- the emulator's counters of memory instructions in many patterns equal those
that ncu recorded on an H200 (profiles/h200/fidelity.csv), or fidelity_differences.csv says why not;
and counters of the steps that differ have a reason in counters_differences.csv. Of steps 13 to 16
totals of a run are compared: profiles/h200/counters.csv has a row a launch and source line, ./stepN
--json their sums.
"""
import collections
import csv
import json
import operator
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "profiles" / place)
                for place in ("tables", "measure", "measure/fidelity")]
import compare  # noqa: E402  (they lie in profiles/)
import fidelity  # noqa: E402
import fidelity_rows  # noqa: E402
import functions  # noqa: E402
import records  # noqa: E402
from step_table import steps_with  # noqa: E402

EMU, BUILT = TOP / "build/emu/emu", TOP / "build/fidelity"
TENSORS = TOP / "build/tests/programs/tensors"
PRODUCT = TOP / "build/matrix-product"
# Words that differ from the recorded ones: sums of signed bytes by one step of a 16-bit fraction,
# and sums of halves that nearly cancel (notes/more/emulator-inside.md).
TEXTURES_DIFFER = {"s8 filter": 1, "s8 line": 24, "s8 solid": 38, "f16 line": 8}
SECTORS = "l1tex__t_sectors_pipe_lsu_mem_%s_op_%s.sum"
# Counters of the Source page that are sums of the emulator's.
SUMS = {"memory_l2_theoretical_sectors_" + space: [SECTORS % (space, op) for op in ("ld", "st")]
        for space in ("global", "local")}


def parts(counter):
    return SUMS.get(counter, [fidelity_rows.OWN_NAMES.get(counter, counter)])


def counted(program, metrics, *options):
    """For each launch of the program its row in the emulator's CSV."""
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "log.csv")
        subprocess.run([EMU, "--csv", "--log-file", log, "--metrics", ",".join(metrics), program,
                        *options], check=True, stdout=subprocess.DEVNULL)
        with open(log, encoding="utf-8") as file:
            head, _, *rows = csv.reader(file)
    return [dict(zip(head, row)) for row in rows]


def launches(program, *options):
    """For each launch of the program the emulator's value of each recorded counter."""
    recorded = sorted({row["counter"] for row in fidelity_rows.RECORDED})
    metrics = sorted({part for counter in recorded for part in parts(counter)})
    for values in counted(program, metrics, *options):
        yield {counter: sum(int(values[part]) for part in parts(counter)) for counter in recorded}


def printed(program, *arguments, options=()):
    """What a program prints on the emulator."""
    return subprocess.run([EMU, *options, "--log-file", os.devnull, program, *arguments],
                          check=True, capture_output=True, text=True).stdout


def patterns(program, *which):
    """(space, operation, type) and the pattern of each launch."""
    lines = printed(program, "--list", *which).splitlines()
    for row in csv.DictReader(line for line in lines if re.match(r"\S+,\S+,", line)):
        space = row.get("space", "matrix" if "shape" in row else "copy")
        kind = next(row[key] for key in ("type", "bytes", "shape") if key in row)
        yield (space, row["operation"], kind), row["pattern"]


def table(program, *arguments, **options):
    return list(csv.DictReader(printed(program, *arguments, **options).splitlines()))


class Words(unittest.TestCase):
    """Results equal those of a GPU, word for word."""

    def test_textures_slow(self):
        recorded, _ = records.read("h200/textures.csv")
        mine = table(BUILT / "textures")
        self.assertEqual([row["case"] for row in mine], [row["case"] for row in recorded])
        differ = {}
        for row, gpu in zip(mine, recorded):
            pairs = zip(row["words"].split(), gpu["words"].split(), strict=True)
            differ[row["case"]] = sum(a != b for a, b in pairs)
        self.assertEqual({case: n for case, n in differ.items() if n}, TEXTURES_DIFFER)

    def test_operations(self):
        self.assertEqual(table(BUILT / "bits"), records.read("h200/bits.csv")[0])

    def test_carries_and_contractions(self):
        """Products and sums fuse as ptxas fuses them."""
        for what in "carries", "contraction":
            self.assertEqual(table(BUILT / "bits", what), records.read("h200/%s.csv" % what)[0])

    def test_boxes_of_tensors(self):
        for row in records.read("h200/boxes.csv")[0]:
            self.assertEqual(printed(TENSORS, row["way"]),
                             "%(way)s: %(error)s, %(element)s\n" % row)


class Options(unittest.TestCase):
    """What ptxas 13.0 makes of it: FFMA, but FMUL and FADD with these options."""
    SOURCE = """#include <cstdio>
static __global__ void k(float a, float b, float *c) { *c = a * b - b; }
int main() {
    float *c; cudaMallocManaged(&c, 4); k<<<1, 1>>>(1 - 0x1p-24f, 1.5f, c); cudaDeviceSynchronize();
    printf("%a\\n", *c); }"""

    def result(self, *options, arch="sm_90"):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([functions.toolkit() + "/bin/nvcc", "-arch=" + arch, *options, "-cudart",
                            "shared", "-x", "cu", "-", "-o", folder + "/program"], check=True,
                           input=self.SOURCE, text=True)
            return printed(folder + "/program").strip()

    def test_without_optimisation_or_fmad_ptxas_fuses_nothing_slow(self):
        self.assertEqual(self.result(), "-0x1.8p-24")
        for option in "-O0", "-fmad=false":
            for arch in "sm_90", "compute_90":
                self.assertEqual(self.result("-Xptxas", option, arch=arch), "-0x1p-23", option)


class Functions(unittest.TestCase):
    """Functions compute the recorded bits, but for those of functions_differences.csv, which do
    not."""

    def compare(self, which):
        recorded = {(row["kind"], row["function"]): row["digest"] for row in fidelity_rows.COMPUTED}
        found = {}
        for share in functions.shares(which):
            for row in table(TOP / "build/functions" / str(share)):
                found[row["kind"], row["function"]] = row["digest"]
        self.assertLessEqual(set(found), set(recorded))
        self.assertGreater(len(found), len(recorded) // functions.SHARES - 1)
        differ = {name for name, digest in found.items() if digest != recorded[name]}
        self.assertEqual(differ, fidelity_rows.differing_functions() & set(found))

    def test_a_share_equals_a_gpu(self):
        self.compare("quick")

    def test_all_shares_equal_a_gpu_slow(self):
        self.compare("slow")


class Alignments(unittest.TestCase):
    def test_addresses_are_aligned_as_on_a_gpu_or_more_slow(self):
        recorded, _ = records.read("h200/alignments.csv")
        # Of 33 MiB there were few, and by chance all managed ones lay at multiples of 64 MiB.
        for mine, gpu in zip(table(BUILT / "memory", "alignments"), recorded, strict=True):
            self.assertGreaterEqual(int(mine["alignment"]), min(32 << 20, int(gpu["alignment"])),
                                    gpu)


class Pages(unittest.TestCase):
    """Where emu --lenient goes on, an H200 went on, too, but for GOES_ON."""
    # An H200 stops before managed memory. Its array of 2 MiB filled a page, unlike the emulator's.
    GOES_ON = {("managed", "4", "", "-1"), ("device", "2097152", "", "2097152")}

    def test_a_gpu_goes_on_where_the_emulator_does_slow(self):
        recorded, _ = records.read("h200/pages.csv")
        mine_all = table(BUILT / "memory", "pages", options=["--lenient"])
        place = operator.itemgetter("memory", "bytes", "from", "distance")
        self.assertEqual([place(row) for row in mine_all], [place(row) for row in recorded])
        both, alone = 0, set()
        for mine, gpu in zip(mine_all, recorded):
            for access in "load", "store":
                errors = mine[access], gpu[access]
                if errors[0] == "-" != errors[1]:
                    alone.add(place(mine))
                both += errors == ("-", "-")
                if mine["memory"] == "shared":
                    self.assertEqual(*errors, mine)
        self.assertLessEqual(alone, self.GOES_ON)
        self.assertGreater(both, 50)


class Answers(unittest.TestCase):
    def test_the_runtime_answers_as_on_a_gpu_or_says_why_not(self):
        needed = []
        for mine, gpu in zip(table(BUILT / "answers"), fidelity_rows.ANSWERS, strict=True):
            why = fidelity_rows.explanations(gpu)
            self.assertEqual((mine["call"], mine["answer"] != gpu["value"]),
                             (gpu["counter"], len(why) == 1), mine["answer"])
            needed += why
        for why in fidelity_rows.DIFFER:
            self.assertEqual(why["spaces"] == "runtime", why in needed, why)


class Product(unittest.TestCase):
    def test_each_kernel_counts_as_on_a_gpu_slow(self):
        recorded, _ = records.read("h200/product.csv")
        names = [name for name in recorded[0] if name.startswith("l1tex")]
        subprocess.run([TOP / "notes/more/matrix-product.sh", "plain"], check=True,
                       stdout=subprocess.DEVNULL)
        rows = counted(PRODUCT, [name.split()[0] for name in names])
        self.assertEqual([[row["Kernel Name"], *list(row.values())[-len(names):]] for row in rows],
                         [[row["kernel"], *(row[name] for name in names)] for row in recorded])


class Patterns(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        program = BUILT / "patterns"
        keys = list(patterns(program))
        cls.counted = dict(zip(keys, launches(program), strict=True))
        together = dict.fromkeys(instruction for instruction, _ in keys)
        for instruction, counters in zip(together, launches(program, "--joined"), strict=True):
            cls.counted[instruction, "all"] = counters
        for what in "copies", "matrices":
            cls.counted.update(zip(patterns(program, what), launches(program, what), strict=True))

    def value(self, row):
        instruction = row["space"], row["operation"], row["type"]
        return self.counted[instruction, row["pattern"]][row["counter"]]

    def test_each_number_is_equal_or_explained_once_slow(self):
        for row in fidelity_rows.RECORDED:
            why = fidelity_rows.explanations(row)
            self.assertLessEqual(len(why), 1, row)
            if not why:
                self.assertEqual(self.value(row), int(row["value"]), row)

    def test_each_explanation_is_needed_slow(self):
        needed = [id(why) for row in fidelity_rows.RECORDED if self.value(row) != int(row["value"])
                  for why in fidelity_rows.explanations(row)]
        for why in fidelity_rows.DIFFER:
            self.assertTrue(id(why) in needed or why["spaces"] == "runtime", why)

    def test_every_pattern_is_recorded_slow(self):
        recorded = {((row["space"], row["operation"], row["type"]), row["pattern"])
                    for row in fidelity_rows.RECORDED}
        missing = set(self.counted) - recorded
        # Of constant memory there are only the hardware's counters of all patterns.
        self.assertEqual({instruction[0] for instruction, _ in missing}, {"const"})


class TensorCores(unittest.TestCase):
    def test_every_result_is_that_of_an_h200_slow(self):
        recorded = [list(row.values()) for row in records.read("h200/tensor.csv")[0]]
        lines = printed(BUILT / "tensor").splitlines()
        self.assertEqual([list(map(str, row)) for row in fidelity.condensed(lines)], recorded)

    def test_moves_count_as_in_the_machine_code_slow(self):
        run = subprocess.run([EMU, "--report", BUILT / "patterns"], check=True, capture_output=True,
                             text=True)
        verdicts = re.findall(r"^(?:ldmatrix|stmatrix|wmma)_\w+\n    (\w+)", run.stdout, re.M)
        self.assertGreater(len(verdicts), 20)
        self.assertEqual(set(verdicts), {"exact"})


class Steps(unittest.TestCase):
    """The emulator's recording and ncu's, scan by scan."""
    COLUMNS = {"conflicts %s": "conflicts_%s", "wavefronts %s": "wavefronts_%s",
               "global %s": "requests_%s", "sectors %s": "sectors_%s"}
    COLUMNS = {label % op: key % op for label, key in COLUMNS.items() for op in ("ld", "st")}
    COLUMNS["additions"] = "adds_counted"

    def differing(self):
        scans = compare.scans_of(os.path.join(compare.PROFILES, "h200", "counters.csv"))
        for row in records.COUNTED:
            scan = scans.get((row["step"], row["variant"] or "-", row["n"]))
            plain = row["in_place"] == "false" and row["offset"] == "0"
            if not scan or not plain or row["element"] != "float":
                continue
            for label, name in compare.columns():
                there, here = scan.value(name), row[self.COLUMNS[label]]
                if there is not None and here and float(here) != there:
                    yield scan, label

    def test_each_difference_has_one_reason(self):
        found = list(self.differing())
        self.assertGreater(len(found), 10)
        for scan, label in found:
            why = compare.reasons(scan.step, scan.variant, label)
            self.assertEqual(len(why), 1, (scan.name, scan.n, label, why))

    def test_stores_for_other_tiles_have_one_reason(self):
        # Whether a warp polls 1000 times depends on the machine's load, so nothing is run.
        for scan in ("12", "f32"), ("12", "f64"), ("13", "document"):
            for label in "global st", "sectors st":
                why = compare.reasons(*scan, label)
                self.assertEqual(len(why), 1, (*scan, label, why))
                self.assertIn("polled", why[0])


APPLICATIONS = {str(step) for step in steps_with("kind", "application")}
MOST = 65536  # elements of the largest runs that are compared
# ncu's name of a counter: that of ./stepN --json
COUNTERS = {"l1tex__t_%s_pipe_lsu_mem_global_op_%s.sum" % (what, op): "%s_%s" % (what, op)
            for what in ("requests", "sectors") for op in ("ld", "st")}
COUNTERS |= {"source_wavefronts_" + op: "wavefronts_" + op for op in ("ld", "st")}

# Step, variant (None: any), least n, and the counters that differ there, with the reason.
DIFFERENCES = [
    ("13", "fast", 2049, {"requests_ld", "sectors_ld"},
     "tiles look at states until these are there, as often as chance has it"),
    ("13", "document", 2049, {"requests_ld", "sectors_ld"}, "the same in the scan of the flags"),
    ("16", "-", 2049, {"requests_ld", "sectors_ld"}, "the same"),
    ("13", "atomic", 0, {"sectors_st"}, "warps take their places in another order"),
    ("15", "fast", 0, {"wavefronts_st"},
     "ncu counts no stores into the shared memory of other blocks of a cluster"),
    ("15", "fast", 0, {"wavefronts_ld"},
     "ptxas leaves out loads whose value no lane of a warp needs"),
    ("16", "-", 0, {"wavefronts_ld"},
     "ptxas loads a segment's sum and head at once, which PTX does on two paths"),
]


def recorded():
    """(step, variant, n) -> totals of the counters."""
    totals = collections.defaultdict(collections.Counter)
    for row in records.NCU:
        if row["step"] not in APPLICATIONS or int(row["n"]) > MOST:
            continue
        run = totals[row["step"], row["variant"], int(row["n"])]
        for name, counter in COUNTERS.items():
            run[counter] += int(row[name] or 0)
    return totals


def counts_of(step, variant, n):
    chosen = [] if variant == "-" else ["--variant", variant]
    command = ["./step" + step, "--device", "emu", *chosen, "--n", str(n), "--reps", "0", "--json"]
    # With one thread of the host, blocks run in the same order each time.
    done = subprocess.run(command, cwd=TOP, env={**os.environ, "EMU_THREADS": "1"},
                          capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def may_differ(step, variant, n, counter):
    return any(step == s and variant == v and n >= least and counter in counters
               for s, v, least, counters, _ in DIFFERENCES)


class Applications(unittest.TestCase):
    def test_the_emulator_counts_as_ncu_did_slow(self):
        runs, steps = recorded(), set()
        for (step, variant, n), totals in runs.items():
            counts = counts_of(step, variant, n)
            steps.add(step)
            for counter in COUNTERS.values():
                with self.subTest(step=step, variant=variant, n=n, counter=counter):
                    if not may_differ(step, variant, n, counter):
                        self.assertEqual(counts[counter], totals[counter])
        self.assertEqual(steps, APPLICATIONS)


if __name__ == "__main__":
    unittest.main()
