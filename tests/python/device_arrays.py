"""device_arrays.py -- arrays in the emulator's memory, as other libraries have them: stand-ins of
__cuda_array_interface__, DLPack, PyTorch and CuPy."""
import contextlib
import ctypes
import sys
import types
from unittest import mock

import numpy

from upsweep import _arrays, _library


class Exposed:
    """An array with __cuda_array_interface__. `changed` replaces entries of it."""

    def __init__(self, values, **changed):
        values = numpy.ascontiguousarray(values)
        used = _library.library()
        self.shape, self.dtype, self.bytes = values.shape, values.dtype, values.nbytes
        self.at, self.owner = used.allocate(values.nbytes), self
        used.copy(self.at, values.ctypes.data, values.nbytes, 1, 0)
        self.changed = changed

    def part(self, start, stop):
        """The elements start, …, stop - 1, in the same memory."""
        view = object.__new__(type(self))
        view.__dict__.update(self.__dict__, shape=(stop - start,), owner=self.owner,
                             at=self.at + start * self.dtype.itemsize,
                             bytes=(stop - start) * self.dtype.itemsize)
        return view

    def __getitem__(self, index):
        return self.part(*index.indices(self.shape[0])[:2])

    @property
    def __cuda_array_interface__(self):
        return {"shape": self.shape, "typestr": self.dtype.str, "data": (self.at, False),
                "version": 3, **self.changed}

    def numpy(self):
        values = numpy.empty(self.shape, self.dtype)
        _library.library().copy(values.ctypes.data, self.at, values.nbytes, 2, 0)
        return values

    def __del__(self):
        if self.__dict__.get("owner") is self:
            _library.library().runtime.cudaFree(self.at)


class _Managed(ctypes.Structure):
    _fields_ = [("tensor", _arrays._DLTensor), ("context", ctypes.c_void_p),
                ("deleter", ctypes.c_void_p)]


class Packed(Exposed):
    """An array that DLPack alone exports; without a deleter, as it owns nothing."""
    device = (2, 0)
    strides = None

    __cuda_array_interface__ = property()  # it has no such attribute

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, *, stream):
        self.stream = stream
        rank = len(self.shape)
        self.kept = _Managed()
        tensor = self.kept.tensor
        tensor.data, tensor.device_type, tensor.ndim = self.at - 16, self.device[0], rank
        tensor.offset, tensor.lanes = 16, 1
        tensor.kind = {"i": 0, "u": 1, "f": 2, "b": 6}[self.dtype.kind]
        tensor.bits = 8 * self.dtype.itemsize
        tensor.shape = (ctypes.c_int64 * rank)(*self.shape)
        if self.strides:
            tensor.strides = (ctypes.c_int64 * rank)(*self.strides)
        make = ctypes.pythonapi.PyCapsule_New
        make.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        make.restype = ctypes.py_object
        return make(ctypes.addressof(self.kept), b"dltensor", None)


class Tensor(Exposed):
    """What upsweep uses of torch.Tensor."""
    requires_grad, contiguous, number = False, True, 0
    __cuda_array_interface__ = property()

    def __init__(self, values):
        super().__init__(values)
        self.numpy_dtype, self.dtype = self.dtype, getattr(sys.modules["torch"], str(self.dtype))

    def data_ptr(self):
        return self.at

    def is_contiguous(self):
        return self.contiguous

    def get_device(self):
        return self.number

    @property
    def device(self):
        return "cuda:%d" % self.number if self.number >= 0 else "cpu"

    def part(self, start, stop):
        self.dtype, dtype = self.numpy_dtype, self.dtype
        view = super().part(start, stop)
        self.dtype = view.dtype = dtype
        return view

    def numpy(self):
        self.dtype, dtype = self.numpy_dtype, self.dtype
        values = super().numpy()
        self.dtype = dtype
        return values


class Dtype:
    """torch.float32, …"""

    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return "torch." + self.name


class Ndarray(Exposed):
    """What upsweep uses of cupy.ndarray; it has __cuda_array_interface__, too."""
    contiguous = True

    @property
    def flags(self):
        return types.SimpleNamespace(c_contiguous=self.contiguous)

    @property
    def data(self):
        return types.SimpleNamespace(ptr=self.at, device_id=0)


@contextlib.contextmanager
def stand_in(name, module):
    """The process has a library of this name and a GPU: upsweep's emulator is taken for it."""
    with mock.patch.dict(sys.modules, {name: module}), \
            mock.patch.dict(_arrays.arrays), \
            mock.patch.object(_library.library(), "emulated", False):
        yield module


def torch(stream):
    """A module like torch, whose current stream is this one."""
    module = types.ModuleType("torch")
    for name, _ in _arrays.CODES.values():
        setattr(module, name, Dtype(name))
    module.Tensor = Tensor
    module._C = types.SimpleNamespace(_cuda_getCurrentRawStream=lambda device: stream)
    module.empty = lambda shape, dtype, device: Tensor(numpy.zeros(shape, dtype.name))
    return stand_in("torch", module)


def cupy(stream):
    """A module like cupy."""
    module = types.ModuleType("cupy")
    module.ndarray, module.dtype = Ndarray, numpy.dtype
    module.empty = lambda shape, dtype: Ndarray(numpy.zeros(shape, dtype))
    module.cuda = types.SimpleNamespace(
        get_current_stream=lambda: types.SimpleNamespace(ptr=stream),
        Device=lambda number: contextlib.nullcontext())
    return stand_in("cupy", module)


@contextlib.contextmanager
def a_stream():
    """A stream of the runtime."""
    runtime, made = _library.library().runtime, ctypes.c_void_p()
    assert runtime.cudaStreamCreate(ctypes.byref(made)) == 0
    yield made.value
    assert runtime.cudaStreamSynchronize(made.value) == 0
