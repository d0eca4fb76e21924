"""What the public functions do: checks, the C function for the types, the call."""
import ctypes
import math
import operator
import sys
import threading

from ._arrays import CODES, arrays, arrays_of
from ._library import NOT_COUNTED, POINTER, SIZE, library

PER_THREAD = 2  # cudaStreamPerThread

HEADS_BYTES, HEADS_KEYS, HEADS_OFFSETS = 1, 3, 4  # enum upsweep_heads
INTERVALS_MOST = 16


class ScanOptions(ctypes.Structure):
    _fields_ = [("inclusive", ctypes.c_bool), ("reverse", ctypes.c_bool),
                ("cleared", ctypes.c_bool), ("row", ctypes.c_size_t),
                ("columns", ctypes.c_size_t), ("kind", ctypes.c_int), ("heads", POINTER),
                ("count", ctypes.c_size_t), ("initial", POINTER)]


class SelectOptions(ctypes.Structure):
    _fields_ = [("cleared", ctypes.c_bool), ("inverse", ctypes.c_bool)]


class SortOptions(ctypes.Structure):
    _fields_ = [("descending", ctypes.c_bool), ("cleared", ctypes.c_bool),
                ("begin_bit", ctypes.c_uint), ("end_bit", ctypes.c_uint)]


class Interval(ctypes.Structure):
    _fields_ = [("low", ctypes.c_uint64), ("span", ctypes.c_uint64)]


class Predicate(ctypes.Structure):
    _fields_ = [("count", ctypes.c_uint), ("interval", Interval * INTERVALS_MOST)]


# Arguments of the C functions, after the workspace and its size, and without the stream.
SCAN = [POINTER, POINTER, SIZE, POINTER]  # out, in, n, options
SCAN_TWO = SCAN_INDEXED = [POINTER, *SCAN]
SELECT = [POINTER, *SCAN_TWO]
NONZERO_TYPES = SCAN_TWO
SORT_PAIRS = [POINTER, POINTER, POINTER, POINTER, SIZE, SIZE, POINTER]
TABLE_TYPES = [POINTER, POINTER, SIZE, SIZE, ctypes.c_uint]

# The families of functions that may share a workspace; that of tables may have any content.
SCANS, SORTS, TABLES = "scans", "sorts", None


class Operation:
    """The C functions of one name, by the type of their first input.

    types: from the code of that type to the suffix of the function and to the codes that the result
    may have. A result of the first of them is allocated.
    """

    def __init__(self, name, function, arguments, types, family=SCANS, names=("x",)):
        self.name, self.function, self.arguments = name, function, arguments
        self.types, self.family, self.names = types, family, names
        self.calls = {}  # what `call` has made, by the dtypes of NumPy, CuPy and PyTorch

    def call(self, kit, dtype):
        """The C function for a dtype, the code of the dtype, and the result's codes by dtype."""
        code = kit.code(dtype)
        if code not in self.types:
            self.refuse(self.names[0], kit, dtype, self.types)
        suffix, results = self.types[code]
        results = {kit.dtypes[r]: r for r in results if r in kit.dtypes}
        if not results:
            raise TypeError("%s: %s of this version has no dtype for the result" % (
                self.name, type(kit).__name__))
        made = library().function(self.function + suffix, self.arguments), code, results
        self.calls[dtype] = made
        return made

    def refuse(self, name, kit, dtype, codes):
        raise TypeError("%s: %s has dtype %s, and must have %s" % (
            self.name, name, kit.shown(dtype), " or ".join(CODES[c][0] for c in codes)))

    def no(self, text, *values):
        """An error of the caller's."""
        return ValueError(self.name + ": " + text % values)


def same(codes):
    return {code: (code, (code,)) for code in codes.split()}


BITS = {code: ("b%d" % (8 * size), (code,)) for code, (_, size) in CODES.items()}
UNSIGNED = {"bool": "i8", "u8": "i8", "u16": "i16", "u32": "i32", "u64": "i64"}
SMALL = {"i8": ("i8", ("i32",)), "bool": ("i8", ("i32",)), "i16": ("i16", ("i32",))}
KEYS = {code: "u8" if code == "bool" else code for code in CODES}
INDICES, INDICES32 = ("i64", "u64"), ("i32", "u32")

