"""test_grader.py -- what `make grade` reads and writes: submissions, which PTX is the same, the
roster, cells of CSV, whose fault an ending is, and reports."""
import os
import sys
import tempfile
import unittest
from pathlib import Path

TOP = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(TOP / "common/tools/labs/grader"))

import jobs  # noqa: E402
import report  # noqa: E402
import sandbox  # noqa: E402
from basics import Fault, cell, visible, write_whole  # noqa: E402
from same_ptx import digest  # noqa: E402
from submissions import (BYTES, Refused, Roster, Submission, find_all, looks_alike,  # noqa: E402
                         read)

KERNEL = b"""\
.visible .entry _Z4scanPf(
	.param .u64 _Z4scanPf_param_0
)
{
	.reg .b32 %r<3>;
	.loc 1 7 3
$L__BB0_1:
	mov.u32 %r1, %tid.x;
	add.s32 %r2, %r1, 1;
	bra $L__BB0_1;
}
"""
# The kernel with one text in place of another, everywhere.
SAME = [(b"%r", b"%other"), (b"$L__BB0_1", b"$L__BB7_12"), (b"_Z4scanPf", b"_Z9prefixsumPf"),
        (b".loc 1 7 3", b".loc 2 99 1"), (b".loc 1 7 3", b"// a comment"),
        (b".loc 1 7 3", b"/* a\n comment */"), (b".loc 1 7 3\n", b".file 1 \"/etc/passwd\"\n"),
        (b"\tadd.s32 %r2, %r1, 1;", b"  add.s32   %r2,%r1,1 ;")]
OTHER = [(b"add.s32", b"sub.s32"), (b", 1;", b", 2;"), (b"%tid.x", b"%ctaid.x"),
         (b"%tid", b"%laneid"), (b"add.s32 %r2, %r1, 1", b"add.s32 %r1, %r2, 1"),
         (b"\tbra $L__BB0_1;\n", b"")]

SCAN = b".visible .entry scan_block(.param .u64 a) { .reg .b32 %r<2>; mov.u32 %r1, 1; }\n"
ADD = b".visible .entry uniform_add(.param .u64 b) { bar.sync 0; ret; }\n"
MORE = b".visible .entry other() { { trap; } ret; }\n"
CALL = b".visible .entry scan_block() { call _Z1fv, (); ret; }\n"
TRAPS = b".func (.param .b32 r) _Z1fv() { trap; }\n" + CALL
# Two texts, by the kernels of lab 5: what is not launched does not matter, and a function that is
# called belongs to the kernel, wherever it stands, also if it calls itself.
SAME_FOR_LAB = [
    (SCAN + ADD, ADD + SCAN), (SCAN + ADD, b".version 9.0\n" + MORE + ADD + MORE + SCAN),
    (SCAN + ADD, b".visible .global .align 4 .b8 unused[4];\n" + SCAN + ADD),
    (SCAN + ADD, b".func _Z1fv() { trap; }\n" + SCAN + ADD),
    (TRAPS, b".func _Z1fv();\n" + CALL + b".func _Z1fv() { trap; }\n"),
    (CALL + b".func _Z1fv() { call _Z1fv; }", b".func _Z1fv() { call _Z1fv; }" + CALL)]
OTHER_FOR_LAB = [(SCAN + ADD, SCAN), (SCAN + MORE, ADD + MORE),
                 (TRAPS, b".func (.param .b32 r) _Z1fv() { exit; }\n" + CALL),
                 (TRAPS, b".extern .func _Z1fv();\n" + CALL)]


class SamePtx(unittest.TestCase):
    def test_names_lines_and_blanks_do_not_matter_and_instructions_do(self):
        for changes, same in (SAME, True), (OTHER, False):
            for one, another in changes:
                self.assertIn(one, KERNEL)
                self.assertEqual(digest(KERNEL) == digest(KERNEL.replace(one, another)), same, one)

    def test_only_what_a_lab_launches_matters(self):
        for pairs, same in (SAME_FOR_LAB, True), (OTHER_FOR_LAB, False):
            for left, right in pairs:
                bits = [digest(text, ["scan_block", "uniform_add"]) for text in (left, right)]
                self.assertEqual(bits[0] == bits[1], same, right)
                self.assertTrue(all(bits))

    def test_without_a_kernel_nothing_is_the_same(self):
        for text in (b"", b"/* no end", b"\xff%$_\n.section", b".entry", b".entry {", b".func (",
                     b".func f", b".func f(", b".entry }", b"entry f() { }", b"\0.entry\0{\0"):
            self.assertTrue(digest(text) == "" or b"{" in text, text)


