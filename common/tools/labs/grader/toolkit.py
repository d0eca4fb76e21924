"""toolkit.py -- what nvcc needs in the sandbox: its own programs, gcc as its preprocessor, and the
headers that a lab may include."""
import os
import shutil

from basics import DEVICE, Fault, text_of

NVCC = "/cuda/bin/nvcc"  # inside

# Headers that a lab may include: those of the language and of the runtime. CUB, Thrust and
# cooperative_groups/scan.h would do the lab's work; libraries for the host are of no use.
HEADERS = """
builtin_types.h channel_descriptor.h common_functions.h
cooperative_groups.h cooperative_groups/memcpy_async.h cooperative_groups/details/async.h
cooperative_groups/details/driver_abi.h cooperative_groups/details/functional.h
cooperative_groups/details/helpers.h cooperative_groups/details/info.h
cooperative_groups/details/invoke.h cooperative_groups/details/memory.h
cooperative_groups/details/partitioning.h cooperative_groups/details/sync.h
crt cuComplex.h cuda.h cuda_awbarrier.h cuda_awbarrier_helpers.h cuda_awbarrier_primitives.h
cuda_bf16.h cuda_bf16.hpp cuda_device_runtime_api.h cuda_fp16.h cuda_fp16.hpp
cuda_pipeline.h cuda_pipeline_helpers.h cuda_pipeline_primitives.h
cuda_runtime.h cuda_runtime_api.h cuda_stdint.h device_atomic_functions.h
device_atomic_functions.hpp device_double_functions.h device_functions.h
device_launch_parameters.h device_types.h driver_functions.h driver_types.h
host_config.h host_defines.h library_types.h math_constants.h math_functions.h mma.h
nv cccl/cuda cccl/nv
sm_20_atomic_functions.h sm_20_atomic_functions.hpp sm_20_intrinsics.h sm_20_intrinsics.hpp
sm_30_intrinsics.h sm_30_intrinsics.hpp sm_32_atomic_functions.h sm_32_atomic_functions.hpp
sm_32_intrinsics.h sm_32_intrinsics.hpp sm_35_atomic_functions.h sm_35_intrinsics.h
sm_60_atomic_functions.h sm_60_atomic_functions.hpp sm_61_intrinsics.h sm_61_intrinsics.hpp
surface_indirect_functions.h surface_types.h texture_indirect_functions.h texture_types.h
vector_functions.h vector_functions.hpp vector_types.h
""".split()

# Folders that a package of the system may have put beside the C library's headers.
HIDDEN = ["/usr/include/cub", "/usr/include/thrust"]


class Toolkit:
    """`folder` is that of the CUDA toolkit, in whose folder bin nvcc stands."""

    def __init__(self, nvcc):
        found = shutil.which(nvcc)
        programs = [shutil.which(name) for name in ("gcc", "sh")]
        if found is None or not os.path.isfile(found):
            raise Fault(DEVICE, "there is no compiler %s: make setup installs one" % text_of(nvcc))
        if None in programs:
            raise Fault(DEVICE, "gcc or sh is not found in PATH: make setup installs gcc")
        self.folder = os.path.dirname(os.path.dirname(os.path.realpath(found)))
        self.gcc, self.shell = map(os.path.realpath, programs)

    def mounts(self):
        own = ["/bin", "/nvvm", *("/include/" + name for name in HEADERS)]
        pairs = [(path, path) for path in ("/usr/include", "/usr/libexec/gcc")]
        pairs += [(None, path) for path in HIDDEN if os.path.exists(path)]
        pairs += [(self.gcc, "/usr/bin/gcc"), (self.shell, "/bin/sh"), (self.shell, "/usr/bin/sh")]
        pairs += [(self.folder + name, "/cuda" + name) for name in own]
        return [pair for pair in pairs if pair[0] is None or os.path.exists(pair[0])]