CUMSUM = Operation("cumsum", "scan_sum_", SCAN, {**same("f32 f64 i32 i64 u32 u64"), **SMALL})
CUMPROD = Operation("cumprod", "scan_product_", SCAN, same("f32 f64 i64 u64"))
# Without and with indices.
CUMMAX = (Operation("cummax", "scan_max_", SCAN, same("f32 f64 i32 i64")),
          Operation("cummax", "scan_argmax_", SCAN_INDEXED, same("f32 f64 i32 i64")))
CUMMIN = (Operation("cummin", "scan_min_", SCAN, same("f32 f64 i32 i64")),
          Operation("cummin", "scan_argmin_", SCAN_INDEXED, same("f32 f64 i32 i64")))
LOGCUMSUMEXP = Operation("logcumsumexp", "scan_logsumexp_", SCAN, same("f32 f64"))
AFFINE = Operation("affine_scan", "scan_affine_", SCAN_TWO, same("f32 f64"), names=("a", "b"))
SEGMENTED = Operation("segmented_cumsum", "scan_sum_", SCAN, same("f32 f64 i32 i64 u32 u64"),
                      names=("x", "flags", "keys", "offsets"))
SELECT_BETWEEN = Operation("select", "select_", SELECT, same("f32 f64 i32 i64"))
SELECT_MASK = Operation("select", "select_flagged_", SELECT, BITS, names=("x", "mask"))
NONZERO = Operation("nonzero", "nonzero_", NONZERO_TYPES, {
    code: (UNSIGNED.get(code, code), INDICES) for code in CODES})
SORT = Operation("sort", "sort_keys_", SCAN, {
    code: (key, (code,)) for code, key in KEYS.items()}, SORTS)
ARGSORT = Operation("argsort", "sort_pairs_", SORT_PAIRS, {
    code: (key, INDICES + INDICES32) for code, key in KEYS.items()}, SORTS)
TABLE = Operation("summed_area_table", "table_", TABLE_TYPES, {
    "u8": ("u8", ("u32",)), "u16": ("u16", ("u32",)), "f32": ("f32", ("f32",))}, TABLES,
    names=("image",))


# ---- numbers ------------------------------------------------------------------------------------

_SCALARS = {"f32": ctypes.c_float, "f64": ctypes.c_double, "i32": ctypes.c_int32,
            "i64": ctypes.c_int64, "u32": ctypes.c_uint32, "u64": ctypes.c_uint64}


def limits(code):
    """The least and the largest number of a type."""
    if code[0] == "f":
        return -math.inf, math.inf
    bits = 8 * CODES[code][1]
    return (-2**(bits - 1), 2**(bits - 1) - 1) if code[0] == "i" else (0, 2**bits - 1)


def number(operation, name, value, code):
    """A number of the caller's in the type `code`, as one of C."""
    real = code[0] == "f"
    try:
        if isinstance(value, (str, bytes, bytearray)):  # float() would read them
            raise TypeError
        value = float(value) if real else operator.index(value)
    except (TypeError, ValueError):
        raise TypeError("%s: %s has %r, which is no %s" % (
            operation.name, name, value, "number" if real else "integer")) from None
    except OverflowError:
        raise operation.no("%s is too large for %s", name, CODES[code][0]) from None
    if real:
        return _SCALARS[code](value)
    low, high = limits(code)
    if not low <= value <= high:
        raise operation.no("%s has %d, which is no %s", name, value, CODES[code][0])
    return _SCALARS[code](value)


def key(value, code):
    """The unsigned number of select.h that stands for a number of C."""
    bits = int.from_bytes(bytes(value), sys.byteorder)
    sign = 1 << (8 * CODES[code][1] - 1)
    if code[0] == "f" and bits & sign:
        return bits ^ (2 * sign - 1)
    return bits ^ sign


