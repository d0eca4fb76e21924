"""test_arrays.py -- arrays on the device: __cuda_array_interface__, DLPack, PyTorch and CuPy. Their
memory is the emulator's; device_arrays.py has the stand-ins."""
import ctypes
import gc
import itertools
import os
import subprocess
import sys
import threading
import types
import unittest
from pathlib import Path
from unittest import mock

import numpy as np
import upsweep
from upsweep import _library

from device_arrays import Exposed, Ndarray, Packed, Tensor, a_stream, cupy, torch

X = np.random.default_rng(1).integers(-9, 9, 3000, np.int32)
SUMS = np.cumsum(X, dtype=np.int32)
KINDS = Exposed, Packed


def used():
    return _library.library()


def wait(stream):
    used().copy(None, None, 0, 1, 0, stream)


class Exported(unittest.TestCase):
    def test_every_function(self):
        mask, n = X > 3, len(X)
        f, r = X.astype("f"), np.arange(12, dtype="u1").reshape(3, 4)
        int64 = np.zeros(n, "i8")
        for kind in KINDS:
            out = kind(np.zeros_like(X))
            for call, expected in (
                    (lambda: upsweep.cumsum(kind(X), out=out), SUMS),
                    (lambda: upsweep.cumsum(kind(X.reshape(-1, 3)), 0,
                                            out=kind(np.zeros_like(X.reshape(-1, 3)))),
                     X.reshape(-1, 3).cumsum(0)),
                    (lambda: upsweep.affine_scan(kind(f * 0), kind(f), out=kind(f)), f),
                    (lambda: upsweep.segmented_cumsum(kind(X), keys=kind(X * 0), out=out), SUMS),
                    (lambda: upsweep.select(kind(X), kind(mask), out=out), X[mask]),
                    (lambda: upsweep.select(kind(X), between=(4, None), out=out), X[mask]),
                    (lambda: upsweep.nonzero(kind(mask), out=kind(int64)), np.flatnonzero(mask)),
                    (lambda: upsweep.sort(kind(X), out=out), np.sort(X)),
                    (lambda: upsweep.argsort(kind(X), out=kind(int64)),
                     np.argsort(X, kind="stable")),
                    (lambda: upsweep.summed_area_table(kind(r), out=kind(r.astype("u4"))),
                     r.cumsum(0).cumsum(1))):
                np.testing.assert_array_equal(call().numpy(), expected)

    def test_the_result_is_out(self):
        for kind in KINDS:
            x = kind(X)
            self.assertIs(upsweep.cumsum(x, out=x), x)
            np.testing.assert_array_equal(x.numpy(), SUMS)

    def test_without_out(self):
        for kind in KINDS:
            with self.assertRaisesRegex(TypeError, "cannot allocate a .*%s: pass out="
                                        % kind.__name__):
                upsweep.cumsum(kind(X))
            with self.assertRaisesRegex(TypeError, "nonzero: sync=False needs an array of NumPy,"):
                upsweep.nonzero(kind(X), out=kind(X.astype("i8")), sync=False)
        out = Exposed(X)
        sliceless = types.SimpleNamespace(
            __cuda_array_interface__=out.__cuda_array_interface__)
        with self.assertRaisesRegex(TypeError, "select: out cannot be sliced"):
            upsweep.select(Exposed(X), between=(0, 0), out=sliceless)
        np.testing.assert_array_equal(out.numpy(), X)

    def test_overlap_is_refused_and_nothing_written(self):
        n = len(X)
        for kind, shift in itertools.product(KINDS, (1, n - 2, n - 1)):
            memory = kind(np.concatenate([X, X]))
            before = memory.numpy()
            for x, out in (((0, n), (shift, n + shift)), ((shift, n + shift), (0, n))):
                x, out = memory.part(*x), memory.part(*out)
                with self.assertRaisesRegex(ValueError, "cumsum: out overlaps x"):
                    upsweep.cumsum(x, out=out)
                with self.assertRaisesRegex(ValueError, "select: out overlaps x"):
                    upsweep.select(x, between=(0, 1), out=out)
                with self.assertRaisesRegex(ValueError, "segmented_cumsum: out overlaps keys"):
                    upsweep.segmented_cumsum(kind(X), keys=x, out=out)
            marks = kind(np.zeros(2 * n, "u1"))
            with self.assertRaisesRegex(ValueError, "select: out overlaps mask"):
                upsweep.select(kind(X.astype("u1")), marks.part(0, n),
                               out=marks.part(shift, n + shift))
            for function in upsweep.sort, upsweep.argsort:
                with self.assertRaisesRegex(ValueError, "out overlaps x"):
                    function(memory.part(0, n), out=memory.part(0, n))
            with self.assertRaisesRegex(ValueError, "affine_scan: out overlaps b"):
                f = kind(np.zeros(2 * n, "f"))
                upsweep.affine_scan(kind(X.astype("f")), f.part(0, n), out=f.part(shift, n + shift))
            np.testing.assert_array_equal(memory.numpy(), before)
            x = memory.part(0, n)
            upsweep.cumsum(x, out=memory.part(n, 2 * n))  # neighbours
            np.testing.assert_array_equal(memory.part(n, 2 * n).numpy(), SUMS)

    def test_bad_interfaces(self):
        out = Exposed(np.zeros_like(X))
        for changed, error, text in (
                ({"mask": 1}, TypeError, "x has a mask"),
                ({"typestr": ">i4"}, TypeError, "x has a dtype that upsweep does not take"),
                ({"typestr": "<c8", "shape": (1500,)}, TypeError, "x has a dtype"),
                ({"typestr": "<f2"}, TypeError, "cumsum: x has dtype float16, and must have fl"),
                ({"strides": (8,), "shape": (1500,)}, ValueError, "x is not contiguous"),
                ({"strides": (-4,)}, ValueError, "x is not contiguous")):
            with self.assertRaisesRegex(error, text):
                upsweep.cumsum(Exposed(X, **changed), out=out)
        with self.assertRaisesRegex(ValueError, "out is read-only"):
            upsweep.cumsum(Exposed(X), out=Exposed(X, data=(out.at, True)))
        self.assertFalse(out.numpy().any())
        read_only = Exposed(X)
        read_only.changed = {"data": (read_only.at, True), "strides": (4,)}
        np.testing.assert_array_equal(upsweep.cumsum(read_only, out=out).numpy(), SUMS)

    def test_misaligned_arrays_are_refused_and_nothing_written(self):
        for function in upsweep.cumsum, upsweep.sort:
            for first in (True, False):  # the first call makes the workspace
                if first:
                    upsweep.free_workspaces()
                x, out = Exposed(X), Exposed(X)
                for shifted, other in (x, out), (out, x):
                    shifted.changed = {"data": (shifted.at + 2, False), "shape": (len(X) - 1,)}
                    other.changed = {"shape": (len(X) - 1,)}
                    with self.assertRaisesRegex(ValueError, "an array is not aligned to its"):
                        function(x, out=out)
                np.testing.assert_array_equal(out.numpy(), X)
                x.changed = out.changed = {}
                np.testing.assert_array_equal(function(x, out=out).numpy(),
                                              SUMS if function is upsweep.cumsum else np.sort(X))

    def test_bad_dlpack(self):
        x, out = Packed(X), Packed(np.zeros_like(X))
        x.strides = (2,)
        with self.assertRaisesRegex(ValueError, "x is not contiguous"):
            upsweep.cumsum(x, out=out)
        x.strides = (1,)
        np.testing.assert_array_equal(upsweep.cumsum(x, out=out).numpy(), SUMS)
        self.assertEqual(x.stream, 1)
        x.device = (1, 0)
        with self.assertRaisesRegex(TypeError, "x is a .*Packed that is not on a GPU"):
            upsweep.cumsum(x, out=out)

    def test_dlpack_waits(self):
        """Its owner may use the array in any stream."""
        for call in (lambda: upsweep.cumsum(Packed(X), out=Packed(X)),
                     lambda: upsweep.sort(Packed(X), out=Packed(X)),
                     lambda: upsweep.summed_area_table(Packed(X.astype("f").reshape(2, -1)),
                                                       out=Packed(X.astype("f").reshape(2, -1)))):
            call()
            with mock.patch.object(used(), "copy", wraps=used().copy) as copied:
                call()
            self.assertEqual(copied.call_args[0][2:], (0, 2, 0, 0))

    def test_no_elements(self):
        for kind in KINDS:
            x, out = kind(X[:0]), kind(X[:0])
            x.at, out.at, x.owner, out.owner = 0, 0, None, None
            self.assertIs(upsweep.cumsum(x, out=out), out)
            self.assertIs(upsweep.sort(x, out=out), out)
            self.assertEqual(upsweep.select(x, between=(0, 1), out=out).shape, (0,))

    def test_memory_of_the_host(self):
        x, out = Exposed(X), Exposed(X)
        x.changed = {"data": (X.ctypes.data, False)}
        with self.assertRaisesRegex(RuntimeError, "the memory of x is unknown to the "):
            upsweep.cumsum(x, out=out)
        np.testing.assert_array_equal(out.numpy(), X)

    def test_streams_of_the_interface(self):
        out = np.zeros_like(X)
        with a_stream() as one, a_stream() as two:
            result = upsweep.cumsum(Exposed(X, stream=one), out=Exposed(out, stream=one))
            self.assertIn(("scans", 0, one, 0), used().workspaces)
            with self.assertRaisesRegex(ValueError, "the arrays are of different streams: out"):
                upsweep.cumsum(Exposed(X, stream=one), out=Exposed(out, stream=two))
            wait(one)
            np.testing.assert_array_equal(result.numpy(), SUMS)

    def test_the_stream_of_each_thread_has_a_workspace_of_each_thread(self):
        def work():
            upsweep.cumsum(Exposed(X, stream=2), out=Exposed(X))
            threads.append(threading.get_ident())
            barrier.wait()  # a thread's number may be used again when it has ended
        threads, barrier = [], threading.Barrier(2)
        both = [threading.Thread(target=work) for _ in range(2)]
        for thread in both:
            thread.start()
        for thread in both:
            thread.join()
        for thread in threads:
            self.assertIn(("scans", 0, 2, thread), used().workspaces)
        self.assertEqual(len(set(threads)), 2)

    def test_the_current_device_is_not_the_arrays(self):
        """In a process of its own, with two emulated GPUs."""
        program = """
import ctypes, numpy, upsweep
from upsweep import _library
from device_arrays import Exposed, Tensor, torch
x = numpy.arange(3000, dtype="i4")
used = _library.library()
first, here = Exposed(x), ctypes.c_int()
assert used.devices == 2 and used.runtime.cudaSetDevice(1) == 0
assert (upsweep.cumsum(x) == x.cumsum()).all()
assert (upsweep.select(x, x > 9) == x[x > 9]).all()
upsweep.cumsum(first, out=first)
assert {key[1] for key in used.workspaces} == {0, 1}, used.workspaces
used.runtime.cudaGetDevice(ctypes.byref(here))
assert here.value == 1
assert (first.numpy() == x.cumsum()).all()
try:
    upsweep.cumsum(first, out=Exposed(x))
except ValueError as error:
    print(error)
with torch(0):
    a, b = Tensor(x), Tensor(x)
    a.number = b.number = 1
    used.runtime.cudaSetDevice(0)
    for _ in range(3):
        upsweep.cumsum(a, out=b)
    used.runtime.cudaGetDevice(ctypes.byref(here))
    assert here.value == 0
    used.runtime.cudaSetDevice(1)
    assert (b.numpy() == x.cumsum()).all()
upsweep.free_workspaces()
"""
        done = subprocess.run([sys.executable, "-c", program], text=True, capture_output=True,
                              cwd=Path(__file__).parent, env={
                                  **os.environ, "EMU_DEVICES": "2", "UPSWEEP_DEVICE": "emu"})
        self.assertEqual((done.stdout, done.stderr),
                         ("cumsum: out is on device 1, and the input on device 0\n", ""))

    def test_mixed_with_numpy(self):
        with self.assertRaisesRegex(TypeError, "out is a numpy.ndarray that is not on a GPU"):
            upsweep.cumsum(Exposed(X), out=X.copy())
        with self.assertRaisesRegex(TypeError, r"out is a device_arrays.Exposed: pass numpy"):
            upsweep.cumsum(X, out=Exposed(X))

    def test_a_workspace_is_not_allocated_while_its_stream_is_captured(self):
        x, out = Exposed(X), Exposed(X)
        runtime, graph, node = used().runtime, ctypes.c_void_p(), ctypes.c_void_p()
        with a_stream() as stream:
            x.changed = {"stream": stream}
            self.assertEqual(runtime.cudaStreamBeginCapture(ctypes.c_void_p(stream), 2), 0)
            with self.assertRaisesRegex(RuntimeError, "call it once before the capture"):
                upsweep.cumsum(x, out=out)
            end = lambda: runtime.cudaStreamEndCapture(ctypes.c_void_p(stream),
                                                       ctypes.byref(graph))
            self.assertEqual(end(), 0)
            np.testing.assert_array_equal(out.numpy(), X)
            upsweep.cumsum(x, out=out)
            used().copy(out.at, X.ctypes.data, X.nbytes, 1, 0, stream)
            self.assertEqual(runtime.cudaStreamBeginCapture(ctypes.c_void_p(stream), 2), 0)
            upsweep.cumsum(x, out=out)
            self.assertEqual(end(), 0)
            np.testing.assert_array_equal(out.numpy(), X)
            self.assertEqual(runtime.cudaGraphInstantiate(ctypes.byref(node), graph, 0), 0)
            self.assertEqual(runtime.cudaGraphLaunch(node, ctypes.c_void_p(stream)), 0)
            wait(stream)
            np.testing.assert_array_equal(out.numpy(), SUMS)

    def test_an_error_is_not_left_for_others(self):
        with self.assertRaisesRegex(RuntimeError, "allocating .* bytes .* error 2 of CUDA: out of"):
            used().allocate(2**50)
        self.assertEqual(used().runtime.cudaGetLastError(), 0)

    def test_memory_is_freed(self):
        if not used().emulated:
            self.skipTest("other processes use the GPU's memory, too")
        free, total = ctypes.c_size_t(), ctypes.c_size_t()

        def left():
            gc.collect()
            used().runtime.cudaMemGetInfo(ctypes.byref(free), ctypes.byref(total))
            return free.value
        work = lambda: (upsweep.cumsum(X), upsweep.select(X, X > 0), upsweep.argsort(X),
                        upsweep.argsort(Packed(X), out=Packed(np.zeros(len(X), "i8"))))
        work()
        before = left()
        for _ in range(3):
            work()
            with self.assertRaises(ValueError):
                upsweep.cumsum(X, out=X[1:])
        self.assertEqual(left(), before)
        upsweep.free_workspaces()
        self.assertGreater(left(), before)


