"""test_cases.py -- cases.py makes tables of rows of a number each, and reads them; merge.py keeps
their form."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

MEASURE = Path(__file__).resolve().parents[2] / "profiles" / "measure"
sys.path.insert(0, str(MEASURE))
import cases  # noqa: E402  (it lies in profiles/measure)

EXPERIMENTS = """\
# GPU: X
# date: 2026-01-01
experiment,step,variant,time (s),wrong
copy,1,a,2.5,
copy,1,b,3,0

experiment,step,variant,rate (B/s)
load,9,a,7
"""


def table(rows):
    """What the command makes of rows."""
    return subprocess.run([MEASURE / "cases.py"], input=rows, capture_output=True, text=True,
                          check=True).stdout


class Cases(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def file(self, name, text):
        path = Path(self.folder.name) / name
        path.write_text(text, encoding="utf-8")
        return str(path)

    def test_numbers_of_a_case_share_a_row(self):
        """And a column of a case that is empty in all rows is none."""
        self.assertEqual(table("step,n,line,metric,value,unit,source\n"
                               "2,8,,ld,1,,\n2,8,,time,5,ns,\n2,16,,ld,3,,\n"),
                         "step,n,ld,time (ns)\n2,8,1,5\n2,16,3,\n")
        self.assertEqual(table('n,line,metric,value,source\n8,a#1,ld,1,"x, y"\n8,,st,2,\n'),
                         'n,line,source,ld,st\n8,a#1,"x, y",1,\n8,,,,2\n')

    def test_a_case_that_was_measured_twice_has_two_rows(self):
        self.assertEqual(table("n,metric,value\n8,a,1\n8,b,2\n8,a,3\n8,b,2\n"),
                         "n,a,b\n8,1,2\n8,3,2\n")

    def test_each_experiment_has_a_table(self):
        self.assertEqual(table("experiment,step,variant,metric,value,unit\ncopy,1,a,time,2.5,s\n"
                               "copy,1,b,time,3,s\ncopy,1,b,wrong,0,\nload,9,a,rate,7,B/s\n"),
                         "".join(line for line in EXPERIMENTS.splitlines(True) if line[0] != "#"))

    def test_all_tables_are_read(self):
        rows, about = cases.read(self.file("a.csv", EXPERIMENTS))
        self.assertEqual(about, {"GPU": "X", "date": "2026-01-01"})
        self.assertEqual(rows, [
            {"experiment": "copy", "step": "1", "variant": "a", "time": "2.5", "wrong": ""},
            {"experiment": "copy", "step": "1", "variant": "b", "time": "3", "wrong": "0"},
            {"experiment": "load", "step": "9", "variant": "a", "rate": "7"}])

    def test_a_comma_without_quotes_is_refused(self):
        for row in "1,a, b", "1":
            with self.assertRaisesRegex(SystemExit, "a.csv: a row has not as many cells"):
                cases.read(self.file("a.csv", "n,why\n%s\n" % row))

    def test_a_merged_recording_has_the_same_tables(self):
        old = self.file("old.csv", EXPERIMENTS)
        new = self.file("new.csv", EXPERIMENTS.split("\n\n")[0].replace("2.5", "2").replace(
            "copy,1,b,3", "copy,1,c,3") + "\n")
        subprocess.run([MEASURE / "merge.py", new, old], check=True, stdout=subprocess.DEVNULL)
        self.assertEqual(Path(old).read_text(encoding="utf-8"), EXPERIMENTS.replace(
            "copy,1,a,2.5,\ncopy,1,b,3,0", "copy,1,b,3,0\ncopy,1,a,2,\ncopy,1,c,3,0"))


if __name__ == "__main__":
    unittest.main()
