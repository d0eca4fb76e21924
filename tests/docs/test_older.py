"""test_older.py -- what notes/use.md says of GPUs before Hopper holds for the counts in
profiles/emulated/older.csv, which test_documents.py makes anew."""
import unittest

from recordings import records
import older_rows  # of profiles/tables

GPUS = "t4", "a100", "rtx4090"
N16, MI, N21, N23, N24 = 1 << 16, 1 << 20, 1 << 21, 1 << 23, 1 << 24
STEP_11 = 11, ""
FAST_SORT, SORT = (15, "fast"), (15, "document")


def moved(row):
    return older_rows.apart(row, "sectors")


def executed(row):
    return older_rows.apart(row, "instructions")


class Older(unittest.TestCase):
    def on_each(self, of, ours, other, sizes, least, most):
        """On each GPU, ours by the other; each is a step and a variant."""
        for gpu in GPUS:
            for n in sizes:
                with self.subTest(gpu=gpu, ours=ours, n=n):
                    ratio = (of(older_rows.counted(gpu, n, *ours)) /
                             of(older_rows.counted(gpu, n, *other)))
                    self.assertGreaterEqual(ratio, least)
                    self.assertLessEqual(ratio, most)

    def test_sums(self):
        for ours in (12, "i32"), (12, "f32"):
            self.on_each(moved, ours, STEP_11, (N16, MI, N24), 0.99, 1)
            self.on_each(executed, ours, STEP_11, (N24,), 0.68, 0.72)
            self.on_each(executed, ours, STEP_11, (N16,), 0.98, 1.03)
            self.on_each(executed, ours, (11, "tile8192"), (N24,), 0.98, 1)

    def test_sums_that_are_kept_on_the_chip(self):
        self.on_each(moved, (12, "f32"), STEP_11, (N23,), 1.30, 1.34)
        self.on_each(executed, (12, "f32"), STEP_11, (N23,), 0.9, 1)
        self.on_each(moved, (12, "i32"), STEP_11, (N23,), 0.99, 1)

    def test_scans_of_step_16(self):
        self.on_each(moved, (16, "sum"), STEP_11, (N21,), 0.99, 1)
        self.on_each(executed, (16, "sum"), STEP_11, (N21,), 1.35, 1.5)

    def test_selections(self):
        fast, document = (13, "fast"), (13, "document")
        self.on_each(moved, fast, document, (N16, MI, N24), 0.2, 0.25)
        self.on_each(executed, fast, document, (N16, MI, N24), 0.3, 0.4)

    def test_sorts(self):
        self.on_each(executed, FAST_SORT, SORT, (N16,), 0.4, 1.01)
        self.on_each(executed, FAST_SORT, SORT, (MI,), 0.15, 0.25)
        self.on_each(moved, FAST_SORT, SORT, (MI,), 0.5, 0.7)
        self.on_each(moved, FAST_SORT, SORT, (N16,), 1, 1.7)
        self.on_each(lambda row: int(row["sectors"]), FAST_SORT, SORT, (N16,), 1.5, 6)

    def test_bytes_take_longer_than_instructions(self):
        for _, n, *scans in older_rows.CASES:
            for gpu in GPUS:
                for scan in scans:
                    with self.subTest(gpu=gpu, scan=scan):
                        bytes_, instructions = older_rows.bounds(
                            gpu, older_rows.counted(gpu, n, *scan))
                        self.assertEqual(bytes_ < instructions,
                                         scan == SORT and gpu != "rtx4090")

    def test_the_exchange_of_sums(self):
        for row in older_rows.COUNTED:
            part = int(row["look-back sectors"]) / int(row["sectors"])
            if row["step"] in ("11", "12"):
                self.assertLess(part, 0.06, row)
            elif row["step"] == "13":
                self.assertLess(part, 0.14, row)
            elif row["step"] == "15":
                self.assertLess(part, 0.75, row)
