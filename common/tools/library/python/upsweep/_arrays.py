"""What the arrays of each library are: a class each, with the same methods.

read(x, name)          pointer, dtype, shape and device of x, or an error: x is not contiguous, …
stream(device)         the stream that the caller's library uses
empty(x, shape, code)  a new array on x's device
dtypes                 from the codes of types (f32, i64, …) to the library's own dtypes
"""
import ctypes
import math
import sys

from ._library import TO_DEVICE, TO_HOST, library

# Codes of types as the C functions have them, their names in Python, and their bytes.
CODES = {"f32": ("float32", 4), "f64": ("float64", 8), "f16": ("float16", 2),
         "bf16": ("bfloat16", 2), "i8": ("int8", 1), "i16": ("int16", 2), "i32": ("int32", 4),
         "i64": ("int64", 8), "u8": ("uint8", 1), "u16": ("uint16", 2), "u32": ("uint32", 4),
         "u64": ("uint64", 8), "bool": ("bool", 1)}
KINDS = {"f": "f", "i": "i", "u": "u", "b": "bool"}  # of __cuda_array_interface__


def kind_of(x):
    name, module = type(x).__qualname__, type(x).__module__.split(".")[0]
    return name if module == "builtins" else "%s.%s" % (module, name)


def refuse_layout(name):
    raise ValueError("%s is not contiguous in C's order: pass a contiguous copy" % name)


class Arrays:
    """What all classes share."""
    host = False  # must be copied to the device
    waits = False  # a call ends when its results are there
    allocates = True

    def code(self, dtype):
        """The code of a dtype; None if it has none."""
        return next((code for code, own in self.dtypes.items() if own == dtype), None)

    def shown(self, dtype):
        return str(dtype).rsplit(".", 1)[-1]

    def first(self, x, count):
        return x[:count]

    def scratch(self, x, shape, code):
        """An array that is not needed any more when the work in the stream has been done, and its
        pointer."""
        made = self.empty(x, shape, code)
        return made, self.read(made, "scratch")[0]


class Torch(Arrays):
    def __init__(self, torch):
        self.torch = torch
        self.dtypes = {code: getattr(torch, name) for code, (name, _) in CODES.items()
                       if hasattr(torch, name)}
        # Much faster than torch.cuda.current_stream(device).cuda_stream.
        self.stream = getattr(torch._C, "_cuda_getCurrentRawStream", None) or (
            lambda device: torch.cuda.current_stream(device).cuda_stream)

    def read(self, x, name):
        try:
            if x.requires_grad:
                raise TypeError("%s requires a gradient, which upsweep does not compute: pass"
                                " %s.detach()" % (name, name))
            device = x.get_device()
            if device < 0:
                raise TypeError("%s is a PyTorch tensor on %s: pass one on a GPU, or %s.numpy()"
                                % (name, x.device, name))
            if not x.is_contiguous():
                refuse_layout(name)
            return x.data_ptr(), x.dtype, x.shape, device
        except AttributeError:
            raise TypeError("%s is a %s, not a PyTorch tensor" % (name, kind_of(x))) from None

    def empty(self, x, shape, code):
        return self.torch.empty(shape, dtype=self.dtypes[code], device=x.device)


class Cupy(Arrays):
    def __init__(self, cupy):
        self.cupy = cupy
        self.dtypes = {code: cupy.dtype(name) for code, (name, _) in CODES.items()
                       if code != "bf16"}
        self.current = cupy.cuda.get_current_stream

    def read(self, x, name):
        try:
            if not x.flags.c_contiguous:
                refuse_layout(name)
            return x.data.ptr, x.dtype, x.shape, x.data.device_id
        except AttributeError:
            raise TypeError("%s is a %s, not a CuPy array" % (name, kind_of(x))) from None

    def stream(self, device):
        return self.current().ptr

    def empty(self, x, shape, code):
        with self.cupy.cuda.Device(x.data.device_id):
            return self.cupy.empty(shape, dtype=self.dtypes[code])