# ---- what counts as a submission -----------------------------------------------------------------

LINK = "What was handed in is a link, which is not followed."
IRREGULAR = "What was handed in is not a regular file."
NO_SOURCE = "The folder holds no file that ends in .cu"
ENDING = "The name of the file does not end in .cu."
MOODLE = "Anna Müller_123_assignsubmission_file"
LONG = "<" * 200
# What stands in a folder, as a path with a text, "-> TARGET" for a link, "fifo" or None for a
# folder; and what of it is listed: path, name, id, and why it is not read, or "".
CLASSES = [
    ({"zoe.cu": "z", "anna.cu": "a", "bob/lab3.cu": "b", ".hidden.cu": "h", "._anna.cu": "macOS's",
      ".DS_Store": ""},
     [(".hidden.cu", ".hidden", "~2Ehidden", ""), ("anna.cu", "anna", "anna", ""),
      ("bob/lab3.cu", "bob", "bob", ""), ("zoe.cu", "zoe", "zoe", "")]),
    ({"anna/lab3.cu": "-> /etc/passwd"}, [("anna/lab3.cu", "anna", "anna", LINK)]),
    ({"anna": "-> /etc"}, [("anna/lab3.cu", "anna", "anna", LINK)]),
    ({"anna.cu": "-> /etc/passwd"}, [("anna.cu", "anna", "anna", LINK)]),
    ({"anna.cu": "fifo"}, [("anna.cu", "anna", "anna", IRREGULAR)]),
    ({"anna.cu": None}, [("anna.cu", "anna", "anna", IRREGULAR)]),
    ({"anna": None}, [("anna/", "anna", "anna", NO_SOURCE + ".")]),
    # Names as Moodle and browsers make them.
    ({MOODLE + "/lab3 (1).cu": "a", MOODLE + "/notes.txt": "", MOODLE + "/.hidden.cu": ""},
     [(MOODLE + "/lab3 (1).cu", MOODLE, "Anna~20M~C3~BCller_123_assignsubmission_file", "")]),
    ({"anna/a.cu": "", "anna/b.cu": "", "anna/lab3.cu": "a"},
     [("anna/lab3.cu", "anna", "anna", "")]),
    # What is not taken is listed all the same, with the name of its student.
    ({"a.cu.txt": "", "b.zip": "", "notes": "", "c/lab3/lab3.cu": "", "d/lab3.zip": "",
      "e/1.cu": "", "e/2.cu": ""},
     [("a.cu.txt", "a", "a.cu.txt~2F", ENDING), ("b.zip", "b", "b.zip~2F", ENDING),
      ("c/", "c", "c", NO_SOURCE + ", but other files or folders."),
      ("d/", "d", "d", NO_SOURCE + ", but other files or folders."),
      ("e/lab3.cu", "e", "e",
       "The folder holds 2 files that end in .cu, and none of them is lab3.cu."),
      ("notes", "notes", "notes~2F", ENDING)]),
    ({"anna.cu": "", "anna/lab3.cu": ""},
     [("anna.cu", "anna", "anna", ""), ("anna/lab3.cu", "anna", "anna~2F", "")]),
    ({"anna.CU": ""}, [("anna.CU", "anna", "anna.CU", "")]),
    ({"anna.cu": "a" * (BYTES + 1)},
     [("anna.cu", "anna", "anna", "The file has more than 256 KiB; a lab's file has far fewer.")]),
    # Long names differ in their ids, also where the ids are cut.
    ({"-rf $(x).cu": "", LONG + "1.cu": "", LONG + "2.cu": ""},
     [("-rf $(x).cu", "-rf $(x)", "~2Drf~20~24~28x~29", ""),
      (LONG + "1.cu", LONG + "1", "~3C" * 47 + "-45f91103fdbf00fc", ""),
      (LONG + "2.cu", LONG + "2", "~3C" * 47 + "-45f91403fdbf0615", "")]),
]


def fill(folder, files):
    for path, content in files.items():
        to = Path(folder, path)
        to.parent.mkdir(exist_ok=True, parents=True)
        if content is None:
            to.mkdir()
        elif content == "fifo":
            os.mkfifo(to)
        elif content.startswith("-> "):
            to.symlink_to(content[3:])
        else:
            to.write_text(content, "utf-8")


