"""Upsweep: scans (prefix sums), selections and sorts on a GPU.

Arrays are of NumPy, CuPy or PyTorch, or of any library with `__cuda_array_interface__` or DLPack.
Those on a GPU are used where they are, in the current stream of CuPy or PyTorch; no function waits,
unless it says so. For another library's arrays, that is the stream that their interface names, or
the default one; for DLPack the call waits. NumPy arrays are copied to the device and back. Without
a GPU the functions run in Upsweep's emulator, which is exact and slow, and take NumPy arrays. The
choice is made at the first call: `runtime()`; UPSWEEP_DEVICE=cuda or emu makes it in the
environment.

All arrays of a call are of one library, contiguous in C's order, and on one device. `out` is an
array for the result: of the dtype, shape and device that the result would have. It is returned.
Scans may write into their input (`out=x`); otherwise arrays do not overlap, unless they are of
NumPy, which are copied. Without `out` the result is allocated by the library of the input.

Errors: TypeError for a wrong kind of array or dtype, ValueError for a wrong shape, value or layout,
RuntimeError for errors of CUDA, and if the library, the emulator or memory is missing. Nothing is
written then, unless CUDA failed.

Each stream has a workspace, which grows by the first call that needs a larger one. A CUDA graph
that has captured calls uses the workspace of the stream that was captured: call a function once
before the capture with as many elements, and later use that stream for no larger arrays.
"""
from typing import Any, Optional, Tuple, TypeVar

from . import _calls, _library
from ._calls import run as _run
from ._calls import scan_plainly as _scan

__version__ = "1.0"
__all__ = ["affine_scan", "argsort", "cummax", "cummin", "cumprod", "cumsum", "free_workspaces",
           "logcumsumexp", "nonzero", "runtime", "segmented_cumsum", "select", "sort",
           "summed_area_table"]

Array = TypeVar("Array")


def runtime() -> str:
    """What the functions run on in this process: "cuda" (a GPU) or "emu" (the emulator)."""
    return "emu" if _library.library().emulated else "cuda"


def load_ipython_extension(shell: Any) -> None:
    """%load_ext upsweep: the magic emu, which compiles and runs a cell of CUDA C."""
    from ._emu import emu
    shell.register_magic_function(emu, "line_cell")


def free_workspaces() -> None:
    """Waits for the devices, and frees the workspaces that calls have kept."""
    _library.free_workspaces()


def cumsum(x: Array, axis: Optional[int] = None, *, exclusive: bool = False, reverse: bool = False,
           initial: Any = None, out: Optional[Array] = None) -> Array:
    """Prefix sums: result[i] = x[0] + … + x[i].

    x          float32, float64, int32, int64, uint32 or uint64; int8, int16 and bool in one
               dimension and forwards.
    axis       None: all elements in C's order, and the result has one dimension. Otherwise the
               first or the last axis.
    exclusive  result[i] = x[0] + … + x[i - 1], and result[0] = 0.
    reverse    From the last element to the first: result[i] = x[i] + … + x[n - 1].
    initial    A number that is added to all results.
    out        An array for the result; may be x.

    The result has x's dtype; that of int8, int16 and bool is int32. So int32 is not widened to
    int64, as NumPy and PyTorch do: sums of integers are modulo 2^32 or 2^64. Sums of floats are
    bitwise identical in every run.
    """
    return _scan(_calls.CUMSUM, x, out, axis, exclusive, reverse, initial)


def cumprod(x: Array, axis: Optional[int] = None, *, exclusive: bool = False,
            reverse: bool = False, initial: Any = None, out: Optional[Array] = None) -> Array:
    """Prefix products, of float32, float64, int64 or uint64; as cumsum otherwise. The exclusive
    product of no elements is 1."""
    return _scan(_calls.CUMPROD, x, out, axis, exclusive, reverse, initial)


def cummax(x: Array, axis: Optional[int] = None, *, exclusive: bool = False, reverse: bool = False,
           initial: Any = None, indices: bool = False, out: Any = None) -> Any:
    """The largest element so far, of float32, float64, int32 or int64; as cumsum otherwise.

    indices  Returns a pair, as torch.cummax does: the result, and the indices of the elements along
             the axis, as int64. Of equal elements, and of NaNs, it is the last. `out` is a pair,
             too, and `initial` must not be passed.

    From a NaN on, the result is NaN. Of no elements it is -inf, or the least integer, and the index
    -1.
    """
    return _calls.extreme(_calls.CUMMAX, x, out, axis, exclusive, reverse, initial, indices)


def cummin(x: Array, axis: Optional[int] = None, *, exclusive: bool = False, reverse: bool = False,
           initial: Any = None, indices: bool = False, out: Any = None) -> Any:
    """The smallest element so far: as cummax. Of no elements it is inf, or the largest integer."""
    return _calls.extreme(_calls.CUMMIN, x, out, axis, exclusive, reverse, initial, indices)


