"""test_layers.py -- includes of common/ and steps/ go only the way that the tables of
notes/layout.md say: the third column of a folder's row names all that its files may include."""
import re
import unittest
from pathlib import Path

from step_table import ROWS

TOP = Path(__file__).resolve().parents[2]
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)
SOURCES = (".c", ".h", ".cu", ".cuh", ".inc")
EMU = "common/tools/emu/"
API = EMU + "emu.h"  # may be included everywhere


def tables():
    """The rows of layout.md, in its order: a folder, and the words of its third column. A table
    whose first heading is "folder in `X/`" has folders of X."""
    rows, base = [], ""
    for line in (TOP / "notes/layout.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        head = re.match(r"folder(?: in `(.*)`)?$", cells[0])
        if head:
            base = head[1] or "" if cells[2:] == ["may include"] else None
        elif base is not None and len(cells) == 3 and re.match(r"`[^`]*/`$", cells[0]):
            rows.append((base + cells[0].strip("`/"), cells[2]))
    return rows


def rules():
    """What the files of each folder may include: other folders, or files by their names. A folder
    is said by its last name (the last one above, if there are two), a file by its path."""
    found, last_names = {}, {}
    for folder, cell in tables():
        if not folder.startswith("common/"):
            continue
        words = re.sub(r"\([^)]*\)", "", cell).replace("`", "")
        words = re.split(r"[,;]| and |\s+", words)
        found[folder] = [last_names.get(w.strip("/"), w) for w in words if w]
        last_names[folder.split("/")[-1]] = folder
        if EMU + "ptx" in found:  # and not the compiler's
            last_names["ptx"] = EMU + "ptx"
    return {EMU.rstrip("/"): [], **found}  # emu.h


MAY_INCLUDE = rules()

# The folders of a step, and those of the same step that each may include ("" is the step's own;
# "program" are the files in it that make ./stepN, by PROGRAM_FILE).
INSIDE = {"parts": [], "": ["parts"], "program": ["parts", ""],
          "experiments": ["parts", "", "program"]}
PROGRAM_FILE = re.compile(r"steps/[^/]+/(\w+\.c|(request|program|reference\w*)\.(h|cuh))$")
PROGRAM = ["common/step", "common/files", "common/harness"] + [
    "common/harness/" + room for room in ("host", "print", "input", "verify", "run", "report")]
# Headers of a step's own folder that its parts include.
FIRST = {"steps/13-compaction": ["steps/13-compaction/compact.h"]}
BESIDES = {"parts": ["common/step"], "": ["common/step"],
           "program": PROGRAM + ["common/harness/pictures"],
           "experiments": PROGRAM + ["common/experiment"]}
# Step 0 times and prints its own tables; the library of step 17 has errors of several ranks.
ENGINE = "common/tools/library/scan"  # whose command step 16 is
BESIDES_STEP = {"00": PROGRAM, "16": [ENGINE], "17": ["common/files"]}
# What steps offer to later ones that use them (steps/steps.csv).
OFFERED = {"4": ["scan.h"], "12": ["parts", "scan.h", "wave.cuh"], "13": ["compact.h"],
           "14": ["sat.h"], "15": ["sort.h"], "16": ["operators.cuh", "segment.cuh"]}


def earlier(step):
    """What a step builds on: parts of an earlier one, or a file of it."""
    number = Path(step).name[:2]
    used = ROWS[int(number)]["uses"].split(":") if number.isdigit() else []
    return BESIDES_STEP.get(number, []) + [
        "%s/%s" % (next(TOP.glob("steps/%02d-*" % int(one))).relative_to(TOP), file)
        for one in used for file in OFFERED.get(one, [])]


def room_of(path):
    """The room of a file: a folder of MAY_INCLUDE, a step, or a folder of a step."""
    folders = ["/".join(Path(path).parts[:n]) for n in range(len(Path(path).parts) - 1, 0, -1)]
    if path.startswith("steps/"):
        return folders[0] + ("/program" if PROGRAM_FILE.match(path) else "")
    return next((folder for folder in folders if folder in MAY_INCLUDE), None)


def allowed(room):
    if not room.startswith("steps/"):
        return MAY_INCLUDE[room] + [API]
    step = "/".join(room.split("/")[:2])
    inside = room[len(step) + 1:]
    own = ["/".join(filter(None, (step, folder))) for folder in INSIDE[inside]]
    return own + BESIDES[inside] + earlier(step) + FIRST.get(step, [])


def wrong_include(path, included):
    """Why a file may not include another one; None: it may."""
    own, other = room_of(path), room_of(included)
    if own is None or other is None:
        return "%s is in no folder of notes/layout.md" % (path if own is None else included)
    if own == other or {other, included, str(Path(included).parent)} & set(allowed(own)):
        return None
    return ("%s includes %s, but %s may not include %s (notes/layout.md): move what it needs, or "
            "turn the call round" % (path, included, own, other))


def includes():
    """Every file of common/ and steps/, and one that it includes, both as paths from the top
    folder."""
    for folder in ("common", "steps"):
        for path in sorted((TOP / folder).rglob("*")):
            if path.suffix not in SOURCES or not path.is_file():
                continue
            for name in INCLUDE.findall(path.read_text(encoding="utf-8")):
                beside = (path.parent / name).resolve()
                found = beside if beside.exists() else TOP / name
                yield path.relative_to(TOP).as_posix(), found.relative_to(TOP).as_posix()


class Layers(unittest.TestCase):
    def test_includes_go_the_declared_way(self):
        count = 0
        for path, included in includes():
            count += 1
            with self.subTest(path=path, included=included):
                self.assertTrue((TOP / included).exists(), "%s includes %s, which does not exist"
                                % (path, included))
                self.assertIsNone(wrong_include(path, included))
        self.assertGreater(count, 500, "most includes are not found")

    def test_the_tutorial_includes_nothing_of_a_product_but_emu_h(self):
        for path, included in includes():
            if not path.startswith("common/tools/") and included.startswith("common/tools/"):
                engine = path.startswith("steps/16-") and included.startswith(ENGINE + "/")
                self.assertTrue(included == API or engine, path)

    def test_no_circles(self):
        """A folder may include only what stands above it in layout.md, or single files."""
        above = set()
        for room, others in MAY_INCLUDE.items():
            self.assertTrue((TOP / room).is_dir(), "%s is no folder" % room)
            self.assertEqual({o for o in others if o in MAY_INCLUDE} - above, set(), room)
            above.add(room)
        for step in sorted(str(path.relative_to(TOP)) for path in TOP.glob("steps/[0-9][0-9]-*")):
            for other in earlier(step):
                self.assertTrue(other.startswith("common/") or other < step, (step, other))

    def test_no_two_files_of_the_emulator_have_one_name(self):
        paths = sorted(p for p in (TOP / EMU).rglob("*.*")
                       if p.is_file() and "examples" not in p.parts)
        self.assertEqual(len({p.name for p in paths}), len(paths), [p.name for p in paths])


if __name__ == "__main__":
    unittest.main()
