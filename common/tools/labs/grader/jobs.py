"""jobs.py -- compiles and runs what a student has written, in the sandbox, and says whose fault it
is if that does not end well; and how many of these jobs the machine has room for."""
import dataclasses
import os
import shutil
import signal

import sandbox
from basics import DEVICE, Fault, text_of
from sandbox import RESULTS, Command, Limits

# What became of a step of grading.
DONE = "done"
REFUSED = "refused"  # the submission's fault: it has 0 points
FAILED = "failed"  # the machine's or the grader's: it is not judged
# The submission's or the machine's. It is tried again, alone. If compiling is doubtful twice, the
# submission needs too much and has 0 points; if running is, a person has to look at it.
DOUBTFUL = "doubtful"

REPORTED = "It does not compile; the compiler's messages are in the report."
TOO_MUCH = "It does not compile: the compiler needs too much time or memory."
PTX_BYTES = 8 << 20  # that a submission may compile to
JOB_BYTES = 2 << 30  # of memory that it may use while it is compiled or run
RESULT_BYTES = 64 << 20


@dataclasses.dataclass
class Outcome:
    kind: str
    why: str = ""  # one sentence unless it is done
    content: bytes = b""  # PTX, or a stream of results
    messages: str = ""  # of the compiler


def first_line(messages):
    return messages.partition("\n")[0][:400]


def outcome_of_ending(result, messages, what):
    """Whose fault it is that `what`, the compiler or the emulator, was ended; None: it has ended by
    itself."""
    misdeed = {sandbox.OUTPUT: "leaves more bytes than any solution needs"
                               if result.descriptor == RESULTS else "prints too many messages",
               sandbox.MEMORY: "needs too much memory",
               sandbox.IDLE: "waits for something that never comes"}.get(result.ending)
    if misdeed:
        return Outcome(REFUSED, "With this file, %s %s." % (what, misdeed))
    if result.ending == sandbox.WALL:
        return Outcome(FAILED, "The time for %s is over; this machine is too busy or too slow."
                       % what)
    if result.ending == sandbox.NOT_BEGUN or result.status == 125:  # confine's own failure
        return Outcome(FAILED, "The sandbox did not start: " + first_line(messages))
    return None


def run(place, command, judge):
    result = sandbox.run(place, command)
    messages = result.outputs[2].partition(b"\0")[0].decode("utf-8", "surrogateescape")
    outcome = judge(result, messages)
    outcome.content = result.outputs[RESULTS]
    return outcome


# ---- what nvcc needs in the sandbox -------------------------------------------------------------

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


# ---- compiling -----------------------------------------------------------------------------------

def exceeded(status, messages):
    """Has a limit of a process ended the compiler or a part of it, as compile.c has it? If a
    submission says so itself, by #error, it only gets another reason."""
    signs = "died due to signal", "limit exceeded", "out of memory", "Killed"
    return 128 < status <= 128 + 64 or any(sign in messages for sign in signs)


def judge_compilation(result, messages):
    """What the compiler and the limits say about the submission. A process that was killed may have
    exceeded a limit, or the machine was short of memory."""
    exited = result.ending == sandbox.EXITED
    if exited and result.status == 0 and result.outputs[RESULTS]:
        return Outcome(DONE, messages=messages)
    if exited and result.status in (126, 127):  # what a shell says of what cannot be started
        return Outcome(FAILED, "A part of the compiler cannot be started.", messages=messages)
    if result.ending == sandbox.MEMORY or exited and exceeded(result.status, messages):
        # Which limit it was, and where, depends on the machine: the messages are left out.
        return Outcome(DOUBTFUL, TOO_MUCH)
    outcome = outcome_of_ending(result, messages, "the compiler") or Outcome(REFUSED, REPORTED)
    outcome.messages = messages
    return outcome