class Frameworks(unittest.TestCase):
    def test_torch(self):
        with a_stream() as stream, torch(stream) as module:
            mask = X > 0
            for call, expected in (
                    (lambda: upsweep.cumsum(Tensor(X)), SUMS),
                    (lambda: upsweep.cumsum(Tensor(mask)), mask.cumsum()),
                    (lambda: upsweep.select(Tensor(X), Tensor(mask)), X[mask]),
                    (lambda: upsweep.nonzero(Tensor(X)), np.flatnonzero(X)),
                    (lambda: upsweep.argsort(Tensor(X)), np.argsort(X, kind="stable"))):
                result = call()
                self.assertIs(type(result), Tensor)
                wait(stream)
                np.testing.assert_array_equal(result.numpy(), expected)
            self.assertIs(upsweep.argsort(Tensor(X)).dtype, module.int64)
            self.assertIs(upsweep.cumsum(Tensor(mask)).dtype, module.int32)
            self.assertIn(("scans", 0, stream, 0), used().workspaces)
            self.assertIn(("sorts", 0, stream, 0), used().workspaces)
            result, count = upsweep.select(Tensor(X), Tensor(mask), sync=False)
            wait(stream)
            self.assertEqual((count.dtype, count.numpy().tolist()), (module.int64, [mask.sum()]))

    def test_out_again_and_again(self):
        """Calls with out= and nothing unusual take a shorter way."""
        with a_stream() as stream, torch(stream) as module:
            for n in 100, 3000, 300000, 5:
                x = np.resize(X, n)
                for function, dtype in itertools.product(
                        (upsweep.cumsum, upsweep.cummax), ("int32", "int64", "float64")):
                    y, ufunc = x.astype(dtype), {"cumsum": np.add}.get(function.__name__,
                                                                       np.maximum)
                    given, out = Tensor(y), Tensor(y * 0)
                    for _ in range(2):
                        self.assertIs(function(given, out=out), out)
                        wait(stream)
                        np.testing.assert_array_equal(out.numpy(),
                                                      ufunc.accumulate(y, dtype=dtype))
                    function(given, out=out, exclusive=True, reverse=True)
                    function(given, out=given)
                    wait(stream)
                    np.testing.assert_array_equal(given.numpy(), ufunc.accumulate(y, dtype=dtype))
                    np.testing.assert_array_equal(
                        out.numpy()[:-1], ufunc.accumulate(y[::-1], dtype=dtype)[-2::-1])
            small = Tensor(x.astype("i1"))
            with self.assertRaisesRegex(TypeError, "out has dtype int8, and must have int32"):
                upsweep.cumsum(small, out=small)
            with self.assertRaisesRegex(ValueError, "out overlaps x"):
                upsweep.cumsum(given[:-1], out=given[1:])
            self.assertEqual(upsweep.cumsum(given[:0], out=given[:0]).shape, (0,))
            out = Tensor(y)
            for other in given[:4], Tensor(np.zeros(6, dtype)), Tensor(y.reshape(5, 1)):
                with self.assertRaisesRegex(ValueError, "out has shape"):
                    upsweep.cumsum(given, out=other)
            out.number = 1
            with self.assertRaisesRegex(ValueError, "out is on device 1, and the input on devic"):
                upsweep.cumsum(given, out=out)
            np.testing.assert_array_equal(out.numpy(), y)

    def test_torch_refuses(self):
        with torch(0):
            x, out = Tensor(X), Tensor(X)
            for name, value, error, text in (
                    ("requires_grad", True, TypeError, r"requires a gradient.*: pass %s.detach"),
                    ("number", -1, TypeError, "%s is a PyTorch tensor on cpu: pass one on a"),
                    ("contiguous", False, ValueError, "%s is not contiguous")):
                for changed, argument in ((x, "x"), (out, "out")):
                    setattr(changed, name, value)
                    with self.assertRaisesRegex(
                            error, text.replace("%s", argument)):
                        upsweep.cumsum(x, out=out)
                    delattr(changed, name)
            out.number = 1
            with self.assertRaisesRegex(ValueError, "out is on device 1, and the input on devic"):
                upsweep.cumsum(x, out=out)
            for wrong in X, Exposed(X), 3:
                with self.assertRaisesRegex(TypeError, "out is a .*, not a PyTorch tensor"):
                    upsweep.cumsum(x, out=wrong)
            with self.assertRaisesRegex(TypeError, "cumsum: x has dtype float16, and must have"):
                upsweep.cumsum(Tensor(X.astype("f2")))
            np.testing.assert_array_equal(out.numpy(), X)

    def test_cupy(self):
        with a_stream() as stream, cupy(stream):
            result = upsweep.cumsum(Ndarray(X))
            self.assertIs(type(result), Ndarray)
            self.assertIn(("scans", 0, stream, 0), used().workspaces)
            wait(stream)
            np.testing.assert_array_equal(result.numpy(), SUMS)
            x = Ndarray(X)
            x.contiguous = False
            with self.assertRaisesRegex(ValueError, "x is not contiguous"):
                upsweep.cumsum(x)
            with self.assertRaisesRegex(TypeError, "out is a numpy.ndarray, not a CuPy array"):
                upsweep.cumsum(Ndarray(X), out=X)

    def test_a_gpu_array_beside_the_emulator(self):
        with torch(0):
            x = Tensor(X)
            used().emulated = True  # until `torch` ends
            with self.assertRaisesRegex(RuntimeError, "x is a .*, and this process uses the emul"):
                upsweep.cumsum(x)


if __name__ == "__main__":
    unittest.main()
