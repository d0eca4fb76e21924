"""test_library.py -- which library, runtime and device a process uses, and what is said if one is
missing or wrong. Each case is a process of its own."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import upsweep

HERE = Path(__file__).resolve().parent
OWN = Path(os.environ.get("UPSWEEP_LIBRARY")
           or Path(upsweep.__file__).parent / "lib" / "libupsweep.so")
GPU = upsweep._library._gpus() > 0
CALL = "import numpy, upsweep; print(upsweep.cumsum(numpy.arange(4)).tolist(), upsweep.runtime())"


class Library(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def stub(self, path, *options):
        """Compiles stub.c into a library of the test's folder."""
        path = self.folder / path
        path.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["gcc", "-shared", "-fPIC", "-Wl,-soname," + path.name, "-o", path,
                        HERE / "stub.c", *options], check=True)
        return path

    def with_gpu(self):
        """The environment of a machine with a GPU, by its driver."""
        self.stub("driver/libcuda.so.1")
        return {"LD_LIBRARY_PATH": str(self.folder / "driver"), "UPSWEEP_DEVICE": ""}

    def run_python(self, program, **environment):
        environment = {**os.environ, "CUDA_HOME": "", "CUDA_PATH": "",
                       "UPSWEEP_DEVICE": "emu" if GPU else "", **environment}
        return subprocess.run([sys.executable, "-c", program], env=environment, text=True,
                              capture_output=True, cwd=self.folder)

    def says(self, text, program=CALL, **environment):
        """The last line of the error is a RuntimeError with this text."""
        done = self.run_python(program, **environment)
        last = done.stderr.strip().rsplit("\n", 1)[-1]
        self.assertTrue(last.startswith("RuntimeError: "), done.stderr)
        self.assertIn(text, last)
        self.assertEqual((done.returncode, done.stdout), (1, ""))

    def works(self, answer, program=CALL, **environment):
        done = self.run_python(program, **environment)
        self.assertEqual((done.stdout, done.stderr), (answer + "\n", ""))

    def test_the_emulator_without_a_gpu(self):
        self.works("[0, 1, 3, 6] emu")
        self.works("[0, 1, 3, 6] emu", **{**self.with_gpu(), "UPSWEEP_DEVICE": "emu"})

    def test_import_loads_nothing(self):
        self.works("None", "import upsweep; print(upsweep._library._library)",
                   UPSWEEP_LIBRARY="none")

    def test_the_gpu_that_a_driver_has(self):
        stub = self.stub("libupsweep.so")
        program = "import upsweep; print(upsweep.runtime())"
        self.works("cuda", program, UPSWEEP_LIBRARY=str(stub), **self.with_gpu())
        self.works("cuda", program, UPSWEEP_LIBRARY=str(stub),
                   **{**self.with_gpu(), "UPSWEEP_DEVICE": "cuda"})

    def test_device(self):
        self.says("UPSWEEP_DEVICE is gpu: it may be cuda or emu", UPSWEEP_DEVICE="gpu")
        if not GPU:
            self.says("UPSWEEP_DEVICE is cuda, and there is no GPU", UPSWEEP_DEVICE="cuda")

    def test_library(self):
        self.says("UPSWEEP_LIBRARY is none, where there is no file", UPSWEEP_LIBRARY="none")
        text = self.folder / "text"
        text.write_text("no library")
        self.says("text cannot be loaded: ", UPSWEEP_LIBRARY=str(text), **self.with_gpu())
        other = self.folder / "libother.so"
        subprocess.run(["gcc", "-shared", "-xc", "/dev/null", "-o", other], check=True)
        self.says("libother.so is no libupsweep.so", UPSWEEP_LIBRARY=str(other),
                  **self.with_gpu())
        newer = self.stub("libupsweep.so", "-DVERSION=2003")
        self.says("has version 2.3, and this package is for 1.x", UPSWEEP_LIBRARY=str(newer),
                  **self.with_gpu())

    def test_a_package_without_its_libraries(self):
        shutil.copytree(Path(upsweep.__file__).parent, self.folder / "upsweep",
                        ignore=shutil.ignore_patterns("lib", "__pycache__"))
        self.says("libupsweep.so is missing in %s: run make library" % (
            self.folder / "upsweep" / "lib"), UPSWEEP_LIBRARY="")
        (self.folder / "libupsweep.so").symlink_to(OWN)
        self.says("is missing: there is no libcudart.so.13 in %s" % (self.folder / "upsweep"),
                  UPSWEEP_LIBRARY=str(self.folder / "libupsweep.so"))

    def test_library_newer_than_the_driver(self):
        stub = self.stub("libupsweep.so", "-DDEVICE_COUNT=35", "-DDRIVER=12040")
        self.says("libupsweep.so was built for CUDA 13.2, and the driver of this machine is for"
                  " 12.4: update the driver", UPSWEEP_LIBRARY=str(stub), **self.with_gpu())

    def test_runtime_for_a_gpu(self):
        """Under a name that the loader does not find by itself, as it may find the real one."""
        runtime = self.stub("toolkit/lib64/libcudart.so.99")
        stub = self.stub("libupsweep.so", "-Wl,--no-as-needed", str(runtime))
        program = "import upsweep; upsweep._library.RUNTIME_FILE = 'libcudart.so.99'; " \
            "print(upsweep.runtime())"
        gpu = {"UPSWEEP_LIBRARY": str(stub), **self.with_gpu()}
        self.says("libcudart.so.99 is missing: pip install nvidia-cuda-runtime", program, **gpu)
        self.works("cuda", program, **{**gpu, "CUDA_HOME": str(self.folder / "toolkit")})
        self.works("cuda", program, **{**gpu, "CUDA_PATH": str(self.folder / "toolkit")})
        self.works("cuda", "import ctypes; ctypes.CDLL(%r); %s" % (str(runtime), program), **gpu)
        site = self.folder / "site"
        (site / "nvidia/cu13").mkdir(parents=True)
        (site / "nvidia/cu13/lib").symlink_to(self.folder / "toolkit/lib64")
        self.works("cuda", "import sys; sys.path.append(%r); %s" % (str(site), program), **gpu)

    def test_a_call_that_fails(self):
        stub = self.stub("libupsweep.so")
        self.says("libupsweep.so has no upsweep_scan_sum_f64", "import numpy, upsweep; "
                  "upsweep.cumsum(numpy.ones(3))", UPSWEEP_LIBRARY=str(stub), **self.with_gpu())


if __name__ == "__main__":
    unittest.main()
