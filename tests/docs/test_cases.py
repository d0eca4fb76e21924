"""test_cases.py -- measure/cases.py makes tables of rows of a number each, reads and merges them;
ncu.py makes rows of ncu's Source pages, and emulated.py of what checkers print."""
import contextlib
import csv
import io
import sys
import tempfile
import unittest
from pathlib import Path

MEASURE = Path(__file__).resolve().parents[2] / "profiles" / "measure"
sys.path.insert(0, str(MEASURE))
import cases  # noqa: E402  (they are in profiles/measure)
import emulated  # noqa: E402
import ncu  # noqa: E402

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
    file = io.StringIO()
    cases.write(file, *cases.cases(csv.DictReader(io.StringIO(rows))))
    return file.getvalue()


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

    def merged(self, old, new):
        with contextlib.redirect_stdout(io.StringIO()):
            cases.merge(self.file("new.csv", new), self.file("old.csv", old))
        return (Path(self.folder.name) / "old.csv").read_text(encoding="utf-8")

    def test_a_merged_recording_has_the_same_tables(self):
        new = EXPERIMENTS.split("\n\n")[0].replace("2.5", "2").replace(
            "copy,1,b,3", "copy,1,c,3") + "\n"
        self.assertEqual(self.merged(EXPERIMENTS, new), EXPERIMENTS.replace(
            "copy,1,a,2.5,\ncopy,1,b,3,0", "copy,1,b,3,0\ncopy,1,a,2,\ncopy,1,c,3,0"))

    def test_new_rows_of_a_step_and_variant_take_the_place_of_the_old_ones(self):
        text = lambda gpu, day, *rows: "# GPU: %s\n# date: 2026-01-0%d\nstep,variant,n,errors\n" % (
            gpu, day) + "".join(row + "\n" for row in rows)
        old = text("X", 1, "9,a,1,0", "9,b,1,0", "9,b,2,0", "11,a,1,0")
        self.assertEqual(self.merged(old, text("X", 2, "9,b,1,7", "10,a,1,7")),
                         text("X", 2, "9,a,1,0", "9,b,1,7", "10,a,1,7", "11,a,1,0"))
        with self.assertRaisesRegex(SystemExit, "record all steps anew"):
            self.merged(old, text("Y", 3, "9,b,1,8"))


class SourcePages(unittest.TestCase):
    """A Source page as ncu prints it."""
    COLUMNS = ('"Line No","Source","Address","Source","L1 Wavefronts Shared",'
               '"L1 Wavefronts Shared Ideal","L2 Theoretical Sectors Global"\n')

    def page(self, file, function, *wavefronts):
        """Each instruction occurs twice, as in reports with several launches."""
        text = '"File Path","/x/%s"\n"Function Name","%s"\n' % (file, function)
        for count in wavefronts:
            text += self.COLUMNS + '"42","  a = b;","-","-","7","7","7"\n' + 2 * (
                '"","","0x10","@P0 LDS R1, [R2]","%d","2","0"\n' % count) + (
                '"","","0x20","STG.E [R2], R1","0","0","4"\n')
        return text

    def rows(self, text, launches):
        return [(row["launch"], row["line"], row["metric"].removeprefix("source_"), row["value"])
                for row in ncu.source(text, ("9", "-", 64), launches)]

    def test_pages_printed_twice_count_once(self):
        text = self.page("scan.cu", "void k<1>(int)", 3, 3) + self.page(
            "scan.cu", "void k<1>(int)", 5, 5)
        self.assertEqual(self.rows(text, 2), [
            (launch, "scan.cu#1", *counted) for launch, wavefronts in (("0", "3"), ("1", "5"))
            for counted in (("wavefronts_ld", wavefronts), ("ideal_ld", "2"), ("sectors_st", "4"))])

    def test_instructions_on_two_pages_count_once(self):
        """One of a function in another file is on the page of that file and on that of the call."""
        text = self.page("pair.cuh", "k(int)", 3) + self.page("scan.cu", "k(int)", 3)
        self.assertEqual(self.rows(text, 1), [
            ("0", "pair.cuh#1", "wavefronts_ld", "3"), ("0", "pair.cuh#1", "ideal_ld", "2"),
            ("0", "pair.cuh#1", "sectors_st", "4")])

    def test_equal_lines_are_told_apart_by_their_order(self):
        """So comments above them may change."""
        text = ('"File Path","/x/scan.cu"\n"Function Name","k(int)"\n' + self.COLUMNS +
                '"7","  a = b;","-","-","0","0","0"\n"8","a = b;","-","-","7","7","4"\n'
                '"","","0x20","STG.E [R2], R1","0","0","4"\n')
        self.assertEqual(self.rows(text, 1), [("0", "scan.cu#2", "sectors_st", "4")])


class Findings(unittest.TestCase):
    def test_a_run_that_was_stopped_or_crashed_has_cells_too(self):
        for said, cells in (
                ("========= COMPUTE-SANITIZER\n", ["?", 0, ""]),
                ("========= Leaked 4 bytes at 0x1\n========= ERROR SUMMARY: 1 error, 2 warnings\n",
                 [1, 2, "Leaked"]),
                ("========= RACECHECK SUMMARY: 3 hazards displayed (2 errors, 1 warnings)\n",
                 [2, 1, ""]),
                ("========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)\n"
                 "========= ERROR SUMMARY: 1 error\n", [1, 0, ""])):
            self.assertEqual(emulated.findings(said), cells)


if __name__ == "__main__":
    unittest.main()
