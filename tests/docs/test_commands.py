"""test_commands.py -- the commands in README.md, notes/first-kernel.md, 02-naive.md,
17-many-gpus.md, more/ldmatrix.md and answers/ print what the page shows. A command is a line `$
command` in a block ```console; the lines below it are its output, in which … stands for
anything, and alone on a line for any lines. And what the chapters run has been built: a reader
follows them in reading order, in a fresh clone."""
import glob
import os
import re
import shutil
import subprocess
import unittest
from concurrent.futures import ThreadPoolExecutor

from book import NOTES, TOP, reading_order, text_of

BLOCK = re.compile(r"^```console\n(.*?)^```$", re.M | re.S)
# No "emulating for 2 s" on a slow machine, and blocks that print do so in their order.
QUIET = {**os.environ, "EMU_PROGRESS": "0", "EMU_THREADS": "1"}
ANSWERS = sorted(glob.glob("answers/*.md", root_dir=NOTES))
PAGES = ["../README.md", "first-kernel.md", "02-naive.md", "17-many-gpus.md", "more/ldmatrix.md",
         *ANSWERS]
OF_RANKS = ["17-many-gpus.md", "answers/17.md"]  # need Open MPI


def commands(page):
    """Each command of a page, with the lines that it is to print."""
    for block in BLOCK.findall(text_of(page)):
        first, *rest = re.split(r"^\$ ", block, flags=re.M)
        assert first == "", "%s: a block of commands begins with output" % page
        for command in rest:
            line, _, shown = command.partition("\n")
            yield line, shown


def pattern(shown):
    """The regular expression for the output that a page shows."""
    lines = [r"(?:.*\n)*" if line == "…" else re.escape(line).replace("…", ".*") + r"\n"
             for line in shown.splitlines()]
    return re.compile("".join(lines) + r"\Z")


def lacks_mpi():
    """Open MPI is missing, and may be missing."""
    return ("MPI_REQUIRED" not in os.environ
            and not ((TOP / "step17").exists() and shutil.which("mpirun")))


def run(page):
    """The complaints about a page: its commands run one after the other."""
    wrong = []
    for command, shown in commands(page):
        done = subprocess.run(["sh", "-c", command], cwd=TOP, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300,
                              env=QUIET, encoding="utf-8", errors="replace", check=False)
        if not pattern(shown).match(done.stdout):
            wrong.append("notes/%s: `%s` prints:\n%s\nand the page shows:\n%s"
                         % (page, command, done.stdout[:3000], shown))
    return wrong


class Commands(unittest.TestCase):
    def they_print_what_is_shown(self, pages):
        with ThreadPoolExecutor() as pool:
            for page, wrong in zip(pages, pool.map(run, pages)):
                with self.subTest(page=page):
                    self.assertEqual(wrong, [], "\n".join(wrong))

    def test_they_print_what_the_page_shows_slow(self):
        self.they_print_what_is_shown([page for page in PAGES if page not in OF_RANKS])

    def test_of_ranks_they_print_what_the_page_shows_slow(self):
        if lacks_mpi():
            self.skipTest("Open MPI is missing: make setup-mpi installs it")
        self.they_print_what_is_shown(OF_RANKS)

    def test_every_page_has_commands(self):
        for page in PAGES:
            with self.subTest(page=page):
                self.assertTrue(list(commands(page)), "%s has no block ```console" % page)

    def test_each_question_has_an_answer(self):
        """As many headings as questions, numbered alike, each with a command."""
        for page in ANSWERS:
            with self.subTest(page=page):
                [chapter] = re.findall(r"\(\.\./([\w/-]+\.md)#questions\)", text_of(page))
                link = os.path.relpath(page, os.path.dirname(chapter) or ".")
                self.assertIn("](%s)" % link, text_of(chapter), "the chapter links its answers")
                questions = text_of(chapter).split("\n## Questions\n")[1]
                asked = re.findall(r"^(\d)\. ", questions.split("\n## ")[0], re.M)
                answers = re.split(r"^## (?=\d)", text_of(page), flags=re.M)[1:]
                self.assertEqual([answer[0] for answer in answers], asked)
                self.assertTrue(3 <= len(asked) <= 5, "three to five questions")
                for answer in answers:
                    self.assertIn("```console", answer)

    def test_other_output_is_noticed(self):
        self.assertTrue(pattern("a\n…\nb … c\n").match("a\nx\ny\nb 1 c\n"))
        for output in ("a\nb 1 d\n", "a\nb 1 c\nmore\n", "x\na\nb 1 c\n"):
            self.assertFalse(pattern("a\n…\nb … c\n").match(output))


CODE = re.compile(r"^```(?:console)?\n(.*?)^```$|`([^`\n]+)`", re.M | re.S)
STEP = re.compile(r"^(?:\w+=\S+ )*(?:mpirun .*)?\./(step\d+)\b")


def parts_of(text):
    """Each command of a text, with whether it stands in a block of its own and not in a sentence;
    other lines of a block, such as output, are among them."""
    for code in CODE.finditer(text):
        for line in (code[1] or code[2]).splitlines():
            for part in re.split(r"&&|\|\||[;|]", re.sub(r"\s#.*", "", line)):
                yield part.strip().removeprefix("$ "), code[1] is not None


def run_before_built(pages):
    """The commands that run a program which no `make` before them has built, or which needs a part
    that no `make` has installed. The pages are texts, read one after the other."""
    made, early = set(), []
    for text in pages:
        for part, in_block in parts_of(text):
            words = part.split()
            step = STEP.match(part)
            needs = {step[1]} if step and in_block else set()
            if words[:1] == ["make"]:
                made.update(words[1:])
            elif words[:1] == ["common/build/run17.sh"]:
                needs = {"step17"}
            if needs & {"step17"} or words[:2] == ["make", "run17"]:
                needs |= {"setup-mpi"}
            if "run17" in made:
                made.add("step17")
            early += [part] if needs - made else []
    return early


class Built(unittest.TestCase):
    def test_a_program_is_built_before_it_is_run(self):
        self.assertEqual(run_before_built(map(text_of, reading_order())), [])
        self.assertEqual(run_before_built([text_of("../README.md")]), [])


class FirstKernel(unittest.TestCase):
    def test_readme_shows_the_kernel_that_it_runs(self):
        shown = re.search(r"^```c\n(.*?)^```$", text_of("../README.md"), re.M | re.S)[1]
        program = (TOP / "steps/first-kernel/sums.cu").read_text(encoding="utf-8")
        self.assertIn("\n%s" % shown, program)

    def test_the_chapter_shows_the_program(self):
        program = (TOP / "steps/first-kernel/neighbours.cu").read_text(encoding="utf-8")
        shown = re.search(r"^```c\n(.*?)^```$", text_of("first-kernel.md"), re.M | re.S)[1]
        self.assertEqual(shown, program.split("*/\n", 1)[1])

    def test_the_chapter_shows_the_first_puzzle(self):
        puzzle = (TOP / "steps/first-kernel/first1.cu").read_text(encoding="utf-8")
        kernel = re.search(r"__global__.*?\n}\n", puzzle, re.S)[0]
        self.assertIn("\n```\n" + re.sub(r"( +)out.*// lab: ", r"\1// your line: ", kernel)
                      + "```\n", text_of("first-kernel.md"))


if __name__ == "__main__":
    unittest.main()