class Memory:
    """An array that this package has allocated itself, to copy a NumPy array into."""

    def __init__(self, shape, dtype):
        self.shape, self.dtype, self.device = shape, dtype, library().device()
        self.bytes = CODES[dtype][1] * math.prod(shape)
        self.pointer = library().allocate(self.bytes)

    def __del__(self):
        pointer, self.pointer = getattr(self, "pointer", None), None
        if pointer:
            library().runtime.cudaFree(pointer)


class Coded(Arrays):
    """Arrays whose dtypes are codes."""
    dtypes = {code: code for code in CODES}

    def shown(self, dtype):
        return CODES[dtype][0]


class Memories(Coded):

    def read(self, x, name):
        return x.pointer, x.dtype, x.shape, x.device

    def stream(self, device):
        return 0

    def empty(self, x, shape, code):
        return Memory(shape, code)

    def first(self, x, count):
        x.shape, x.bytes = (count,), CODES[x.dtype][1] * count
        return x


class Numpy(Arrays):
    """NumPy arrays are copied to the device, and the result is copied back."""
    host = True

    def __init__(self, numpy):
        self.numpy, self.device = numpy, arrays[Memory]
        self.dtypes = {code: numpy.dtype(name) for code, (name, _) in CODES.items()
                       if code != "bf16"}

    def check(self, x, name):
        if isinstance(x, self.numpy.ma.MaskedArray):
            raise TypeError("%s has a mask, which numpy.asarray loses: pass %s.filled(VALUE), or"
                            " %s.compressed()" % (name, name, name))
        if type(x) not in (self.numpy.ndarray, self.numpy.memmap):
            raise TypeError("%s is a %s: pass numpy.asarray(%s)" % (name, kind_of(x), name))
        code = self.code(x.dtype)
        if code is None:
            raise TypeError("%s has dtype %s, which upsweep does not take" % (name, x.dtype))
        if not x.flags.c_contiguous:
            refuse_layout(name)
        return code

    def to_device(self, x, name):
        code = self.check(x, name)
        memory = Memory(x.shape, code)
        library().copy(memory.pointer, x.ctypes.data, memory.bytes, TO_DEVICE, memory.device)
        return memory

    def to_host(self, memory, out):
        """Copies a result into `out`, of which it may be only the first part, or a new array."""
        if out is None:
            out = self.numpy.empty(memory.shape, self.dtypes[memory.dtype])
        elif out.shape != memory.shape:
            out = out[:memory.shape[0]]
        library().copy(out.ctypes.data, memory.pointer, memory.bytes, TO_HOST, memory.device)
        return out


class _DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int),
                ("device", ctypes.c_int), ("ndim", ctypes.c_int), ("kind", ctypes.c_uint8),
                ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("offset", ctypes.c_uint64)]


_DL_GPU = (2, 13)  # kDLCUDA, kDLCUDAManaged
_DL_KINDS = {0: "i", 1: "u", 2: "f", 4: "bf", 6: "bool"}
_capsule = ctypes.pythonapi.PyCapsule_GetPointer
_capsule.argtypes, _capsule.restype = [ctypes.py_object, ctypes.c_char_p], ctypes.c_void_p


def _contiguous(shape, strides, size):
    """Are strides, in units of which `size` make an element, those of C's order?"""
    expected = size
    for extent, stride in zip(reversed(shape), reversed(strides)):
        if extent != 1 and stride != expected:
            return False
        expected *= extent
    return True