class Submissions(unittest.TestCase):
    def refusal(self, folder, one):
        try:
            read(folder, one)
        except Refused as why:
            return str(why)
        return ""

    def test_what_is_listed_and_read(self):
        for files, expected in CLASSES:
            with tempfile.TemporaryDirectory() as folder, self.subTest(files=list(files)):
                fill(folder, files)
                found = [(one.path, one.name, one.id, self.refusal(folder, one))
                         for one in find_all(folder, 3)]
                self.assertEqual(found, expected)

    def test_a_file_is_read_with_all_its_bytes(self):
        with tempfile.TemporaryDirectory() as folder:
            for content in b"a\0b\xff", b"a" * BYTES:
                Path(folder, "anna.cu").write_bytes(content)
                self.assertEqual(read(folder, find_all(folder, 3)[0]), content)

    def test_a_missing_folder_is_said(self):
        with self.assertRaisesRegex(Fault, "/does/not/exist cannot be read"):
            find_all("/does/not/exist", 3)


# ---- the roster ----------------------------------------------------------------------------------

OWNERS = {"Anna": "Anna", "Anna Berg": "Anna Berg", "": None,
          "Anna Berg_123_assignsubmission_file": "Anna Berg",
          "Anna_7_assignsubmission_file_": "Anna", "Anna Bergmann_7_assignsubmission_file": None,
          "bergb_LATE_123_456_lab3-1": "bergb", "bergb2": None, "Annabel": None, "Zoë": None}
# \u0308 is two dots over the letter before it, and \u030A a ring.
ALIKE = [("\u00c5sa \u00d6berg", "A\u030asa O\u0308berg_1_assignsubmission_file"),
         ("A\u030asa", "\u00c5sa"), ("M\u00dcLLER Jan", "M\u00fcller_jan"),
         ("Anna Berg", "anna-berg"), ("Ph\u1ea1m", "Pha\u0323m")]
NOT_ALIKE = [("Anna", "Annabel"), ("Anna Berg", "Anna"), ("\u674e\u660e", "\u738b\u82b3"),
             ("M\u00fcller", "Muller"), ("a\udcff", "a\udcfe"), ("a\udce2\udc82", "a\udce2"),
             ("", "")]


class Rosters(unittest.TestCase):
    def roster(self, text):
        with tempfile.NamedTemporaryFile() as file:
            file.write(text.encode())
            file.flush()
            return Roster(file.name)

    def test_one_name_a_line_and_an_identifier_after_a_tab(self):
        roster = self.roster("\ufeffAnna Berg\r\n\n# 2026\n  Zoë \nBob \t a@x.org \t7\nEva\tBob Z")
        self.assertEqual(roster.names, ["Anna Berg", "Zoë", "Bob", "Eva"])
        self.assertEqual(roster.identifiers, ["Anna Berg", "Zoë", "a@x.org ", "Bob Z"])

    def test_a_submission_belongs_to_the_longest_name_that_it_begins_with(self):
        roster = self.roster("Anna\nAnna Berg\nbergb\nZo\n")
        self.assertEqual({name: roster.owner(name) for name in OWNERS}, OWNERS)

    def test_what_is_wrong_is_said(self):
        for text, said in (("Anna\nBob\nAnna\n", "line 3 of .* \"Anna\" for a second time"),
                           ("Anna\t7\nBob\t7\n", "line 2 of .* \"7\""), ("# no\n", "no name")):
            with self.assertRaisesRegex(Fault, said):
                self.roster(text)
        for path in "/nowhere", "/tmp":
            with self.assertRaisesRegex(Fault, path + " cannot be opened"):
                Roster(path)

    def test_names_that_look_alike(self):
        self.assertEqual([pair for pair in ALIKE if not looks_alike(*pair)], [])
        self.assertEqual([pair for pair in NOT_ALIKE if looks_alike(*pair)], [])


# ---- texts ---------------------------------------------------------------------------------------