def predicate(operation, between, code):
    """low <= x <= high, where None is no bound."""
    try:
        low, high = between
    except (TypeError, ValueError):
        raise operation.no("between is %r, and must be a pair (low, high)", between) from None
    ends = limits(code)
    low, high = (number(operation, "between", end if value is None else value, code)
                 for value, end in zip((low, high), ends))
    if low.value != low.value or high.value != high.value:
        raise operation.no("a bound of between is NaN")
    if low.value == 0:  # -0 is just below 0, and equal to it
        low = type(low)(-0.0 if code[0] == "f" else 0)
    if high.value == 0:
        high = type(high)(0)
    first, last = key(low, code), key(high, code)
    return Predicate(first <= last, (Interval * INTERVALS_MOST)(Interval(first, last - first)))


# ---- checks -------------------------------------------------------------------------------------

def check_result(operation, kit, out, results, shape, device):
    """Reads `out`; returns its pointer and the code of its type."""
    to, dtype, own_shape, own_device = kit.read(out, "out")
    if dtype not in results:
        operation.refuse("out", kit, dtype, results.values())
    if own_shape != shape:
        raise operation.no("out has shape %s, and must have %s", tuple(own_shape), tuple(shape))
    if own_device != device and 0 not in shape:
        raise operation.no("out is on device %d, and the input on device %d", own_device, device)
    return to, results[dtype]


def check_input(operation, kit, x, name, shape, device, codes):
    """Reads an input beside the first one; returns its pointer."""
    at, dtype, own_shape, own_device = kit.read(x, name)
    if kit.code(dtype) not in codes:
        operation.refuse(name, kit, dtype, codes)
    if own_shape != shape:
        raise operation.no("%s has shape %s, and must have %s", name, tuple(own_shape),
                           tuple(shape))
    if own_device != device and 0 not in shape:
        raise operation.no("%s is on device %d, and %s on device %d", name, own_device,
                           operation.names[0], device)
    return at


def check_apart(operation, name, at, size, to, to_size):
    if at < to + to_size and to < at + size:
        raise operation.no("out overlaps %s", name)


def length(operation, shape):
    """The number of elements of an array of one dimension."""
    if len(shape) != 1:
        name = operation.names[0]
        raise operation.no("%s has %d dimensions, and must have 1: pass %s.reshape(-1)", name,
                           len(shape), name)
    return shape[0]


# ---- calls --------------------------------------------------------------------------------------

def run(operation, core, inputs, out, *parameters):
    """Calls core with the arrays, or with copies of NumPy arrays on the device."""
    first = inputs[0]
    kit = arrays.get(type(first)) or arrays_of(first, operation.names[0])
    if not kit.host:
        return core(operation, kit, inputs, out, *parameters)
    outs = out if type(out) is tuple else (out, None)
    for array in outs:
        if array is not None:
            kit.check(array, "out")
            if not array.flags.writeable:
                raise operation.no("out is read-only")
    copies = [x if x is None and core is segmented else kit.to_device(x, name)
              for x, name in zip(inputs, operation.names)]
    to = tuple(None if array is None else kit.to_device(array, "out") for array in outs)
    result = core(operation, kit.device, copies, to if out is outs else to[0], *parameters)
    if type(result) is tuple:  # an array, and how many of its elements count or their indices
        return tuple(kit.to_host(memory, array) for memory, array in zip(result, outs))
    return kit.to_host(result, out)


def workspace_of(operation, kit, device):
    """The workspace for the caller's current stream."""
    used = library()
    stream = kit.stream(device)
    thread = threading.get_ident() if stream == PER_THREAD else 0
    place = operation.family, device, stream, thread
    return used.workspaces.get(place) or used.workspace(*place)


def launch(operation, kit, device, function, *arguments):
    workspace_of(operation, kit, device).call(function, operation.name, *arguments)
    if kit.waits:
        kit.wait(device)


