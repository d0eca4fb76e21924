"""test_layers.py -- includes of common/ and steps/ go only the way that MAY_INCLUDE says, and
notes/layout.md shows it."""
import re
import unittest
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)
SOURCES = (".c", ".h", ".cu", ".cuh", ".inc")

# What the files of a folder may include besides those of their own folder: all files of another
# one, or a file by its name. A folder that is not named here belongs to the nearest one above it
# that is.
EMU = "common/tools/emu/"
API = EMU + "emu.h"
COMMAND = ["common/command", "common/files"]
VISIBLE = "common/files/visible.h"
ALLOCATED = "common/files/allocated.h"


# The emulator, from the bottom up: the files of a room may include only rooms above it in this
# table.
EMULATOR = {
    "ptx": [],
    "machine": ["ptx"],
    "ops": ["ptx", "machine"],
    "watch": ["ptx", "machine"],
    "report": ["ptx", "watch"],
    "libs": ["ptx"],
    "command": ["ptx", "watch", "report"],
    "runtime": ["ptx", "machine", "watch", "report"],
}
# What they may include besides.
SETTINGS = EMU + "command/settings.h"
OTHERS = {
    **dict.fromkeys(("ptx", "machine", "ops", "watch"), [VISIBLE, ALLOCATED]),
    "report": ["common/files"],
    "command": COMMAND,
    "runtime": ["common/files", SETTINGS],
}


def emulator():
    """What each room of the emulator may include."""
    return {"common/tools/emu": [],  # emu.h
            **{EMU + room: [API] + OTHERS.get(room, []) + [EMU + other for other in others]
               for room, others in EMULATOR.items()}}


STEP = "common/step"
HOST = "common/harness/host"
PRINT = "common/harness/print"
INPUT = "common/harness/input"
VERIFY = "common/harness/verify"
RUN = "common/harness/run"
REPORT = "common/harness/report"
TRACED = "common/harness/traced"
PICTURES = "common/harness/pictures"
EXPERIMENT = "common/experiment"
# The compiler of a subset of CUDA C, in the same order. cc.h, its interface, may be included by all
# of it.
CC = "common/tools/cc/"
CC_API = CC + "cc.h"
COMPILER = {
    CC + "source": [CC_API],
    CC + "syntax": [CC_API, CC + "source"],
    CC + "ir": [CC_API, CC + "source", CC + "syntax"],
    CC + "ptx": [CC_API, CC + "source", CC + "syntax", CC + "ir"],
    "common/tools/cc": [CC + "source", CC + "syntax", CC + "ir", CC + "ptx"],
    CC + "command": ["common/tools/cc"] + COMMAND,
}
# The harness, and what is built on it, in the same order.
HARNESS = {
    "common/files": [],
    "common/command": ["common/files"],
    STEP: COMMAND,
    HOST: [],
    PRINT: [STEP] + COMMAND,
    INPUT: [STEP, HOST, PRINT, "common/command"],
    VERIFY: [STEP, HOST, PRINT, "common/command"],
    RUN: [STEP, HOST, PRINT, INPUT, VERIFY] + COMMAND,
    REPORT: [STEP, PRINT, RUN] + COMMAND,
    TRACED: [STEP, PRINT, REPORT] + COMMAND,
    "common/harness": [STEP, HOST, PRINT, INPUT, VERIFY, RUN, REPORT, TRACED] + COMMAND,
    PICTURES: [HOST, PRINT, INPUT] + COMMAND,
    EXPERIMENT: [STEP, PRINT, RUN] + COMMAND,
    "common/bench/baseline": [STEP],
    "common/bench": [STEP, HOST, PRINT, INPUT, VERIFY, RUN] + COMMAND,
    "common/tools/labs": [EMU + "ptx", EMU + "report", STEP, VERIFY] + COMMAND,
    "common/tools/labs/banks": ["common/command", "common/tools/labs"],
    "common/tools/labs/gpu": ["common/tools/labs"],
    "common/tools/labs/sources": [STEP],
    "common/tools/labs/grader": [PRINT, "common/tools/labs"] + COMMAND,
    "common/tools/page/face": [EMU + "ptx", EMU + "report", CC_API, "common/tools/labs",
                         HOST, PRINT],
}
# What the library installs of the steps.
LIBRARY = {"common/tools/library": ["steps/" + name for name in (
    "12-pipeline/scan.h", "13-compaction/compact.h", "13-compaction/launch.cuh",
    "14-summed-area-table/sat.h", "15-radix-sort/sort.cuh", "16-operators/scan.h",
    "16-operators/scan.cuh", "16-operators/check.cuh")]}