# A formula at the beginning or behind any separator becomes a text: the quotes do not hold where
# lines are split at another character than the comma. Wide forms are formulas, too.
CELLS = {"": "", "Zoë O'Neil": "Zoë O'Neil", "say \"hello\"": "say \"\"hello\"\"",
         "n = 2: element 1 is -3, not 4; a - b": "n = 2: element 1 is -3, not 4; a - b",
         "=1+1": "'=1+1", "+1": "'+1", "-rf": "'-rf", "@SUM(A1)": "'@SUM(A1)", "  =1": "  '=1",
         "\u00a0\u3000=1": "\u00a0\u3000'=1", "\"=1": "\"\"'=1", "\t=1": "\\t=1",
         "\uff1d1": "'\uff1d1", "\uff0b1": "'\uff0b1", "\uff0d1": "'\uff0d1", "\uff20A": "'\uff20A",
         "x;=HYPERLINK(1)": "x;'=HYPERLINK(1)", "x; \"=1": "x; \"\"'=1", "x,+1": "x,'+1",
         "x|@A1": "x|'@A1", "x;;\uff1d1": "x;;'\uff1d1", "x;y=1": "x;y=1"}
# Control characters, marks of the direction of writing, and bytes that are not UTF-8.
VISIBLE = {b"\n\x1b\x00\x7f": "\\n\\x1b\\x00\\x7f", b"\xff\xe2\x82A": "\\xff\\xe2\\x82A",
           "\u202e\x85\ufeffé": "\\u202e\\u0085\\ufeffé", b"\xed\xa0\x80": "\\xed\\xa0\\x80"}


class Texts(unittest.TestCase):
    def test_cells(self):
        self.assertEqual({text: cell(text) for text in CELLS},
                         {text: '"%s"' % made for text, made in CELLS.items()})

    def test_what_a_terminal_could_obey_is_visible(self):
        for text, shown in VISIBLE.items():
            if isinstance(text, bytes):
                text = text.decode("utf-8", "surrogateescape")
            self.assertEqual(visible(text), shown)

    def test_a_file_is_written_completely_or_not_at_all(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "file")
            write_whole(str(path), b"one")
            write_whole(str(path), b"two")
            self.assertEqual((path.read_bytes(), os.listdir(folder)), (b"two", ["file"]))
            self.assertEqual(path.stat().st_mode & 0o444, 0o444)
            path.unlink()
            path.mkdir()
            with self.assertRaisesRegex(Fault, "file cannot be written"):
                write_whole(str(path), b"three")
            self.assertEqual(os.listdir(folder), ["file"])
        if os.path.exists("/dev/full"):
            with self.assertRaisesRegex(Fault, "/dev/full cannot be written: No space left"):
                write_whole("/dev/full", b"four")


# ---- whose fault an ending is --------------------------------------------------------------------

# What a submission makes a program do is its fault. A busy machine, or a sandbox that does not
# start, costs no points. A program that has ended by itself speaks for itself.
ENDINGS = [
    (sandbox.OUTPUT, 0, 3, "refused: With this file, X leaves more bytes than any solution needs."),
    (sandbox.OUTPUT, 0, 2, "refused: With this file, X prints too many messages."),
    (sandbox.MEMORY, 0, 0, "refused: With this file, X needs too much memory."),
    (sandbox.IDLE, 0, 0, "refused: With this file, X waits for something that never comes."),
    (sandbox.WALL, 0, 0, "failed: The time for X is over; this machine is too busy or too slow."),
    (sandbox.NOT_BEGUN, 1, 0, "failed: The sandbox did not start: bwrap: no"),
    (sandbox.EXITED, 125, 0, "failed: The sandbox did not start: bwrap: no"),
    (sandbox.EXITED, 0, 0, ""), (sandbox.EXITED, 1, 0, ""), (sandbox.EXITED, 139, 0, "")]
# What the compiler's status and messages say about the submission.
COMPILATIONS = [(0, b"PTX", "", "done"), (0, b"PTX", "warning: Killed", "done"),
                (0, b"", "", "refused"), (1, b"", "error", "refused"), (126, b"", "", "failed"),
                (127, b"", "Killed", "failed"), (137, b"", "", "doubtful"),
                (1, b"", "nvcc: out of memory", "doubtful"), (255, b"", "", "refused")]


class Endings(unittest.TestCase):
    def test_whose_fault_an_ending_is(self):
        for ending, status, descriptor, said in ENDINGS:
            outcome = jobs.outcome_of_ending(sandbox.Result(ending, status, descriptor),
                                             "bwrap: no\nmore", "X")
            self.assertEqual("%s: %s" % (outcome.kind, outcome.why) if outcome else "", said)

    def test_what_a_compilation_says(self):
        for status, ptx, messages, kind in COMPILATIONS:
            result = sandbox.Result(sandbox.EXITED, status, outputs={3: ptx})
            self.assertEqual(jobs.judge_compilation(result, messages).kind, kind, messages)

    def test_memory_bounds_the_number_of_jobs(self):
        gibibyte = 1 << 30
        self.assertEqual([jobs.jobs_within(processors, memory) for processors, memory in (
            (64, 16 * gibibyte), (4, 16 * gibibyte), (4, gibibyte), (4, 0), (4, 1 << 64))],
            [8, 4, 1, 1, 4])
        self.assertGreaterEqual(jobs.jobs_here(), 1)