def compile_source(grader, source):
    """Compiles a copied source file to PTX. Without the sandbox's mounts, names are those
    outside."""
    place, facts = grader.place, grader.facts
    upcc = grader.programs + "/../cc/upcc"
    compiler, ptx, mounts = "/upcc" if grader.own else NVCC, "/tmp/lab.ptx", [(source, "/lab.cu")]
    mounts += [(upcc, "/upcc")] if grader.own else grader.toolkit.mounts()
    names = {"SOURCE": "/lab.cu", "PTX": ptx, "COMPILER": compiler}
    if place.bare:
        names["COMPILER"] = upcc if grader.own else grader.toolkit.folder + "/bin/nvcc"
        names["SOURCE"] = "lab.cu" if place.container else source
        names["PTX"] = "scratch/lab.ptx" if place.container else "%s.%d.ptx" % (source, os.getpid())
    limits = Limits(facts["addresses"], JOB_BYTES, 256 << 20, facts["file"], 64, facts["seconds"],
                    20, 300)
    command = Command([names.get(word, word) for word in facts["own" if grader.own else "nvcc"]],
                      limits, {2: facts["messages"], RESULTS: PTX_BYTES}, mounts=mounts,
                      result_file=names["PTX"])
    try:
        return run(place, command, judge_compilation)
    finally:
        if place.unprotected and os.path.lexists(names["PTX"]):
            os.unlink(names["PTX"])


# ---- running -------------------------------------------------------------------------------------

# run-lab needs 0.1 s to 3 s and 300 MB of memory. The number of warp instructions is limited by
# run-lab itself; these limits hold if a submission breaks out of the emulator.
RUN_LIMITS = Limits(4 << 30, JOB_BYTES, 1 << 20, 1 << 20, 16, 600, 120, 1800)


def judge_run(result, messages):
    """A submission can make run-lab crash or need too long, and so can the machine."""
    ended = outcome_of_ending(result, messages, "the emulator")
    if ended:
        ended.kind = DOUBTFUL if result.ending == sandbox.WALL else ended.kind
        return ended
    if result.status == 0:
        return Outcome(DONE)
    number = result.status - 128
    if number > 0:
        return Outcome(DOUBTFUL, "run-lab was ended by signal %d (%s)."
                       % (number, signal.strsignal(number)))
    return Outcome(DOUBTFUL, "run-lab failed: " + first_line(messages))


def run_ptx(grader, ptx):
    """Runs PTX on the cases of the grader's seed."""
    run_lab = grader.programs + "/run-lab"
    program, file = (run_lab, ptx) if grader.place.bare else ("/run-lab", "/lab.ptx")
    command = Command([program, str(grader.lab), file, "--seed", str(grader.seed), "--results-fd",
                       str(RESULTS)], RUN_LIMITS, {2: 1 << 14, RESULTS: RESULT_BYTES},
                      dropped=(2,), mounts=[(run_lab, "/run-lab"), (ptx, "/lab.ptx")])
    return run(grader.place, command, judge_run)


# ---- how many at a time --------------------------------------------------------------------------

def number_in(path, name=""):
    """The number behind a name in a file, or None. A file of one number has no name."""
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            return next((int(line[len(name):].split()[0]) for line in file
                         if line.startswith(name)), None)
    except (OSError, ValueError, IndexError):
        return None


def available_memory():
    """Bytes of memory that are available. Containers have limits of their own, in files of the
    second or of the first version of control groups. Their count of used bytes includes the cache
    of files, so the number of jobs may become lower than it has to be."""
    free = number_in("/proc/meminfo", "MemAvailable:")
    found = [] if free is None else [free << 10]
    for most, used in (("memory.max", "memory.current"),
                       ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes")):
        limit, now = (number_in("/sys/fs/cgroup/" + name) for name in (most, used))
        if limit is not None and now is not None:
            found.append(max(limit - now, 0))
    return min(found, default=1 << 64)


def jobs_within(processors, memory):
    """Jobs at a time: as many as there are processors, unless memory is too short for them; at
    least one."""
    return max(1, min(processors, memory // JOB_BYTES))


def jobs_here():
    return jobs_within(os.cpu_count() or 1, available_memory())