MAY_INCLUDE = {**emulator(), **HARNESS, **COMPILER, **LIBRARY}

# The folders of a step, and those of the same step that each may include ("" is the step's own;
# "program" are the files in it that make ./stepN, by PROGRAM_FILE).
INSIDE = {"parts": [], "": ["parts"], "program": ["parts", ""], "examples": [""],
          "experiments": ["parts", "", "program"]}
PROGRAM_FILE = re.compile(r"steps/[^/]+/(\w+\.c|(request|program|reference\w*)\.(h|cuh))$")
PROGRAM = [STEP, HOST, PRINT, INPUT, VERIFY, RUN, REPORT, "common/harness"] + COMMAND
# Headers of a step's own folder that its parts include.
FIRST = {"steps/13-compaction": ["steps/13-compaction/compact.h"],
         "steps/16-operators": ["steps/16-operators/operators.cuh"]}
BESIDES = {"parts": [STEP], "": [STEP], "program": PROGRAM + [PICTURES], "examples": [],
           "experiments": PROGRAM + [EXPERIMENT]}
# What some steps build on besides: parts of an earlier step, or a file of it.
STEP_12 = ["steps/12-pipeline/parts", "steps/12-pipeline/scan.h", "steps/12-pipeline/wave.cuh"]
EARLIER = {
    "steps/00-copy": PROGRAM,  # it times and prints its own tables
    "steps/13-compaction": STEP_12,
    "steps/14-summed-area-table": STEP_12 + ["steps/04-conflict-free/scan.h"],
    "steps/15-radix-sort": STEP_12,
    "steps/16-operators": STEP_12 + ["steps/13-compaction/compact.h",
                                     "steps/14-summed-area-table/sat.h",
                                     "steps/15-radix-sort/sort.h"],
    "steps/17-many-gpus": STEP_12 + ["common/command", "steps/16-operators/operators.cuh",
                                     "steps/16-operators/parts"],
}


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
    return own + BESIDES[inside] + EARLIER.get(step, []) + FIRST.get(step, [])


def wrong_include(path, included):
    """Why a file may not include another one; None: it may."""
    own, other = room_of(path), room_of(included)
    if own is None or other is None:
        unknown = path if own is None else included
        return "%s is in no room: name its folder in tests/docs/test_layers.py" % unknown
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

    def test_no_circles(self):
        below = {API, VISIBLE, ALLOCATED, CC_API, SETTINGS, *COMMAND}
        for room, others in MAY_INCLUDE.items():
            self.assertEqual({o for o in others if not o.startswith("steps/")} - below, set(),
                             "%s may include what stands behind it" % room)
            below.add(room)
        before = []
        for folder, others in INSIDE.items():
            self.assertEqual(set(others) - set(before), set(), folder)
            before.append(folder)
        for step, others in EARLIER.items():
            for other in others:
                self.assertTrue(other.startswith("common/") or other < step, (step, other))

    def test_every_room_is_there(self):
        for room in MAY_INCLUDE:
            self.assertTrue((TOP / room).is_dir(),
                            "%s is no folder any more: take it out of MAY_INCLUDE" % room)

    def test_the_notes_say_the_same_of_the_emulator(self):
        text = (TOP / "notes/layout.md").read_text(encoding="utf-8")
        rows = re.findall(r"^\| `(\w+)/` \|[^|]*\| ([^|]*) \|$", text, re.M)
        said = {folder: re.findall(r"`(\w+)`", others) for folder, others in rows}
        for folder, others in EMULATOR.items():
            self.assertEqual(said.get(folder), others, folder)

    def test_no_two_files_of_the_emulator_have_one_name(self):
        paths = sorted(p for p in (TOP / EMU).rglob("*.*") if p.is_file())
        self.assertEqual(len({p.name for p in paths}), len(paths), [p.name for p in paths])


if __name__ == "__main__":
    unittest.main()