class Exported(Coded):
    """Arrays of any library, by __cuda_array_interface__ or DLPack: an object for each call."""
    allocates = False

    def __init__(self):
        self.streams = {}
        self.waits = False
        self.kept = []  # capsules, while their memory is used

    def read(self, x, name):
        if hasattr(x, "__cuda_array_interface__"):
            found = self._by_interface(x, name)
        elif hasattr(x, "__dlpack_device__"):
            found = self._by_dlpack(x, name)
        else:
            raise TypeError("%s is a %s, which is no array on a GPU" % (name, kind_of(x)))
        pointer, code, shape, contiguous = found
        if code not in CODES:
            raise TypeError("%s has a dtype that upsweep does not take" % name)
        if 0 not in shape and not contiguous:
            refuse_layout(name)
        device = library().place(pointer) if 0 not in shape else 0
        if device is None:
            raise RuntimeError("the memory of %s is unknown to %s" % (
                name, "the emulator, which this process uses" if library().emulated
                else "the CUDA runtime"))
        return pointer, code, shape, device

    def _by_interface(self, x, name):
        about = x.__cuda_array_interface__
        pointer, read_only = about["data"]
        if read_only and name == "out":
            raise ValueError("out is read-only")
        if about.get("mask") is not None:
            raise TypeError("%s has a mask, which upsweep does not take" % name)
        typestr, shape, strides = about["typestr"], about["shape"], about.get("strides")
        size = int(typestr[2:])
        kind = KINDS.get(typestr[1], "")
        code = kind if kind == "bool" else "%s%d" % (kind, 8 * size)
        if typestr[0] == ">":
            code = None
        if about.get("stream") is not None:
            self.streams[name] = about["stream"]
        return pointer, code, tuple(shape), strides is None or _contiguous(shape, strides, size)

    def _by_dlpack(self, x, name):
        if x.__dlpack_device__()[0] not in _DL_GPU:
            raise TypeError("%s is a %s that is not on a GPU" % (name, kind_of(x)))
        capsule = x.__dlpack__(stream=1)  # the default stream waits for what was begun
        self.kept.append(capsule)
        self.waits = True
        tensor = _DLTensor.from_address(_capsule(capsule, b"dltensor"))
        shape = tuple(tensor.shape[:tensor.ndim])
        contiguous = not tensor.strides or _contiguous(shape, tensor.strides[:tensor.ndim], 1)
        kind = _DL_KINDS.get(tensor.kind, "")
        code = kind if kind == "bool" else "%s%d" % (kind, tensor.bits)
        if tensor.lanes != 1:
            code = None
        return (tensor.data or 0) + tensor.offset, code, shape, contiguous

    def stream(self, device):
        """The stream that the arrays name; otherwise the default one."""
        if len(set(self.streams.values())) > 1:
            raise ValueError("the arrays are of different streams: %s" % ", ".join(
                "%s of %d" % item for item in sorted(self.streams.items())))
        return next(iter(self.streams.values()), 0)

    def empty(self, x, shape, code):
        raise TypeError("upsweep cannot allocate a %s: pass out=" % kind_of(x))

    def scratch(self, x, shape, code):
        self.waits = True
        made = Memory(shape, code)
        return made, made.pointer

    def wait(self, device):
        """The owner of a DLPack array may use it in any stream."""
        library().copy(None, None, 0, TO_HOST, device, self.stream(device))


# From the types of arrays to their classes; a type is added when it is met.
arrays = {Memory: Memories()}


def arrays_of(x, name):
    """The class of an array's library, for a type that is not yet known."""
    made = None
    for module, type_name, Class in (("torch", "Tensor", Torch), ("cupy", "ndarray", Cupy),
                                     ("numpy", "ndarray", Numpy)):
        found = sys.modules.get(module)
        if found is not None and isinstance(x, getattr(found, type_name, ())):
            made = next((a for a in arrays.values() if type(a) is Class), None) or Class(found)
    if made is None:
        if not (hasattr(x, "__cuda_array_interface__") or hasattr(x, "__dlpack_device__")):
            raise TypeError("%s is a %s: pass an array of NumPy, CuPy or PyTorch, or one with"
                            " __cuda_array_interface__ or __dlpack__" % (name, kind_of(x)))
        return Exported()
    if not made.host and library().emulated:
        raise RuntimeError("%s is a %s, and this process uses the emulator: pass a NumPy array"
                           % (name, kind_of(x)))
    arrays[type(x)] = made
    return made
