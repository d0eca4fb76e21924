"""libupsweep.so, and the CUDA runtime or the emulator below it: loaded once a process, at the first
call. Workspaces are kept here, one for each family of functions, device and stream."""
import contextlib
import ctypes
import os
import sys
import threading
from pathlib import Path

POINTER = ctypes.c_void_p
# Sizes are passed as pointers are: they are as wide, and ctypes converts them faster than c_size_t.
SIZE = ctypes.c_void_p
RUNTIME_FILE = "libcudart.so.13"
MAJOR = 1  # the library's version

# enum cudaError, enum cudaMemcpyKind, enum cudaMemoryType
INVALID_VALUE, INSUFFICIENT_DRIVER, NOT_READY = 1, 35, 600
TO_DEVICE, TO_HOST = 1, 2
ON_DEVICE, MANAGED = 2, 3
PORTABLE = 1  # cudaHostAllocPortable: for all devices
SERVES = 2**31 - 1  # calls; then a workspace must be cleared again
LEAST = 65536  # bytes of a workspace
NOT_COUNTED = 2**64 - 1  # a count that no kernel has written yet


class PointerAttributes(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("device", ctypes.c_int), ("device_pointer", POINTER),
                ("host_pointer", POINTER), ("reserved", ctypes.c_long * 8)]


# Functions of the CUDA runtime that are called from here.
RUNTIME = {
    "cudaGetDeviceCount": [ctypes.POINTER(ctypes.c_int)],
    "cudaGetDevice": [ctypes.POINTER(ctypes.c_int)],
    "cudaSetDevice": [ctypes.c_int],
    "cudaDriverGetVersion": [ctypes.POINTER(ctypes.c_int)],
    "cudaRuntimeGetVersion": [ctypes.POINTER(ctypes.c_int)],
    "cudaMalloc": [ctypes.POINTER(POINTER), ctypes.c_size_t],
    "cudaFree": [POINTER],
    "cudaHostAlloc": [ctypes.POINTER(POINTER), ctypes.c_size_t, ctypes.c_uint],
    "cudaMemcpyAsync": [POINTER, POINTER, ctypes.c_size_t, ctypes.c_int, POINTER],
    "cudaStreamSynchronize": [POINTER],
    "cudaStreamQuery": [POINTER],
    "cudaStreamIsCapturing": [POINTER, ctypes.POINTER(ctypes.c_int)],
    "cudaPointerGetAttributes": [ctypes.POINTER(PointerAttributes), POINTER],
}