# ---- reports -------------------------------------------------------------------------------------

EVIL = "<script>&\"'\x1b[31m\udcff"
SHOWN = "<script>&\"'\\x1b[31m\\xff"
SAFE = "&lt;script&gt;&amp;&quot;&#39;\\x1b[31m\\xff"


def verdict():
    """A verdict with evil texts; line 2 of the source has lost points."""
    pair = {"got": 1, "solution": 2}
    lost = [{"criterion": "work", "lost": 3.0 + k, "file": ("lab.cu", EVIL)[k], "line": 2,
             "text": "reason %d %s" % (k, EVIL), "chapter": "notes/03-work-efficient.md"}
            for k in range(2)]
    return {"lab": 3, "judged": True, "failure": None, "points": 12.5, "most": 100.0, "runs": 20,
            "right_runs": 20, "text": "", "lost": lost,
            "criteria": [{"criterion": name, "weight": 25.0, "fraction": 0.0}
                         for name in ("work", "conflicts", "sectors", "hazards")],
            "sizes": [{"n": 64, "right": False, "wrong": "wrong " + EVIL, "cause": None,
                       "findings": 0, "additions": pair, "conflicts": pair, "sectors": pair}]}


class Reports(unittest.TestCase):
    def setUp(self):
        self.verdict = verdict()
        self.one = Submission(EVIL, EVIL + ".cu", "id")

    def page(self, source):
        page = report.as_page(self.one, self.verdict, "message " + EVIL + "\n",
                              source.encode("utf-8", "surrogateescape"), "title")
        self.assertNotRegex(page, "[\x1b\udc80-\udcff]|<script")
        return page

    def test_a_page_escapes_all_texts(self):
        page = self.page("line one\n\tif (a < b) " + EVIL + "\r\n")
        for part in (SAFE, "<span id=\"line1\"><i>1</i>line one</span>",
                     "<span id=\"line2\" class=\"lost\"><i>2</i>    if (a &lt; b) &lt;script&gt;",
                     "<a href=\"#line2\">line 2</a>: 3.00 points", "wrong " + SAFE,
                     "<pre>message " + SAFE + "\n</pre>"):
            self.assertIn(part, page)
        self.assertNotIn("\\r", page)

    def test_a_page_without_sizes_has_no_table_of_them(self):
        self.assertIn("bank conflicts</th>", self.page(""))
        self.verdict["sizes"] = []
        self.assertNotIn("bank conflicts</th>", self.page(""))

    def test_claims_of_other_files_mark_nothing(self):
        page = self.page("one\ntwo\n")
        self.assertIn("<b>3.00 points", page)
        self.assertNotIn("<b>4.00 points", page)

    def test_a_text_is_safe_for_a_terminal(self):
        text = report.as_text(self.one, self.verdict, "message " + EVIL + "\n")
        self.assertIn("Report for %s (%s.cu)" % (SHOWN, SHOWN), text)
        self.assertIn("    message %s\n" % SHOWN, text)

    def test_reports_are_given_back_below_the_folder_only(self):
        """A file "...cu" has the name "..", and anna.cu that of the folder anna."""
        class State:
            def path(self, which, one):
                return __file__
        names = [("..", "a"), (".", "b"), ("anna", "c"), ("anna", "d"), ("eva\udcff", "e")]
        with tempfile.TemporaryDirectory() as folder:
            report.give_back(State(), folder + "/new", [Submission(name, "", made)
                                                        for name, made in names])
            self.assertEqual(os.listdir(folder), ["new"])
            self.assertEqual(sorted(os.listdir(os.fsencode(folder + "/new"))),
                             [b"a", b"b", b"c", b"d", b"eva\xff"])
            with self.assertRaisesRegex(Fault, "new is not empty"):
                report.check_empty(folder + "/new")

    def test_a_row_has_the_greatest_loss_as_its_reason(self):
        self.assertEqual(report.cells(self.verdict), "12.50,100.00,20,20" + ",0.0000" * 4 +
                         ",\"reason 1 %s\"" % SHOWN.replace("\"", "\"\""))


if __name__ == "__main__":
    unittest.main()