def result_of(operation, kit, x, out, results, shape, device):
    """The result: `out`, or a new array; its pointer, and the code of its type."""
    if out is None:
        out = kit.empty(x, shape, next(iter(results.values())))
    return (out, *check_result(operation, kit, out, results, shape, device))


def first_of(operation, kit, inputs):
    """The first input, its pointer, shape and device, and what `call` gives for its dtype."""
    x = inputs[0]
    at, dtype, shape, device = kit.read(x, operation.names[0])
    return (x, at, shape, device, *(operation.calls.get(dtype) or operation.call(kit, dtype)))


UNKNOWN: tuple = None, "", {}  # what stands for a dtype that no call has had before
_options: dict = {}  # of scans, by what they say; no call changes them


def scan_options(exclusive, reverse, row=0, columns=0):
    """The options of a scan, which are kept, and their address."""
    what = exclusive, reverse, row, columns
    if what not in _options:
        if len(_options) > 1000:
            _options.clear()
        options = ScanOptions(inclusive=not exclusive, reverse=reverse, cleared=True, row=row,
                              columns=columns)
        _options[what] = options, ctypes.addressof(options)
    return _options[what]


PLAIN = {(e, r): scan_options(e, r) for e in (False, True) for r in (False, True)}
SELECTING = SelectOptions(cleared=True)
SELECTING_AT = ctypes.addressof(SELECTING)
SORTING = [SortOptions(descending=descending, cleared=True) for descending in (False, True)]
SORTING_AT = [ctypes.addressof(options) for options in SORTING]


def layout(operation, shape, axis):
    """n, the result's shape, and row and columns of the options."""
    n, rank = math.prod(shape), len(shape)
    if axis is None:
        return n, (n,), 0, 0
    axis = operator.index(axis)
    if not -rank <= axis < rank:
        raise operation.no("axis is %d, and %s has %d dimensions", axis, operation.names[0], rank)
    axis %= rank
    if rank == 1 or n == 0:
        return n, shape, 0, 0
    if axis == rank - 1:
        return n, shape, shape[-1], 0
    if axis == 0:
        return n, shape, 0, n // shape[0]
    raise operation.no("axis is %d of %d, and may be the first or the last one", axis, rank)


def scan_plainly(operation, x, out, axis, exclusive, reverse, initial):
    """A scan of one array. If all of it and `out` are as they usually are, the call is made here:
    it is to cost Python less time than the launch. Everything else is done by `scan`."""
    kit = arrays.get(type(x))
    if out is not None and axis is None and initial is None and kit is not None and not kit.host:
        at, dtype, shape, device = kit.read(x, "x")
        to, out_dtype, out_shape, out_device = kit.read(out, "out")
        function, code, results = operation.calls.get(dtype, UNKNOWN)
        if results.get(out_dtype) == code and out_shape == shape and out_device == device and (
                len(shape) == 1):
            n = shape[0]
            size = n * CODES[code][1]
            stream = kit.stream(device)
            workspace = library().workspaces.get((operation.family, device, stream, 0))
            if n and workspace is not None and (at == to or at >= to + size or to >= at + size):
                options_at = PLAIN[bool(exclusive), bool(reverse)][1]
                if workspace.call_once(function, to, at, n, options_at):
                    return out
    return run(operation, scan, (x,), out, axis, exclusive, reverse, initial)


