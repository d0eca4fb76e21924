"""test_functions.py -- each function of the Python package against NumPy, on the emulator; the
programs of notes/use.md that are written in Python, as they stand there."""
import itertools
import re
import subprocess
import sys
import threading
import unittest
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import upsweep
from upsweep import _library

PAGE = Path(__file__).resolve().parents[2] / "notes" / "use.md"
PROGRAM = re.compile(r"^```python\n(.*?)^```$(?:\s*```\n(.*?)^```$)?", re.M | re.S)
SIZES = [0, 1, 2, 33, 1000, 5000]
RNG = np.random.default_rng(37)
REALS, INTEGERS = ["float32", "float64"], ["int32", "int64", "uint32", "uint64"]


def some(dtype, shape):
    """Numbers of a type; integers use all bits."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return RNG.random(shape) < 0.5
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return RNG.integers(info.min, info.max, shape, dtype, endpoint=True)
    return (RNG.random(shape) - 0.5).astype(dtype)


def scanned(ufunc, x, identity, axis=0, exclusive=False, reverse=False):
    """A scan along an axis, by NumPy, in the type of x."""
    x = np.moveaxis(x, axis, 0)
    x = x[::-1] if reverse else x
    with np.errstate(all="ignore"):
        result = ufunc.accumulate(x, axis=0, dtype=x.dtype)
    if exclusive:
        result = np.concatenate([np.full_like(x[:1], identity), result[:-1]])
    return np.moveaxis(result[::-1] if reverse else result, 0, axis)


class Functions(unittest.TestCase):
    def same(self, result, expected, **tolerance):
        """Equal in type, shape and values; to a rounding if they are floats."""
        self.assertIs(type(result), np.ndarray)
        self.assertEqual(result.dtype, expected.dtype)
        self.assertEqual(result.shape, expected.shape)
        if result.dtype.kind == "f":
            tolerance = {"rtol": 1e-5, "atol": 2e-5, **tolerance}
            np.testing.assert_allclose(result, expected, **tolerance)
        else:
            np.testing.assert_array_equal(result, expected)

    def scans(self, function, ufunc, dtypes, identity):
        for dtype in dtypes:
            none = identity(np.dtype(dtype))
            for n, exclusive, reverse in itertools.product(SIZES, (False, True), (False, True)):
                x = some(dtype, n)
                with self.subTest(dtype=dtype, n=n, exclusive=exclusive, reverse=reverse):
                    self.same(function(x, exclusive=exclusive, reverse=reverse),
                              scanned(ufunc, x, none, 0, exclusive, reverse))
            for shape, axis in itertools.product([(7, 300), (300, 7), (1, 5), (5, 1), (0, 4)],
                                                 (0, 1, -1, -2)):
                x = some(dtype, shape)
                with self.subTest(dtype=dtype, shape=shape, axis=axis):
                    self.same(function(x, axis), scanned(ufunc, x, none, axis))
                    self.same(function(x, axis, exclusive=True, reverse=True),
                              scanned(ufunc, x, none, axis, True, True))

    def test_cumsum(self):
        self.scans(upsweep.cumsum, np.add, REALS + INTEGERS, lambda dtype: 0)

    def test_cumsum_of_small_types_is_int32(self):
        for dtype in "int8", "int16", "bool":
            x = some(dtype, 3000)
            self.same(upsweep.cumsum(x), np.cumsum(x, dtype=np.int32))
            self.same(upsweep.cumsum(x, exclusive=True), np.cumsum(x, dtype=np.int32) - x)
            for options in {"reverse": True}, {"initial": 1}:
                with self.assertRaisesRegex(ValueError, dtype + " has no axis, reverse and init"):
                    upsweep.cumsum(x, **options)
            with self.assertRaisesRegex(ValueError, "convert it to int32"):
                upsweep.cumsum(x.reshape(2, -1), 1)

    def test_int32_is_not_widened(self):
        x = np.full(3, 2**31 - 1, np.int32)
        self.assertEqual(upsweep.cumsum(x).tolist(), [2**31 - 1, -2, 2**31 - 3])

    def test_cumprod(self):
        self.scans(upsweep.cumprod, np.multiply, REALS + ["int64", "uint64"], lambda dtype: 1)

    def test_cummax(self):
        self.scans(upsweep.cummax, np.maximum, REALS + ["int32", "int64"],
                   lambda dtype: -np.inf if dtype.kind == "f" else np.iinfo(dtype).min)

    def test_cummin(self):
        self.scans(upsweep.cummin, np.minimum, REALS + ["int32", "int64"],
                   lambda dtype: np.inf if dtype.kind == "f" else np.iinfo(dtype).max)

    def test_cummax_is_nan_from_a_nan_on(self):
        x = np.array([1, np.nan, 2], np.float32)
        self.same(upsweep.cummax(x), np.array([1, np.nan, np.nan], np.float32))

    def indexed(self, function, better, x, axis=0, exclusive=False, reverse=False):
        """With indices: against a loop along the axis, by the rule of torch.cummax."""
        values, indices = function(x, axis, exclusive=exclusive, reverse=reverse, indices=True)
        self.same(values, function(x, axis, exclusive=exclusive, reverse=reverse))
        x, indices = np.moveaxis(x, axis, 0), np.moveaxis(indices, axis, 0)
        values, best = np.moveaxis(values, axis, 0), np.full(x.shape[1:], -1)
        self.assertEqual((indices.dtype, indices.shape), (np.int64, x.shape))
        for i in range(len(x))[::-1 if reverse else 1]:
            before = best
            if len(x):
                old = np.take_along_axis(x, np.maximum(best, 0)[None], 0)[0]
                new = (best < 0) | (x[i] != x[i]) | ((old == old) & better(x[i], old))
                best = np.where(new, i, best)
            expected = before if exclusive else best
            np.testing.assert_array_equal(indices[i], expected)
            there = np.take_along_axis(x, np.maximum(expected, 0)[None], 0)[0]
            np.testing.assert_array_equal(values[i][expected >= 0], there[expected >= 0])

    def test_cummax_and_cummin_with_indices(self):
        for function, better in (upsweep.cummax, np.greater_equal), (upsweep.cummin, np.less_equal):
            for dtype, flags in itertools.product(REALS + ["int32", "int64"], range(4)):
                options = {"exclusive": flags % 2 > 0, "reverse": flags > 1}
                for n in SIZES:
                    x = some("int32", n) >> 28  # many are equal
                    self.indexed(function, better, x.astype(dtype), **options)
                for shape, axis in itertools.product([(7, 300), (300, 7), (5, 1), (0, 4)], (0, 1)):
                    x = some("int32", shape) >> 28
                    self.indexed(function, better, x.astype(dtype), axis, **options)

    def test_indices_of_nan_and_zeros(self):
        x = np.array([0.0, -0.0, np.nan, 5, np.nan, 1], np.float32)
        values, indices = upsweep.cummax(x, indices=True)
        self.assertEqual(indices.tolist(), [0, 1, 2, 2, 4, 4])
        np.testing.assert_array_equal(np.signbit(values[:2]), [False, True])

    def test_indices_go_to_a_pair(self):
        x = np.array([[3, 1], [3, 2]], np.int32)
        out = np.empty_like(x), np.empty(x.shape, np.int64)
        result = upsweep.cummin(x, 0, indices=True, out=out)
        self.assertIs(result[0], out[0])
        self.assertIs(result[1], out[1])
        self.assertEqual((out[0].tolist(), out[1].tolist()), ([[3, 1], [3, 1]], [[0, 0], [1, 0]]))
        self.assertEqual(upsweep.cummax(x, indices=True)[1].tolist(), [0, 0, 2, 2])
        with self.assertRaisesRegex(ValueError, "cummax: with indices, out must be a pair of arr"):
            upsweep.cummax(x, 0, indices=True, out=out[0][0, 0])
        with self.assertRaisesRegex(TypeError, "out has dtype int32, and must have int64"):
            upsweep.cummax(x, 0, indices=True, out=(out[0], np.empty_like(x)))
        with self.assertRaisesRegex(ValueError, "initial has no index: leave out initial or indic"):
            upsweep.cummax(x, 0, indices=True, initial=1)

    def test_logcumsumexp(self):
        self.scans(upsweep.logcumsumexp, np.logaddexp, REALS, lambda dtype: -np.inf)
        large = np.array([1000.0, 1000.0])
        self.same(upsweep.logcumsumexp(large), np.array([1000, 1000 + np.log(2)]))

    def test_no_axis_flattens(self):
        x = some("float64", (3, 4, 5))
        self.same(upsweep.cumsum(x), np.cumsum(x))
        self.same(upsweep.cumsum(x, 0), np.cumsum(x, 0))
        self.same(upsweep.cumsum(x, 2), np.cumsum(x, 2))
        self.same(upsweep.cumsum(np.full((), 3.0)), np.array([3.0]))
        with self.assertRaisesRegex(ValueError, "axis is 1 of 3, and may be the first or the las"):
            upsweep.cumsum(x, 1)
        for axis in -4, 3:
            with self.assertRaisesRegex(ValueError, "axis is %d, and x has 3 dimensions" % axis):
                upsweep.cumsum(x, axis)

    def test_initial(self):
        x = some("int32", 1000) >> 20
        self.same(upsweep.cumsum(x, initial=7), np.cumsum(x, dtype=np.int32) + np.int32(7))
        self.same(upsweep.cummax(x, initial=np.int32(5)), np.maximum.accumulate(x).clip(5))
        m = some("float32", (4, 50))
        self.same(upsweep.cumsum(m, 1, exclusive=True, initial=0.5),
                  scanned(np.add, m, 0, 1, True) + np.float32(0.5))
        for initial, error in (2**31, "which is no int32"), (-2**31 - 1, "which is no int32"):
            with self.assertRaisesRegex(ValueError, error):
                upsweep.cumsum(x, initial=initial)
        for values, initial in (x, 0.5), (m, "a"), (m, "1"), (m, b"1"), (m, m):
            with self.assertRaisesRegex(TypeError, "initial has "):
                upsweep.cumsum(values, initial=initial)
        with self.assertRaisesRegex(ValueError, "initial is too large for float32"):
            upsweep.cumsum(m, initial=10**400)

    def recurrence(self, a, b, h, reverse, exclusive):
        result = np.empty_like(b)
        for i in (range(len(a) - 1, -1, -1) if reverse else range(len(a))):
            before, h = h, a[i] * h + b[i]
            result[i] = before if exclusive else h
        return result

    def test_affine_scan(self):
        for dtype in REALS:
            for n, exclusive, reverse in itertools.product(SIZES, (False, True), (False, True)):
                a, b = some(dtype, n), some(dtype, n)
                for h in (0, 2.5):
                    self.same(upsweep.affine_scan(a, b, exclusive=exclusive, reverse=reverse,
                                                  initial=h or None),
                              self.recurrence(a, b, h, reverse, exclusive))
            a, b = some(dtype, (200, 3)), some(dtype, (200, 3))
            self.same(upsweep.affine_scan(a, b, 0), self.recurrence(a, b, 0, False, False))
        with self.assertRaisesRegex(ValueError, r"b has shape \(3,\), and must have \(4,\)"):
            upsweep.affine_scan(np.ones(4), np.ones(3))
        with self.assertRaisesRegex(TypeError, "b has dtype float32, and must have float64"):
            upsweep.affine_scan(np.ones(4), np.ones(4, "f"))

    def test_segmented_cumsum(self):
        n = 4000
        first = np.sort(RNG.choice(n, 60, False))
        flags = np.zeros(n, bool)
        flags[first] = True
        bounds = sorted({0, *first.tolist(), n})
        keys = np.repeat(np.arange(len(bounds) - 1) % 2, np.diff(bounds)).astype(np.int32)
        offsets = np.concatenate([RNG.permutation(first), [-5, n, 2**40, first[3]]])
        for dtype, exclusive, reverse in itertools.product(
                REALS + INTEGERS, (False, True), (False, True)):
            x = some(dtype, n)
            expected = np.concatenate([scanned(np.add, x[a:b], 0, 0, exclusive, reverse)
                                       for a, b in zip(bounds, bounds[1:])])
            for heads in {"flags": flags}, {"flags": flags.astype("u1") * 128}, \
                    {"keys": keys}, {"offsets": offsets.astype("i8")}:
                with self.subTest(dtype=dtype, heads=list(heads)):
                    self.same(upsweep.segmented_cumsum(x, exclusive=exclusive, reverse=reverse,
                                                       **heads), expected)
        none = np.empty(0, "i8")
        self.same(upsweep.segmented_cumsum(x, offsets=none), scanned(np.add, x, 0))
        self.same(upsweep.segmented_cumsum(x[:0], offsets=none), x[:0])
        self.same(upsweep.segmented_cumsum(x[:0], flags=flags[:0]), x[:0])
        for heads, error in (({}, "0 were passed"), ({"flags": flags, "keys": keys}, "2 were pas"),
                             ({"flags": flags[1:]}, "flags has shape"),
                             ({"offsets": offsets.reshape(2, -1)}, "offsets has 2 dimensions")):
            with self.assertRaisesRegex(ValueError, error):
                upsweep.segmented_cumsum(x, **heads)
        with self.assertRaisesRegex(TypeError, "keys has dtype int64, and must have int32"):
            upsweep.segmented_cumsum(x, keys=keys.astype("i8"))

    def test_select_between(self):
        for dtype in REALS + ["int32", "int64"]:
            for n in SIZES:
                x = some(dtype, n)
                low, high = (-0.25, 0.3) if dtype in REALS else (-2**30, 2**30)
                for between in (low, high), (low, None), (None, high), (None, None), (high, low):
                    kept = (x >= (between[0] if between[0] is not None else x.min(initial=0))) & \
                        (x <= (between[1] if between[1] is not None else x.max(initial=0)))
                    self.same(upsweep.select(x, between=between), x[kept])

    def test_select_between_at_zeros_and_nan(self):
        x = np.array([-np.inf, -1, -0.0, 0.0, 5e-324, np.nan, -np.nan, np.inf])
        for between, kept in ((0, 0), [2, 3]), ((0.0, None), [2, 3, 4, 7]), \
                ((-0.0, 1), [2, 3, 4]), ((None, -0.0), [0, 1, 2, 3]), \
                ((None, None), [0, 1, 2, 3, 4, 7]), ((np.inf, None), [7]):
            self.same(upsweep.select(x, between=between), x[kept])
        with self.assertRaisesRegex(ValueError, "a bound of between is NaN"):
            upsweep.select(x, between=(np.nan, 1))
        for between in 3, (1, 2, 3), "a":
            with self.assertRaisesRegex(ValueError, "must be a pair"):
                upsweep.select(x, between=between)
        with self.assertRaisesRegex(TypeError, "between has 0.5, which is no integer"):
            upsweep.select(np.arange(3), between=(0.5, None))
        with self.assertRaisesRegex(ValueError, "which is no int32"):
            upsweep.select(np.arange(3, dtype="i4"), between=(0, 2**31))

    def test_select_by_mask(self):
        for dtype in "int8", "bool", "uint16", "float16", "int32", "float32", "uint64", "float64":
            for n in SIZES:
                x, mask = some(dtype, n), some("bool", n)
                self.same(upsweep.select(x, mask), x[mask], rtol=0, atol=0)
                self.same(upsweep.select(x, mask.astype("u1") * 7), x[mask], rtol=0, atol=0)
        x, mask = some("int32", (30, 40)), some("bool", (30, 40))
        self.same(upsweep.select(x, mask), x[mask])
        self.same(upsweep.select(x, np.zeros_like(mask)), x[:0].reshape(-1))
        for wrong in {}, {"mask": mask, "between": (0, 1)}:
            with self.assertRaisesRegex(ValueError, "pass one of mask and between"):
                upsweep.select(x, **wrong)
        with self.assertRaisesRegex(ValueError, "mask has shape"):
            upsweep.select(x, mask.T.copy())
        with self.assertRaisesRegex(TypeError, "mask has dtype int32, and must have bool or uint8"):
            upsweep.select(x, x)

    def test_select_and_nonzero_without_waiting(self):
        x = some("int32", 3000)
        mask = x > 0
        for result, count in (upsweep.select(x, mask, sync=False),
                              upsweep.select(x, between=(1, None), sync=False)):
            self.same(count, np.array([mask.sum()]))
            self.assertEqual(result.shape, x.shape)
            self.same(result[:count[0]], x[mask])
        result, count = upsweep.nonzero(mask, sync=False)
        self.same(result[:count[0]], np.flatnonzero(mask))
        result, count = upsweep.select(x[:0], mask[:0], sync=False)
        self.same(count, np.array([0]))
        out = np.full(3000, 7, np.int32)
        kept = upsweep.select(x, mask, out=out)
        self.assertIs(kept.base, out)
        self.same(kept, x[mask])
        self.assertTrue((out[len(kept):] == 7).all())

    def test_nonzero(self):
        for dtype in "int8 uint8 bool int16 uint16 float16 int32 uint32 float32 int64 uint64 " \
                "float64".split():
            for n in SIZES:
                x = some(dtype, n) * some("bool", n)
                self.same(upsweep.nonzero(x), np.flatnonzero(x))
        self.same(upsweep.nonzero(np.array([0.0, -0.0, np.nan, -5e-324])), np.array([2, 3]))
        self.same(upsweep.nonzero(np.eye(20)), np.flatnonzero(np.eye(20)))

    def test_sort(self):
        for dtype in "int8 uint8 bool int16 uint16 float16 int32 uint32 float32 int64 uint64 " \
                "float64".split():
            for n in SIZES:
                x = some(dtype, n)
                self.same(upsweep.sort(x), np.sort(x), rtol=0, atol=0)
                self.same(upsweep.sort(x, descending=True), np.sort(x)[::-1], rtol=0, atol=0)
        x = np.array([np.nan, 0.0, -np.nan, -0.0, np.inf])
        self.assertEqual([str(v) for v in np.copysign(1, upsweep.sort(x))],
                         ["-1.0", "-1.0", "1.0", "1.0", "1.0"])
        with self.assertRaisesRegex(ValueError, r"x has 2 dimensions, .*: pass x.reshape\(-1\)"):
            upsweep.sort(np.eye(2))

    def test_argsort_is_stable(self):
        for dtype in "int8", "float16", "int32", "float64":
            for n in SIZES:
                x = np.round(some(dtype, n) * 4 if dtype[0] == "f" else some(dtype, n) % 5)
                x = x.astype(dtype) + np.dtype(dtype).type(0)  # no -0
                expected = np.argsort(x, kind="stable")
                self.same(upsweep.argsort(x), expected)
                backwards = n - 1 - np.argsort(x[::-1], kind="stable")[::-1]
                self.same(upsweep.argsort(x, descending=True), backwards)
                for index in "int32", "uint32", "uint64":
                    out = np.empty(n, index)
                    self.assertIs(upsweep.argsort(x, out=out), out)
                    self.same(out, expected.astype(index))

    def test_summed_area_table(self):
        for dtype, shape in itertools.product(("uint8", "uint16", "float32"), (
                (1, 1), (60, 70), (33, 64, 3), (20, 30, 4), (5, 6, 1), (0, 7), (7, 0))):
            image = np.abs(some(dtype, shape))
            table = image.astype(np.uint32 if dtype[0] == "u" else np.float32)
            self.same(upsweep.summed_area_table(image), table.cumsum(0, table.dtype).cumsum(
                1, table.dtype))
        for shape in (4,), (3, 3, 2), (2, 2, 2, 2):
            with self.assertRaisesRegex(ValueError, "image has shape "):
                upsweep.summed_area_table(np.zeros(shape, "u1"))

    def test_out(self):
        x = some("int32", 500)
        expected = np.cumsum(x, dtype=np.int32)
        out = np.empty_like(x)
        self.assertIs(upsweep.cumsum(x, out=out), out)
        self.same(out, expected)
        self.assertIs(upsweep.cumsum(x, out=x), x)
        self.same(x, expected)
        for out, error, text in (
                (out[:-1], ValueError, r"out has shape \(499,\), and must have \(500,\)"),
                (out.astype("i8"), TypeError, "out has dtype int64, and must have int32"),
                (np.empty(1000, "i4")[::2], ValueError, "out is not contiguous"),
                ([0] * 500, TypeError, "out is a list"),
                (np.broadcast_to(np.int32(0), 500), ValueError, "out is not contiguous"),
                (np.frombuffer(bytes(2000), "i4"), ValueError, "out is read-only")):
            with self.assertRaisesRegex(error, text):
                upsweep.cumsum(x, out=out)

    def test_out_may_overlap_what_is_copied(self):
        x = some("int32", 500)
        expected = np.sort(x)
        self.same(upsweep.sort(x, out=x), expected)
        kept = upsweep.select(x[:-1], (x > 0)[1:], out=x[1:])
        self.same(kept, expected[:-1][expected[1:] > 0])

    def test_what_is_no_array(self):
        for x, text in (([1, 2], "x is a list: pass an array of NumPy"), (3, "x is a int"),
                        (np.float32(1), "x is a numpy.float32: pass an array"),
                        (np.ma.array([1]), r"x has a mask, .* x.filled\(VALUE\), or x.compressed"),
                        (np.array([1]).view(np.recarray), r"pass numpy.asarray\(x\)"),
                        (np.array([1j]), "x has dtype complex128"),
                        (np.array(["a"]), "x has dtype <U1"), (np.arange(3, dtype=">i4"), ">i4"),
                        (np.arange(3, dtype="f2"), "x has dtype float16, and must have float32")):
            with self.assertRaisesRegex(TypeError, text):
                upsweep.cumsum(x)
        x = np.zeros(2)
        for call, text in (
                (lambda: upsweep.affine_scan(x, None), "b is a NoneType"),
                (lambda: upsweep.affine_scan(x, [1, 2]), "b is a list"),
                (lambda: upsweep.select(x, [True, False]), "mask is a list"),
                (lambda: upsweep.segmented_cumsum(x, offsets=[0, 1]), "offsets is a list")):
            with self.assertRaisesRegex(TypeError, text):
                call()
        with self.assertRaisesRegex(ValueError, "x is not contiguous in C's order"):
            upsweep.cumsum(np.eye(3).T[::2])

    def test_threads(self):
        x = some("int32", 2000)
        wrong = []

        def work(seed):
            y = np.roll(x, seed)
            for _ in range(4):
                if not (upsweep.cumsum(y) == np.cumsum(y, dtype=np.int32)).all() or \
                        not (upsweep.select(y, y > 0) == y[y > 0]).all():
                    wrong.append(seed)
        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_large_after_small_and_after_freeing(self):
        for n in 10, 4000, 200, 200000:
            x = some("int32", n)
            self.same(upsweep.cumsum(x), np.cumsum(x, dtype=np.int32))
            self.same(upsweep.sort(x[:4000]), np.sort(x[:4000]))
        upsweep.free_workspaces()
        self.same(upsweep.cumsum(x), np.cumsum(x, dtype=np.int32))


class Programs(unittest.TestCase):
    """Those with PyTorch or CuPy need a GPU."""
    def test_programs(self):
        programs = PROGRAM.findall(PAGE.read_text(encoding="utf-8"))
        self.assertGreaterEqual(len(programs), 2)
        ran = 0
        for program, output in programs:
            foreign = [name for name in ("torch", "cupy") if "import " + name in program]
            if foreign and (upsweep.runtime() == "emu" or not all(map(find_spec, foreign))):
                continue
            with self.subTest(program=program):
                done = subprocess.run([sys.executable, "-c", program], text=True,
                                      capture_output=True)
                self.assertEqual((done.stdout, done.stderr), (output, ""))
                ran += 1
        self.assertGreaterEqual(ran, 1)


if __name__ == "__main__":
    unittest.main()
