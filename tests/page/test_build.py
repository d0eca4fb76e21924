"""test_build.py -- what build_page.py refuses: it never leaves out sources in silence."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from page_files import BUILT, TOP, need


class Sources(unittest.TestCase):
    def refused(self, change):
        """What it says of one PTX text after a change."""
        ptx = (BUILT / "ptx/02-naive/scan.ptx").read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "02-naive" / "scan.ptx"
            path.parent.mkdir()
            path.write_text(change(ptx), encoding="utf-8")
            ran = subprocess.run(
                [sys.executable, "-B", str(TOP / "common/page/build_page.py"), folder,
                 str(BUILT / "emulator.js"), str(Path(folder) / "out.html")],
                capture_output=True, text=True, check=False)
            self.assertFalse((Path(folder) / "out.html").exists())
        self.assertEqual(ran.returncode, 1)
        return ran.stderr

    def test_ptx_that_was_compiled_elsewhere_is_named(self):
        need("emcc", "pandoc")
        said = self.refused(lambda ptx: ptx.replace(str(TOP), "/home/other/upsweep"))
        self.assertRegex(said, "^build_page.py: 02-naive/scan.ptx names /home/other/upsweep/steps/"
                         "02-naive/scan.cu, which is not in .*: it was compiled elsewhere. Remove "
                         "build/page/ptx and call make page again$")

    def test_ptx_without_lines_is_named(self):
        need("emcc", "pandoc")
        self.assertIn("names no file", self.refused(lambda ptx: ptx.replace(".file", "//")))


if __name__ == "__main__":
    unittest.main()