def scan(operation, kit, inputs, out, axis, exclusive, reverse, initial, heads=None, held=()):
    """Every scan. inputs: the arrays that are scanned. heads: kind, address and number of what
    begins a new sequence; held: name, address and bytes of that array."""
    x, at, shape, device, function, code, results = first_of(operation, kit, inputs)
    exclusive, reverse = bool(exclusive), bool(reverse)
    if len(shape) == 1 and axis is None:
        n = shape[0]
        options, options_at = PLAIN[exclusive, reverse]
    else:
        n, shape, row, columns = layout(operation, shape, axis)
        options, options_at = scan_options(exclusive, reverse, row, columns)
    out, to, result = result_of(operation, kit, x, out, results, shape, device)
    if code != result and (reverse or initial is not None or options.row or options.columns):
        raise operation.no("%s has no axis, reverse and initial: convert it to int32",
                           CODES[code][0])
    pointers = [to, at]
    if len(inputs) > 1:
        pointers.append(check_input(operation, kit, inputs[1], operation.names[1], shape, device,
                                    (code,)))
    size, to_size = n * CODES[code][1], n * CODES[result][1]
    for name, pointer in zip(operation.names, pointers[1:]):
        if pointer != to or size != to_size:
            check_apart(operation, name, pointer, size, to, to_size)
    if held:
        check_apart(operation, *held, to, to_size)
    if n == 0:
        return out
    if initial is not None or heads:
        options = ScanOptions(options.inclusive, options.reverse, True, options.row,
                              options.columns, *(heads or (0, None, 0)))
        if initial is not None:
            first = number(operation, "initial", initial, result)
            options.initial = ctypes.addressof(first)
        options_at = ctypes.addressof(options)
    launch(operation, kit, device, function, *pointers, n, options_at)
    return out


def extreme(operations, x, out, axis, exclusive, reverse, initial, indices):
    """cummax and cummin: operations without and with indices."""
    if not indices:
        return scan_plainly(operations[0], x, out, axis, exclusive, reverse, initial)
    operation = operations[1]
    if initial is not None:
        raise operation.no("initial has no index: leave out initial or indices")
    if out is not None:
        try:
            values, places = out
        except (TypeError, ValueError):
            raise operation.no("with indices, out must be a pair of arrays: values, indices"
                               ) from None
        out = values, places
    return run(operation, indexed, (x,), out, axis, exclusive, reverse)


def indexed(operation, kit, inputs, out, axis, exclusive, reverse):
    """A scan that returns two arrays: values, and their indices. out: both, or None."""
    x, at, shape, device, function, code, results = first_of(operation, kit, inputs)
    n, shape, row, columns = layout(operation, shape, axis)
    if CODES[code][1] == 4 and n >= 2**32:
        raise operation.no("x has %d elements, and may have 2^32 - 1 with indices", n)
    values, places = out or (None, None)
    values, to, _ = result_of(operation, kit, x, values, results, shape, device)
    places, to_places, _ = result_of(operation, kit, x, places, {kit.dtypes["i64"]: "i64"}, shape,
                                     device)
    size, places_size = n * CODES[code][1], n * CODES["i64"][1]
    if at != to:
        check_apart(operation, "x", at, size, to, size)
    check_apart(operation, "x", at, size, to_places, places_size)
    check_apart(operation, "its other array", to, size, to_places, places_size)
    if n:
        options_at = scan_options(bool(exclusive), bool(reverse), row, columns)[1]
        launch(operation, kit, device, function, to, to_places, at, n, options_at)
    return values, places


def segmented(operation, kit, inputs, out, exclusive, reverse):
    """A scan of sequences. inputs: x, and flags, keys or offsets; two of them are None."""
    x = inputs[0]
    given = [(name, array) for name, array in zip(operation.names[1:], inputs[1:])
             if array is not None]
    if len(given) != 1:
        raise operation.no("pass one of flags, keys and offsets; %d were passed", len(given))
    name, array = given[0]
    shape, device = kit.read(x, "x")[2:]
    count = length(operation, shape)
    kind, codes = {"flags": (HEADS_BYTES, ("bool", "u8")), "keys": (HEADS_KEYS, ("i32",)),
                   "offsets": (HEADS_OFFSETS, ("i64",))}[name]
    if name == "offsets":
        shape = kit.read(array, name)[2]
        if len(shape) != 1:
            raise operation.no("offsets has %d dimensions, and must have 1", len(shape))
        count = shape[0]
    at = check_input(operation, kit, array, name, shape, device, codes)
    heads = (kind, at, count if name == "offsets" else 0) if count else None
    return scan(operation, kit, inputs[:1], out, None, exclusive, reverse, None, heads,
                (name, at, count * CODES[codes[-1]][1]))


