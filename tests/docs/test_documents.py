"""test_documents.py -- README and notes say what the programs and profiles/ say: output, tables,
links."""
import glob
import os
import re
import subprocess
import unittest
from pathlib import Path

from step_table import steps_with

TOP = Path(__file__).resolve().parents[2]
TOOLKIT_DIFFERS = 77  # exit code of the script below


def run(command):
    """(exit code, output and errors) of a shell command, which runs in the top folder."""
    done = subprocess.run(["sh", "-c", command], cwd=TOP, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT,
                          encoding="utf-8", errors="replace", check=False)
    return done.returncode, done.stdout


def text_of(path):
    return (TOP / path).read_text(encoding="utf-8")


def pages():
    """README.md, and the pages of notes/ and profiles/."""
    return ["README.md"] + [page for folder in ("notes", "profiles")
                            for page in glob.glob(folder + "/**/*.md", root_dir=TOP,
                                                  recursive=True)]


def headings(page):
    """The anchors of a page's headings."""
    lines = re.sub(r"^```.*?^```", "", text_of(page), flags=re.M | re.S)
    plain = [re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", line)
             for line in re.findall(r"^#+ (.*)", lines, re.M)]
    return {re.sub(r"[^\w\- ]", "", line.lower()).replace(" ", "-") for line in plain}


class Readme(unittest.TestCase):
    def test_it_has_commands_and_steps(self):
        """The commands to begin with, soon a table with a row of every scan, and a row of every
        step that applies scan."""
        readme = text_of("README.md")
        for command in ("make setup && make first1", "make step3 && ./step3", "make test"):
            self.assertIn("\n%s " % command, readme)
        table = re.search(r"<!-- begin steps.*?<!-- end steps -->", readme, re.S)
        self.assertIsNotNone(table, "README.md has no region for the table of steps")
        self.assertLessEqual(readme[:table.start()].count("\n"), 45)
        self.assertLessEqual(readme.count("\n"), 150)
        folders = glob.glob("steps/[0-9][0-9]-*", root_dir=TOP)
        self.assertTrue(folders)
        for folder in folders:
            driver = next((TOP / folder).rglob("driver.c"))
            applies = ".verbs = " in driver.read_text(encoding="utf-8")
            self.assertIn("(%s)" % folder, readme if applies else table[0])


class FirstLines(unittest.TestCase):
    def test_chapters_say_what_to_read_first(self):
        """The box at the beginning: the lines of the files that it names before "Then"."""
        for step in steps_with("kind", "application", "ranks"):
            chapter = glob.glob("%d-*" % step, root_dir=TOP / "steps")[0] + ".md"
            with self.subTest(chapter=chapter):
                box = re.search(r"\A# .*\n\n((?:> .*\n)+)", text_of("notes/" + chapter))[1]
                said = int(re.search(r"Read these (\d+) lines first", box)[1])
                files = re.findall(r"\]\(\.\./([^)]*)\)", box.split("Then")[0])
                self.assertEqual(said, sum(text_of(path).count("\n") for path in files))


class Tables(unittest.TestCase):
    def is_up_to_date(self, script):
        code, output = run("python3 -B %s --check 2>&1" % script)
        self.assertEqual(code, 0, output)

    def test_emulated_counters_are_up_to_date_slow(self):
        """The emulator still counts what profiles/emulated holds."""
        code, output = run(r"""
            t=$(mktemp -d) && trap 'rm -r "$t"' EXIT &&
                profiles/measure/measure.py --to "$t" emulated 2>&1 || exit 1
            [ "$(grep -h '^# toolkit' "$t"/* profiles/emulated/* | sort -u | wc -l)" = 1 ] ||
                exit %d
            diff -r -x checks.csv -x speed.csv -x same_bits.csv -I '^#' profiles/emulated "$t" \
                >"$t.diff"; code=$?
            head -n 50 "$t.diff"; rm "$t.diff"; exit $code""" % TOOLKIT_DIFFERS)
        if code == TOOLKIT_DIFFERS:
            self.skipTest("profiles/emulated is of another version of nvcc")
        self.assertEqual(code, 0, "measure.py emulated writes something else now:\n"
                         + output)


for path in glob.glob("profiles/draw/draw_*.py", root_dir=TOP) + ["profiles/tables/tables.py"]:
    setattr(Tables, "test_%s_is_up_to_date" % Path(path).stem,
            lambda self, path=path: self.is_up_to_date(path))


class Links(unittest.TestCase):
    def test_links_lead_somewhere(self):
        """Every link into the repository."""
        links = 0
        for page in pages():
            for link in re.findall(r"\]\(([^#)]+)", text_of(page)):
                if link.startswith(("http", "../../releases/")):
                    continue
                path = TOP / os.path.dirname(page) / link
                self.assertTrue(path.exists(), "%s links to %s, which does not exist"
                                % (page, link))
                links += 1
        self.assertGreater(links, 0)

    def test_anchors_lead_to_headings(self):
        """Every link to a heading of a page, in the form that GitHub gives a heading."""
        anchors = 0
        for page in pages():
            for link, anchor in re.findall(r"\]\(([^#)]*)#([^)]+)\)", text_of(page)):
                if link.startswith("http"):
                    continue
                target = os.path.normpath(os.path.join(os.path.dirname(page), link)) if link \
                    else page
                self.assertIn(anchor, headings(target), "%s links to %s" % (page, target))
                anchors += 1
        self.assertGreater(anchors, 0)

    def test_every_erratum_has_a_test(self):
        """Every error in notes/errata.md names a test that exists, and every such test is named
        there."""
        named = re.findall(r"`(\w+)`",
                           " ".join(re.findall(r"\*Test.*?(?=\n\n|\Z)", text_of("notes/errata.md"),
                                               re.S)))
        defined = re.findall(r"^(?:Test\(errata, |REJECTED\()(\w+)",
                             text_of("tests/unit/errata/test_errata.c"), re.M)
        self.assertTrue(defined)
        self.assertEqual(sorted(named), sorted(defined))


if __name__ == "__main__":
    unittest.main()
