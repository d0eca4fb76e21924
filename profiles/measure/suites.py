#!/usr/bin/env python3
"""suites.py -- runs test suites that others wrote, on the emulator, and counts how tests ended.

usage: profiles/measure/suites.py [SUITE...]    writes build/profiles/suites.csv; default: all

Needs `make build/emu/emu`, nvcc, and pip with a network. Each package gets an environment in
build/suites, and its tests run there file by file, each at most LIMIT seconds. A row counts tests
that ended in the same way for the same reason: passed, skipped, failed, refused (the emulator has
said that it does not support something). A file that was cut, or whose process ended, counts as
one. The file keeps the rows of other suites; profiles/suites.csv is a copy.
"""
import collections
import csv
import datetime
import glob
import os
import platform
import subprocess
import sys
import tarfile

TOP = os.path.normpath(os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", ".."))
EMU, FOLDER = os.path.join(TOP, "build/emu/emu"), os.path.join(TOP, "build/suites")
WRITTEN = os.path.join(TOP, "build/profiles/suites.csv")
LIMIT = 600

# What makes packages hand over PTX: see notes/more/driver.md.
FOR_NUMBA = ("import cuda.bindings._internal.nvjitlink as nvjitlink\n"
             "nvjitlink._inspect_function_pointer = lambda name: 0\n")
FOR_PYCUDA = ("import functools, pycuda.compiler as c\n"
              "c.compile = functools.partial(c.compile, target='ptx')\n")
# Names that NumPy has given up, which scikit-cuda uses.
FOR_OLD_NUMPY = ("import numpy\n"
                 "numpy.float, numpy.complex = float, complex\n"
                 "numpy.typeDict = {c: numpy.dtype(c).type for c in numpy.typecodes['All']}\n")
NUMBA = "numba-cuda[cu13]==0.30.4 numba==0.68.1 cuda-bindings==13.0.3 cuda-toolkit==13.5.0"
TESTED = NUMBA + " filecheck==1.0.6 psutil==7.2.2 cffi==2.1.1 ml_dtypes==0.6.0"
PYCUDA = "pycuda==2026.1 numpy==2.4.6"
INSTALLED = "lib/python3*/site-packages/numba_cuda/numba/cuda/tests/"
# Packages; the source archive that has the tests, or "" if they are installed; the files of tests,
# without those of several GPUs; how each process of Python begins.
SUITES = {
    "numba-cudadrv": (TESTED, "", INSTALLED + "cudadrv/test_*.py", FOR_NUMBA),
    "numba-cudapy": (TESTED, "", INSTALLED + "cudapy/test_*.py", FOR_NUMBA),
    "numba-nrt": (TESTED, "", INSTALLED + "nrt/test_*.py", FOR_NUMBA),
    "numba-doc": (TESTED, "", INSTALLED + "doc_examples/test_*.py", FOR_NUMBA),
    "stumpy": ("stumpy==1.14.1 pandas==2.3.3 " + NUMBA, "stumpy==1.14.1",
               "tests/test_gpu_*.py", FOR_NUMBA),
    "pycuda": (PYCUDA, "pycuda==2026.1",
               "test/test_driver.py test/test_cumath.py test/test_gpuarray.py", FOR_PYCUDA),
    "grunnur": ("grunnur==0.6.0 pytest-grunnur==0.3.0 " + PYCUDA, "grunnur==0.6.0",
                "tests/test_*.py", FOR_PYCUDA),
    "reikna": ("reikna==0.9.0 " + PYCUDA, "reikna==0.9.0", "test/test_*/test_*.py", FOR_PYCUDA),
    "scikit-cuda": ("scikit-cuda==0.5.3 scipy==1.16.3 " + PYCUDA, "scikit-cuda==0.5.3",
                    "tests/test_cublas.py tests/test_special.py tests/test_integrate.py",
                    FOR_PYCUDA + FOR_OLD_NUMPY),
}
# pytest loads this in each process: a line for each test, as soon as it has ended. The emulator
# says only once what it does not support, so later tests have the reason of an earlier one.
PLUGIN = r'''
import os, pytest, re
told = "what the emulator does not support"
@pytest.fixture(scope="class") # of numba-cuda's repository
def initialize_from_pytest_config(request):
    request.cls._dump_failed_filechecks = False
def pytest_collectreport(report):
    if report.failed:
        note(report)
def pytest_runtest_logreport(report):
    if type(report).__name__ == "TestReport" and (report.when == "call" or not report.passed):
        note(report)
def note(report):
    global told
    text = report.longreprtext + "".join(content for _, content in report.sections)
    told = (re.findall(r"emu: (.{3,90}?) is not supported", text) or [told])[-1]
    outcome, why = report.outcome, ""
    if report.failed:
        refused = re.search("NOT_SUPPORTED|NotSupported|is not supported", text)
        said = [line for line in re.findall("(?:^emu: |error log: )(.*)", text, re.M)
                if "libcudart" not in line] or re.findall("^E +(.*)", text, re.M) or [text]
        outcome, why = ("refused", told) if refused else ("failed", said[-1])
    why = re.sub(r" \(called by.*| \([^()]*line [^()]*\)|0x[0-9a-f]+|/\S+/", "", why)
    why = why.split("\n")[0][:120]
    with open(os.environ["SUITE_RESULTS"], "a") as file:
        file.write(outcome + "\t" + why + "\n")
'''


def prepare(suite):
    """Makes the suite's environment, unless it is there. Returns it, and where the tests are."""
    packages, source, _, begin = SUITES[suite]
    place = os.path.join(FOLDER, suite.split("-")[0])
    pip = [os.path.join(place, "bin/pip"), "-q"]
    ready = os.path.join(place, packages.replace(" ", ",") + source)
    if not os.path.exists(ready):
        subprocess.run([sys.executable, "-m", "venv", "--clear", place], check=True)
        # PyCUDA is linked with libcuda.so when it is installed.
        env = {**os.environ, "LIBRARY_PATH": os.path.join(TOP, "build/emu/libraries/lib")}
        subprocess.run([*pip, "install", "pytest==9.2.0", *packages.split()], check=True, env=env)
        if source:
            subprocess.run([*pip, "download", "--no-deps", "--no-binary",
                            source.split("==")[0], "-d", place, source], check=True, env=env)
            with tarfile.open(glob.glob(os.path.join(place, "*.tar.gz"))[0]) as archive:
                archive.extractall(os.path.join(place, "source"), filter="data")
        os.mknod(ready)
    os.makedirs(os.path.join(place, "begin"), exist_ok=True)
    for name, text in ("sitecustomize.py", begin), ("suite_plugin.py", PLUGIN):
        with open(os.path.join(place, "begin", name), "w", encoding="utf-8") as file:
            file.write(text)
    return place, glob.glob(os.path.join(place, "source/*"))[0] if source else place


def run(file, place, folder):
    """How each test of a file ended: (outcome, why)."""
    results, ends = os.path.join(place, "results"), []
    open(results, "w", encoding="utf-8").close()
    command = ["timeout", "--kill-after=9", str(LIMIT), EMU, "--threads", "1", "--log-file",
               os.devnull, os.path.join(place, "bin/python"), "-m", "pytest", "-q", "-p",
               "suite_plugin", "-p", "no:cacheprovider", "--import-mode",
               "importlib" if folder == place else "prepend", os.path.relpath(file, folder)]
    end = subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, check=False,
                         stderr=subprocess.DEVNULL,
                         env={**os.environ, "PYTHONPATH": os.path.join(place, "begin"),
                              "SUITE_RESULTS": results}).returncode
    if end in (124, 137):
        ends = [("cut", "longer than %d s" % LIMIT)]
    elif end not in (0, 1, 2, 5): # passed, failed, not collected, no tests
        ends = [("failed", "pytest ended with %d" % end)]
    with open(results, encoding="utf-8", errors="replace") as lines:
        return ends + [tuple(line.rstrip("\n").split("\t", 1)) for line in lines]


def main():
    os.makedirs(os.path.dirname(WRITTEN), exist_ok=True)
    for suite in sys.argv[1:] or SUITES:
        place, folder = prepare(suite)
        ends = collections.Counter()
        for file in [path for pattern in SUITES[suite][2].split()
                     for path in sorted(glob.glob(os.path.join(folder, pattern)))]:
            of_file = run(file, place, folder)
            ends.update(of_file)
            print("suites:", suite, os.path.basename(file), len(of_file), "tests", flush=True)
        about = [suite, SUITES[suite][0].split()[0], platform.python_version(),
                 str(datetime.date.today())]
        rows = [["suite", "package", "python", "date", "outcome", "why", "tests"]]
        if os.path.exists(WRITTEN): # and the rows of other suites
            with open(WRITTEN, encoding="utf-8") as file:
                rows += [row for row in list(csv.reader(file))[2:] if row[0] != suite]
        rows += [[*about, *end, tests] for end, tests in sorted(ends.items())]
        with open(WRITTEN, "w", encoding="utf-8") as file:
            file.write("# How the tests of other packages end on the emulator: see suites.py.\n")
            csv.writer(file, lineterminator="\n").writerows(rows)


main()