def _gpus():
    """The number of GPUs that the driver sees; 0 if there is no driver."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return 0
    count = ctypes.c_int(0)
    if driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count)):
        return 0
    return count.value


def _library_file():
    """The path of libupsweep.so."""
    named = os.environ.get("UPSWEEP_LIBRARY")
    if named:
        if not os.path.isfile(named):
            raise RuntimeError("UPSWEEP_LIBRARY is %s, where there is no file: let it name"
                               " libupsweep.so" % named)
        return Path(named).absolute()
    own = Path(__file__).parent / "lib" / "libupsweep.so"
    if not own.exists():
        raise RuntimeError("libupsweep.so is missing in %s: run make library, and then"
                           " pip install ./common/tools/library/python, or set UPSWEEP_LIBRARY"
                           % own.parent)
    return own


def _emulator_file(library):
    """The path of the emulator's runtime: beside the library as it was installed, or in this
    package, or in the tree that built the library."""
    places = [library.parent / "upsweep", Path(__file__).parent / "lib" / "upsweep",
              library.parent.parent / "emu"]
    for place in places:
        if (place / RUNTIME_FILE).exists():
            return place / RUNTIME_FILE
    raise RuntimeError("the emulator, which stands in for a GPU, is missing: there is no %s in %s,"
                       " where make install puts it" % (RUNTIME_FILE, places[0]))


def _load(path, mode=ctypes.RTLD_LOCAL):
    try:
        return ctypes.CDLL(str(path), mode)
    except OSError as error:
        raise RuntimeError("%s cannot be loaded: %s" % (path, error)) from None


def _load_for_gpu(path):
    """Loads the library with NVIDIA's runtime: one that is loaded already or that the loader finds,
    or that of a Python package or of a toolkit."""
    home = os.environ.get("CUDA_HOME") or os.environ.get("CUDA_PATH") or "/usr/local/cuda"
    places = [*(os.path.join(folder, "nvidia/cu13/lib") for folder in sys.path),
              os.path.join(home, "lib64")]
    found = [place for place in places if os.path.exists(os.path.join(place, RUNTIME_FILE))]
    try:
        return ctypes.CDLL(str(path))
    except OSError as error:
        if RUNTIME_FILE not in str(error):
            raise RuntimeError("%s cannot be loaded: %s" % (path, error)) from None
    if not found:
        raise RuntimeError("%s is missing: pip install nvidia-cuda-runtime, or let CUDA_HOME name"
                           " a toolkit" % RUNTIME_FILE)
    _load(os.path.join(found[0], RUNTIME_FILE))
    return _load(path)


class Library:
    """What is loaded. `emulated` says what the functions run on."""

    def __init__(self):
        chosen = os.environ.get("UPSWEEP_DEVICE", "")
        if chosen not in ("", "cuda", "emu"):
            raise RuntimeError("UPSWEEP_DEVICE is %s: it may be cuda or emu" % chosen)
        gpus = _gpus()
        if chosen == "cuda" and not gpus:
            raise RuntimeError("UPSWEEP_DEVICE is cuda, and there is no GPU")
        self.emulated = chosen == "emu" or not gpus
        path = _library_file()
        if self.emulated:
            self.runtime = _load(_emulator_file(path), ctypes.RTLD_GLOBAL)
            self._check_emulator()
            self.lib = _load(path)
        else:
            self.lib = _load_for_gpu(path)
            self.runtime = self.lib  # dlsym also looks into what the library needs
        self._check_version(path)
        for name, types in RUNTIME.items():
            function = getattr(self.runtime, name)
            function.argtypes, function.restype = types, ctypes.c_int
        self.runtime.cudaGetErrorString.restype = ctypes.c_char_p
        self.devices = self._count_devices()
        self.workspaces = {}
        self.lock = threading.Lock()

    def _check_emulator(self):
        """The library calls the first runtime that the process has loaded for all."""
        address = lambda lib: ctypes.cast(lib.cudaGetDeviceCount, POINTER).value
        if address(ctypes.CDLL(None)) != address(self.runtime):
            raise RuntimeError("another CUDA runtime was loaded before the emulator's: use upsweep"
                               " in a process without the package that loads it (such as PyTorch)")

    def _check_version(self, path):
        try:
            version = self.lib.upsweep_version()
        except AttributeError:
            raise RuntimeError("%s is no libupsweep.so" % path) from None
        if version // 1000 != MAJOR:
            raise RuntimeError("%s has version %d.%d, and this package is for %d.x: install both"
                               " from one tree" % (path, version // 1000, version % 1000, MAJOR))
        self.lib.upsweep_clear.argtypes = [POINTER, SIZE, POINTER]

    def _count_devices(self):
        count, runtime, driver = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
        status = self.runtime.cudaGetDeviceCount(ctypes.byref(count))
        if status == INSUFFICIENT_DRIVER:
            self.runtime.cudaRuntimeGetVersion(ctypes.byref(runtime))
            self.runtime.cudaDriverGetVersion(ctypes.byref(driver))
            versions = tuple(v // part % 1000 for v in (runtime.value, driver.value)
                             for part in (1000, 10))
            raise RuntimeError("libupsweep.so was built for CUDA %d.%d, and the driver of this"
                               " machine is for %d.%d: update the driver, or build the library with"
                               " an older toolkit" % (versions[0], versions[1] % 100, versions[2],
                                                      versions[3] % 100))
        self.check(status, "CUDA")
        return count.value

    def check(self, status, what):
        """Raises what an error of CUDA means."""
        if status:
            self.runtime.cudaGetLastError()  # else the caller's next check would find it
            text = self.runtime.cudaGetErrorString(status).decode()
            raise RuntimeError("%s failed with error %d of CUDA: %s" % (what, status, text))

    def function(self, name, types):
        """A function of the library, without the arguments that all have: workspace, its bytes, and
        the stream at the end."""
        try:
            function = getattr(self.lib, "upsweep_" + name)
        except AttributeError:
            raise RuntimeError("libupsweep.so has no upsweep_%s: install the library and this"
                               " package from one tree" % name) from None
        function.argtypes = [POINTER, POINTER, *types, POINTER]
        function.restype = ctypes.c_int
        return function

    def device(self):
        """The current device."""
        if self.devices == 1:
            return 0
        number = ctypes.c_int()
        self.check(self.runtime.cudaGetDevice(ctypes.byref(number)), "cudaGetDevice")
        return number.value

    @contextlib.contextmanager
    def on(self, device):
        """Makes a device the current one."""
        before = self.device()
        if before == device:
            yield
            return
        self.check(self.runtime.cudaSetDevice(device), "cudaSetDevice")
        try:
            yield
        finally:
            self.runtime.cudaSetDevice(before)

    def allocate(self, size):
        memory = POINTER()
        self.check(self.runtime.cudaMalloc(ctypes.byref(memory), max(size, 1)),
                   "allocating %d bytes on the device" % size)
        return memory.value

    def copy(self, to, source, size, kind, device, stream=0):
        """Copies, and waits for the stream."""
        with self.on(device):
            if size:
                self.check(self.runtime.cudaMemcpyAsync(to, source, size, kind, stream), "a copy")
            self.check(self.runtime.cudaStreamSynchronize(stream), "a kernel")

    def place(self, pointer):
        """The device of memory that kernels may access; None of other memory."""
        about = PointerAttributes()
        self.check(self.runtime.cudaPointerGetAttributes(ctypes.byref(about), pointer),
                   "cudaPointerGetAttributes")
        return about.device if about.type in (ON_DEVICE, MANAGED) else None

    def workspace(self, family, device, stream, thread):
        """A workspace, made at the first call. `thread` tells threads apart in the stream that each
        has for itself."""
        with self.lock:
            return self.workspaces.setdefault((family, device, stream, thread),
                                              Workspace(self, family, device, stream))


class Workspace:
    """Memory of the functions of one family, for one stream."""

    def __init__(self, library, family, device, stream):
        self.library, self.device, self.stream = library, device, stream
        self.cleared = family is not None
        self.alone = library.devices == 1
        self.size = ctypes.c_size_t(0)
        self.size_at = ctypes.addressof(self.size)
        self.address = None
        self.left = 0  # calls before it must be cleared again
        self.lock = threading.Lock()
        self.counters = []  # places for a count that are free, in memory of the host

    def call_once(self, function, to, at, n, options):
        """Calls a scan's function, if this takes nothing else; returns whether it has succeeded."""
        with self.lock:
            if self.left and self.alone:
                self.left -= 1
                return not function(self.address, self.size_at, to, at, n, options, self.stream)

    def call(self, function, what, *arguments):
        """Calls function(workspace, bytes, *arguments, stream)."""
        with self.lock:
            if self.library.device() == self.device:
                self.call_here(function, what, arguments)
            else:
                with self.library.on(self.device):
                    self.call_here(function, what, arguments)

    def call_here(self, function, what, arguments):
        """A workspace that is too small is an invalid value to the function; then it launches
        nothing."""
        if self.left:
            self.left -= 1
            status = function(self.address, self.size_at, *arguments, self.stream)
            if status != INVALID_VALUE:
                if status:
                    self.library.check(status, what)
                return
        self.grow(function, what, arguments)
        status = function(self.address, self.size_at, *arguments, self.stream)
        if status == INVALID_VALUE:  # all else that the function refuses has been checked
            self.library.runtime.cudaGetLastError()
            raise ValueError("%s: an array is not aligned to its elements: pass a copy" % what)
        self.library.check(status, what)

    def await_count(self, count):
        """Waits until a kernel has written `count`, which was NOT_COUNTED. To wait for the kernel's
        end would take longer, and what follows in the stream comes after it in any case."""
        with contextlib.nullcontext() if self.alone else self.library.on(self.device):
            while count.value == NOT_COUNTED:
                status = self.library.runtime.cudaStreamQuery(self.stream)
                if status == NOT_READY:
                    self.library.runtime.cudaGetLastError()  # is no error
                    continue
                self.library.check(status, "a kernel")
                return

    def grow(self, function, what, arguments):
        """Makes the workspace large enough, and clears it."""
        needed, capturing = ctypes.c_size_t(0), ctypes.c_int(0)
        check, runtime = self.library.check, self.library.runtime
        check(function(None, ctypes.byref(needed), *arguments, self.stream), what)
        check(runtime.cudaStreamIsCapturing(self.stream, ctypes.byref(capturing)), what)
        if capturing.value:
            raise RuntimeError("%s needs a larger workspace, which cannot be allocated while its"
                               " stream is captured: call it once before the capture" % what)
        if needed.value > self.size.value or self.address is None:
            self.free()
            size = max(LEAST, needed.value + needed.value // 8)
            self.address = self.library.allocate(size)
            self.size.value = size
        if self.cleared:
            check(self.library.lib.upsweep_clear(self.address, self.size.value, self.stream), what)
        self.left = SERVES

    def free(self):
        """cudaFree waits until the device has done its work."""
        address, self.address, self.size.value, self.left = self.address, None, 0, 0
        self.library.check(self.library.runtime.cudaFree(address), "freeing a workspace")

    def counter(self):
        """A number in memory of the host that kernels write, so it need not be copied."""
        with self.library.on(self.device):
            memory, allocate = POINTER(), self.library.runtime.cudaHostAlloc
            self.library.check(allocate(ctypes.byref(memory), 8, PORTABLE),
                               "allocating 8 bytes of the host for a kernel")
            return ctypes.c_uint64.from_address(memory.value)


_library = None
_loading = threading.Lock()


def library():
    """The library; loads it at the first call."""
    global _library
    if _library is None:
        with _loading:
            if _library is None:
                _library = Library()
    return _library


def free_workspaces():
    """Frees the memory that calls have kept, after the work on the devices has been done."""
    used = library()
    with used.lock:
        for workspace in used.workspaces.values():
            with workspace.lock, used.on(workspace.device):
                workspace.free()