def counted(operation, kit, x, out, n, device, sync, function, *arguments):
    """Calls a function that counts what it keeps in an array of its own. sync: waits, and returns
    the part of `out` that holds results. Otherwise returns `out` and the count on the device."""
    if sync and not kit.allocates and not hasattr(out, "__getitem__"):
        raise TypeError("%s: out cannot be sliced, so its first part cannot be returned"
                        % operation.name)
    if sync and n == 0:
        return kit.first(out, 0)
    workspace = workspace_of(operation, kit, device)
    if sync:
        try:
            kept = workspace.counters.pop()
        except IndexError:  # a question before it would let another thread take the last one
            kept = workspace.counter()
        counter, kept.value = ctypes.addressof(kept), NOT_COUNTED
    elif not kit.allocates:
        raise TypeError("%s: sync=False needs an array of NumPy, CuPy or PyTorch" % operation.name)
    else:
        count = kit.empty(x, (1,), "i64")
        counter = kit.read(count, "count")[0]
    workspace.call(function, operation.name, arguments[0], counter, *arguments[1:], n,
                   SELECTING_AT)
    if not sync:
        return out, count
    workspace.await_count(kept)
    if kit.waits:
        kit.wait(device)
    count = kept.value
    workspace.counters.append(kept)
    return kit.first(out, count)


def select(operation, kit, inputs, out, between, sync):
    """inputs: x, and for SELECT_MASK the mask."""
    x, at, shape, device, function, code, results = first_of(operation, kit, inputs)
    n = math.prod(shape)
    if len(inputs) > 1:
        by = check_input(operation, kit, inputs[1], "mask", shape, device, ("bool", "u8"))
    else:
        chosen = predicate(operation, between, code)
        by = ctypes.addressof(chosen)
    out, to, _ = result_of(operation, kit, x, out, results, (n,), device)
    size = n * CODES[code][1]
    check_apart(operation, "x", at, size, to, size)
    if len(inputs) > 1:
        check_apart(operation, "mask", by, n, to, size)
    return counted(operation, kit, x, out, n, device, sync, function, to, at, by)


def nonzero(operation, kit, inputs, out, sync):
    x, at, shape, device, function, code, results = first_of(operation, kit, inputs)
    n = math.prod(shape)
    out, to, result = result_of(operation, kit, x, out, results, (n,), device)
    check_apart(operation, "x", at, n * CODES[code][1], to, n * CODES[result][1])
    return counted(operation, kit, x, out, n, device, sync, function, to, at)


def sort(operation, kit, inputs, out, descending, indices):
    """Sorts keys, or their indices."""
    x, at, shape, device, function, code, results = first_of(operation, kit, inputs)
    n = length(operation, shape)
    if indices and n >= 2**32:
        raise operation.no("x has %d elements, and may have 2^32 - 1", n)
    out, to, result = result_of(operation, kit, x, out, results, shape, device)
    size, to_size = n * CODES[code][1], n * CODES[result][1]
    check_apart(operation, "x", at, size, to, to_size)
    if n:
        arguments = [to, at]
        if indices:
            keys, keys_at = kit.scratch(x, shape, code)
            arguments = [keys_at, to, at, None, CODES[result][1]]
        launch(operation, kit, device, function, *arguments, n, SORTING_AT[bool(descending)])
    return out


def table(operation, kit, inputs, out):
    x, at, shape, device, function, code, results = first_of(operation, kit, inputs)
    if len(shape) not in (2, 3) or len(shape) == 3 and shape[2] not in (1, 3, 4):
        raise operation.no("image has shape %s, and must have (height, width), or (height, width,"
                           " channels) with 1, 3 or 4 channels", tuple(shape))
    n = math.prod(shape)
    out, to, result = result_of(operation, kit, x, out, results, shape, device)
    check_apart(operation, "image", at, n * CODES[code][1], to, n * CODES[result][1])
    if n:
        launch(operation, kit, device, function, to, at, shape[1], shape[0],
               shape[2] if len(shape) == 3 else 1)
    return out
