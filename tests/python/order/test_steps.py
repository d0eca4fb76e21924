"""test_steps.py -- the table of notes/more/barriers.md is what --tool order says of the steps."""
import json
import subprocess
import tempfile
import unittest
from pathlib import Path

TOP = Path(__file__).resolve().parents[3]
PAGE = TOP / "notes/more/barriers.md"
RUNS = {2: ["--n 512"], 3: ["--n 512"], 4: ["--n 512"], 5: ["--n 5000"], 6: ["--n 5000"],
        7: ["--n 5000"], 8: ["--n 5000"], 9: ["--n 5000"], 10: ["--n 20000"], 11: ["--n 20000"],
        12: ["--n 20000", "--n 300000"], 13: ["--n 20000", "--n 300000"],
        14: ["--size 300x200", "--size 600x200"], 15: ["--n 3000", "--n 20000"],
        16: ["--n 20000", "--n 300000", "--shape 2x20000"], 17: ["--n 20000 --exchange mpi"]}
ANSWERS = ("needed", "not-needed", "never-executed")  # the first one that a run gives


def rows():
    """Of each step and source line: what it is, its text, and the answer."""
    found = {}
    for step, runs in RUNS.items():
        for options in runs:
            with tempfile.TemporaryDirectory() as folder:
                log = Path(folder) / "notes.json"
                words = ["build/emu/emu", "--tool", "order", "--json", "--log-file", log,
                         f"./step{step}", "--reps", "1", *options.split()]
                subprocess.run(words, cwd=TOP, check=True, capture_output=True)
                document = json.loads(log.read_text(encoding="utf-8"))
            for note in document["findings"]:
                place = note["place"]
                lines = Path(place["file"]).read_text(encoding="utf-8").splitlines()
                text = lines[place["line"] - 1].strip().split("//")[0].rstrip("\\ ")
                what = note["title"].partition(": ")[2]
                key = (step, Path(place["file"]).name, place["line"], what, text)
                found[key] = min(found.get(key, 2), ANSWERS.index(note["kind"]))
    return [f"| {step} | {file} | {what} | `{text}` | {ANSWERS[answer].replace('-', ' ')} |"
            for (step, file, _, what, text), answer in sorted(found.items())]


class Steps(unittest.TestCase):
    maxDiff = None

    def test_the_table_of_barriers_slow(self):
        shown = [line for line in PAGE.read_text(encoding="utf-8").splitlines()
                 if line.startswith("| ") and line[2].isdigit()]
        self.assertEqual(rows(), shown)


if __name__ == "__main__":
    print("\n".join(rows()))