def logcumsumexp(x: Array, axis: Optional[int] = None, *, exclusive: bool = False,
                 reverse: bool = False, initial: Any = None, out: Optional[Array] = None) -> Array:
    """log(exp(x[0]) + … + exp(x[i])), of float32 or float64, without overflow; as cumsum otherwise.
    From a NaN on, the result is NaN. Of no elements it is -inf."""
    return _scan(_calls.LOGCUMSUMEXP, x, out, axis, exclusive, reverse, initial)


def affine_scan(a: Array, b: Array, axis: Optional[int] = None, *, exclusive: bool = False,
                reverse: bool = False, initial: Any = None, out: Optional[Array] = None) -> Array:
    """The recurrence h[i] = a[i] h[i - 1] + b[i], from h = initial (0) on.

    a, b   float32 or float64, of one dtype and shape. They and the products of neighbouring a must
           be finite, because maps are combined before h is known.
    out    May be a or b. The other arguments are as those of cumsum; exclusive: result[i] is
           h[i - 1].
    """
    return _run(_calls.AFFINE, _calls.scan, (a, b), out, axis, exclusive, reverse, initial)


def segmented_cumsum(x: Array, *, flags: Any = None, keys: Any = None, offsets: Any = None,
                     exclusive: bool = False, reverse: bool = False,
                     out: Optional[Array] = None) -> Array:
    """Prefix sums of sequences of any lengths, which stand in x one after the other.

    x        One dimension; float32, float64, int32, int64, uint32 or uint64.
    flags    bool or uint8, of x's shape: not 0 at the first element of a sequence.
    keys     int32, of x's shape: neighbours with equal keys are of one sequence.
    offsets  int64, of any length: the indices of first elements, in any order. Those below 0, at n
             and beyond are passed over.

    Exactly one of flags, keys and offsets is passed. Element 0 begins a sequence in any case.
    exclusive, reverse and out are as those of cumsum.
    """
    return _run(_calls.SEGMENTED, _calls.segmented, (x, flags, keys, offsets), out, exclusive,
                reverse)


def select(x: Array, mask: Any = None, *, between: Optional[Tuple[Any, Any]] = None,
           sync: bool = True, out: Optional[Array] = None) -> Any:
    """The elements that are kept, in their order: x[mask], or those with low <= x <= high.

    x        Any shape; its elements are taken in C's order. With `between` float32, float64, int32
             or int64; with a mask any dtype of 1 to 8 bytes.
    mask     bool or uint8, of x's shape: not 0 where an element is kept.
    between  (low, high), instead of a mask; None is no bound. NaN is not kept.
    sync     True: waits for the number of elements that were kept, and returns these: a part of
             `out`, or of an array of x.size elements. Copy it to free the rest.
             False: does not wait. Returns the array of x.size elements, of which those behind the
             kept ones are undefined, and an array of one int64 on the device: the number.
    out      One dimension, x.size elements; not x.
    """
    if (mask is None) == (between is None):
        raise ValueError("select: pass one of mask and between")
    if mask is None:
        return _run(_calls.SELECT_BETWEEN, _calls.select, (x,), out, between, sync)
    return _run(_calls.SELECT_MASK, _calls.select, (x, mask), out, None, sync)


def nonzero(x: Array, *, sync: bool = True, out: Optional[Array] = None) -> Any:
    """The indices of the elements that are not 0, ascending, as int64: numpy.flatnonzero(x).

    x        Any shape and any real dtype. Indices count its elements in C's order. -0.0 is 0, and
             NaN is not.
    sync     As for select.
    out      One dimension, x.size elements of int64 or uint64.
    """
    return _run(_calls.NONZERO, _calls.nonzero, (x,), out, sync)


def sort(x: Array, *, descending: bool = False, out: Optional[Array] = None) -> Array:
    """The elements of x in order.

    x    One dimension, any real dtype.
    out  Not x.

    Floats are in the order of their bits: NaN with the sign bit set, -inf, …, -0, 0, …, inf, NaN.
    For NumPy and PyTorch, -0 equals 0, and each NaN comes last.
    """
    return _run(_calls.SORT, _calls.sort, (x,), out, descending, False)


def argsort(x: Array, *, descending: bool = False, out: Optional[Array] = None) -> Array:
    """The indices that sort x, as int64; equal elements keep their order, also if descending.

    x    As for sort; fewer than 2^32 elements.
    out  int64 or uint64; or int32 or uint32, which is faster.
    """
    return _run(_calls.ARGSORT, _calls.sort, (x,), out, descending, True)


def summed_area_table(image: Array, *, out: Optional[Array] = None) -> Array:
    """table[y, x]: the sum of all pixels image[:y + 1, :x + 1], for each channel by itself.

    image  (height, width), or (height, width, channels) with 1, 3 or 4 channels; uint8, uint16 or
           float32.

    The result has the image's shape. Sums of uint8 and uint16 are uint32, modulo 2^32; those of
    float32 are float32.
    """
    return _run(_calls.TABLE, _calls.table, (image,), out)
