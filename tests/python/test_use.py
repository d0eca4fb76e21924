"""test_use.py -- the programs of notes/use.md that are written in Python run as they stand there,
and print what the page says. Those with PyTorch or CuPy need a GPU."""
import re
import subprocess
import sys
import unittest
from importlib.util import find_spec
from pathlib import Path

import upsweep

PAGE = Path(__file__).resolve().parents[2] / "notes" / "use.md"
PROGRAM = re.compile(r"^```python\n(.*?)^```$(?:\s*```\n(.*?)^```$)?", re.M | re.S)


class Programs(unittest.TestCase):
    def test_programs(self):
        programs = PROGRAM.findall(PAGE.read_text(encoding="utf-8"))
        self.assertGreaterEqual(len(programs), 2)
        ran = 0
        for program, output in programs:
            foreign = [name for name in ("torch", "cupy") if "import " + name in program]
            if foreign and (upsweep.runtime() == "emu" or not all(map(find_spec, foreign))):
                continue
            with self.subTest(program=program):
                done = subprocess.run([sys.executable, "-c", program], text=True,
                                      capture_output=True)
                self.assertEqual((done.stdout, done.stderr), (output, ""))
                ran += 1
        self.assertGreaterEqual(ran, 1)


if __name__ == "__main__":
    unittest.main()
