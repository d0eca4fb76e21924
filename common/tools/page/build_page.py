"""build_page.py -- joins the page: python3 build_page.py PTX-FOLDER EMULATOR.js OUT.html

The page holds the chapters, the steps' PTX and sources, ncu's recorded counters, the emulator and
the modules of this folder. All is inside of one file, and the file's content security policy names
the hashes of its scripts and styles.
"""
import base64
import hashlib
import html
import json
import os
import re
import subprocess
import sys
import zlib
from pathlib import Path
from urllib.parse import urlencode

HERE = Path(__file__).resolve().parent
TOP = HERE.parents[2]
NOTES = TOP / "notes"
STEPS = TOP / "steps"
LABS = HERE.parent / "labs"
PROFILES = TOP / "profiles"
sys.path.append(str(PROFILES / "measure"))
import cases  # noqa: E402  (it lies in profiles/)

TASKS = dict(re.findall(r"^== (.*)\n((?:(?!== ).*\n)*)",
                        (LABS / "tasks.txt").read_text(encoding="utf-8"), re.M))

# The steps whose kernels the page compiles, too.
COMPILED = (2, 3, 4, 5, 6, 7, 9, 11)  # steps, as in kernels.js
CODE_LABS = (2, 3, 4, 5, 6, 7, 9, 11, 13)
KEPT_SIZES = 16384  # elements of a recorded scan that the page can run
FIRST = "03-work-efficient"  # the chapter that stands in the page as text

# Pages that are no chapters, to which chapters lead. Those with a title stand in the contents.
BESIDE = [("Glossary", "glossary.md"), ("Errata", "errata.md")] + [
    ("", str(path.relative_to(NOTES))) for path in
    [*sorted(NOTES.glob("answers/*.md")),
     *(NOTES / "more" / name
       for name in ("caches.md", "streams.md", "multiprocessor.md", "shuffles.md", "ldmatrix.md",
                   "pictures.md", "sources.md"))]]

CHAPTER = re.compile(r"^\d+\. \[([^]]*)\]\(([^)#]+)\)", re.M)
IMAGE = re.compile(r'<img src="([^"]+)"')
STYLE = re.compile(r' style="[^"]*"')
LINK = re.compile(r'<a\s+href="([^"]*)"[^>]*>(.*?)</a>', re.S)
PREDICT = re.compile(r"<!-- predict: ([^|]*)\| ([^|]*) \| (.*?) -->")
PLAY = re.compile(r"<!-- play: step=(\d+) (.*?) \| (.*?) -->", re.S)
TOY = re.compile(r"<!-- (toy|side-by-side) -->")
LAB = re.compile(r"<!-- lab: (\w+) -->")
OUTSIDE = re.compile(r"<!-- not in the page -->.*?<!-- in the page, too -->", re.S)
CODE = re.compile(r"<!-- code: (\w+) -->")
OPEN = re.compile(r"<!-- open:( (\S+))? -->")
FIRST_GAP = re.compile(r"^( *).*// lab: (.*)", re.M)  # as labs.mk has it
TITLE = re.compile(r"<p><strong>(.*?)\.?</strong>\s*")
HINTS = r"^\[page %s\]\n(.*?)(?=^\[|\Z)"
ID = re.compile(r' id="([^"]*)"')
# The section after *Your turn*: the reader writes a kernel first, and then looks at the book's.
KERNEL = re.compile(r"<details>\s*(<summary>Show the book's kernel</summary>)")
FOLDED = ("<details class='kernel'>\\1"
          "<p><button class='one-file' data-step='%d'>Copy the step as one file</button> "
          "It compiles by itself, with a <code>main</code>: its first line says how.</p>")
FILE_NAME = re.compile(r"^(<code>)?[\w./-]+\.md(</code>)?$")
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)
FILE_LINE = re.compile(r'^(\s*\.file\s+\d+\s+)"([^"]*)"', re.M)


def fail(message):
    sys.exit("build_page.py: " + message)


# ---- chapters ----------------------------------------------------------------------------------

def chapters():
    """Title and file of each chapter, in the reading order of notes/README.md."""
    return CHAPTER.findall((NOTES / "README.md").read_text(encoding="utf-8"))


def rendered(text):
    command = ["pandoc", "--from", "gfm", "--to", "html5", "--no-highlight", "--wrap=none"]
    return subprocess.run(command, check=True, capture_output=True, text=True, input=text).stdout


def data_address(path):
    kinds = {".svg": "image/svg+xml", ".png": "image/png"}
    content = base64.b64encode(path.read_bytes()).decode()
    return "data:%s;base64,%s" % (kinds[path.suffix], content)


def name_of(file):
    """The name of a chapter's file in addresses, without a slash."""
    return file[:-len(".md")].replace("/", "-")


FILE = ('<span class="file" title="This file is in the repository, not in this page: %s">'
        '%s</span>')


def title_of(path):
    return path.read_text(encoding="utf-8").splitlines()[0].lstrip("# ")


def link_in_page(match, path, names):
    """A link to a chapter leads to it in the page. Other files of the repository are not in the
    page: what leads to one becomes text with the file's name as a title."""
    address, text = html.unescape(match[1]), match[2]
    if re.match(r"https?:", address):
        return match[0]
    file, _, place = address.partition("#")
    target = (path.parent / file).resolve() if file else path
    if target in names:
        place = "&amp;place=" + place if place else ""
        if FILE_NAME.match(text):  # in the page the files are chapters
            text = html.escape(title_of(target))
        return '<a href="#chapter=%s%s">%s</a>' % (names[target], place, text)
    shown = target.relative_to(TOP) if TOP in target.parents or target == TOP else target.name
    return FILE % (html.escape(str(shown)), text)


def question(match):
    """The place of a question: predict.js makes a field of it. The answer is a cell of the next
    table with this first head."""
    table, row, column = (html.escape(part.strip()) for part in match.groups())
    return '<div class="predict" data-table="%s" data-row="%s" data-column="%s"></div>' % (
        table, row, column)


def play_link(match, names):
    """A link that sets a step's player: `at` names a place in the run, such as first-conflict."""
    chapter = next(name for name in names.values() if name.startswith("%02d-" % int(match[1])))
    state = match[2].replace("at=", "to=").replace(" ", "&amp;")
    return '<a class="play-link" href="#chapter=%s&amp;%s">%s</a>' % (
        chapter, state, html.escape(" ".join(match[3].split())))


def hints(name):
    """The three hints of a lab of the page."""
    text = (LABS / "hints.txt").read_text(encoding="utf-8")
    found = re.search(HINTS % name, text, re.M | re.S)
    if not found:
        fail("common/tools/labs/hints.txt has no hints [page %s]" % name)
    levels = re.split(r"^\d ", found[1], flags=re.M)[1:]
    return [re.sub("`([^`]*)`", r"<code>\1</code>", html.escape(" ".join(one.split())))
            for one in levels]


def lab(match):
    """A lab's task and hints; lab_widget.js adds the questions."""
    name = match[1]
    task = rendered(TASKS[name])
    folded = "".join("<details class='hint'><summary>Hint %d</summary><p>%s</p></details>"
                     % (level, text) for level, text in enumerate(hints(name), 1))
    return '<section class="lab" data-lab="%s">%s%s</section>' % (
        name, TITLE.sub(r'<h3 id="lab-%s">Lab: \1</h3><p>' % name, task), folded)


CODE_LAB = """<section class="lab" data-code="%(name)s"><h3 id="code-%(name)s">%(title)s</h3>
<p>Write it here, and press <em>Check</em>: the page compiles the file with its own compiler of a
part of CUDA C, runs it and judges it. Outside of the page, <code>make %(check)s</code>%(grade)s
judges it again, with nvcc.</p></section>"""
KINDS = {"lab": ("Lab %s in this page", "check%s", " or <code>make grade</code>"),
         "exercise": ("Exercise %s in this page", "check-exercise%s", ""),
         "first": ("Puzzle %s in this page", "check-first%s", "")}


def code_lab(match):
    """A lab whose kernel is written in the page; code_lab.js makes its box."""
    kind, number = re.match(r"([a-z]+)(\d+)$", match[1]).groups()
    title, check, grade = KINDS[kind]
    return CODE_LAB % {"name": match[1], "title": title % number, "check": check % number,
                       "grade": grade}


def open_link(match):
    """A link to the reader's own kernel, in which a program of the repository runs."""
    if not match[2]:
        return '<p><a class="go" href="#chapter=own">Write it here</a></p>'
    path = TOP / match[2]
    state = urlencode({"chapter": "own", "own": path.read_text(encoding="utf-8"),
                       "form": '{"hasRun":true}'})
    return '<p><a class="go" href="#%s">Open %s here</a></p>' % (html.escape(state), path.name)


def chapter_html(path, names):
    """The text of a chapter. Its ids begin with its name, as other chapters have the same ones."""
    text = OUTSIDE.sub("", STYLE.sub("", rendered(path.read_text(encoding="utf-8"))))
    if KERNEL.search(text):
        text = KERNEL.sub(FOLDED % int(path.name[:2]), text)
    text = CODE.sub(code_lab, LAB.sub(lab, text))
    text = ID.sub(lambda m: ' id="%s:%s"' % (names[path], m[1]), text)
    if "<h2" not in text:  # no level is left out
        text = re.sub(r"(</?h)3\b", r"\g<1>2", text)
    text = PREDICT.sub(question, text)
    text = PLAY.sub(lambda m: play_link(m, names), text)
    text = TOY.sub(r'<div class="\1"></div>', text)
    text = IMAGE.sub(lambda m: '<img src="%s"' % data_address(path.parent / m[1]), text)
    text = LINK.sub(lambda m: link_in_page(m, path, names), text)
    return OPEN.sub(open_link, text)


def article(name, text):
    return '<article id="chapter-%s" data-chapter="%s"%s>%s</article>' % (
        name, name, "" if text else " hidden", text)


def entries(pages):
    return "\n".join('<li><a href="#chapter=%s">%s</a></li>' % (name_of(file), html.escape(title))
                     for title, file in pages if title)


def chapter_parts():
    """The first chapter as an article, places for the others, their texts, and the contents. The
    texts are data until a chapter is opened: the browser does not read them for the first
    picture."""
    names = {NOTES / file: name_of(file) for _, file in chapters() + BESIDE}
    texts = {name: "\n" + chapter_html(path, names) for path, name in names.items()}
    if FIRST not in texts:
        fail("notes/README.md does not name the chapter %s" % FIRST)
    others = [name for name in texts if name != FIRST]
    return {"NAMED": FIRST, "FIRST": article(FIRST, texts[FIRST]),
            "OTHERS": "\n".join(article(name, "") for name in others),
            "TEXTS": "\n".join('<script type="application/json" id="text-%s">%s</script>'
                               % (name, inert(json.dumps(texts[name]))) for name in others),
            "ENTRIES": entries(chapters()), "BESIDE": entries(BESIDE)}


# ---- data --------------------------------------------------------------------------------------

def short_name(path):
    """A path as the page shows it: from the top of the repository, or only its last part."""
    path = os.path.normpath(path)
    if path.startswith(str(TOP) + "/"):
        return path[len(str(TOP)) + 1:]
    return "cuda/include/" + path.split("/include/")[-1] if "/include/" in path else path


def ptx_texts(folder):
    texts = {}
    for path in sorted(folder.glob("*/*.ptx")):
        text = path.read_text(encoding="utf-8")
        texts["%s/%s" % (path.parent.name, path.stem)] = FILE_LINE.sub(
            lambda m: '%s"%s"' % (m[1], short_name(m[2])), text)
    if not texts:
        fail("there are no PTX files in %s" % folder)
    return texts


def is_ours(name):
    """Whether a file of a PTX text, by its short name, lies in this repository."""
    return not name.startswith("/") and (TOP / name).is_file()


def sources(texts):
    """The steps' files that the PTX texts name. PTX that was compiled in another folder names files
    of that folder, and the page would lack them."""
    found = {}
    for ptx, text in texts.items():
        names = [m[2] for m in FILE_LINE.finditer(text) if not m[2].startswith("cuda/include/")]
        lost = [name for name in names if not is_ours(name)]
        if lost or not names:
            fail("%s.ptx names %s, which is not in %s: it was compiled elsewhere. Remove "
                 "build/page/ptx and call make page again" % (ptx, lost[0] if lost else "no file",
                                                              TOP))
        found.update((name, (TOP / name).read_text(encoding="utf-8"))
                     for name in names if name.startswith(("steps/", "common/step/")))
    return dict(sorted(found.items()))


def headers(steps):
    """The repository's headers that the kernels of these steps include, for the page's compiler."""
    found = {}
    waiting = [path for step in steps for path in sorted(STEPS.glob("%02d-*/*.cu" % step))]
    while waiting:
        path = waiting.pop()
        for name in INCLUDE.findall(path.read_text(encoding="utf-8")):
            near = [one for one in (path.parent / name, TOP / name) if one.is_file()]
            key = str(near[0].relative_to(TOP)) if near else ""
            if near and key not in found:
                found[key] = near[0].read_text(encoding="utf-8")
                waiting.append(near[0])
    return dict(sorted(found.items()))


def recorded():
    """ncu's counters of whole launches: "step,variant,n" -> [launch, kernel, metric, value]."""
    counters = {}
    for row in cases.read(PROFILES / "h200" / "counters.csv")[0]:
        if row["line"] or int(row["n"]) > KEPT_SIZES:
            continue
        key = "%s,%s,%s" % (row["step"], row["variant"], row["n"])
        counters.setdefault(key, []).extend(
            [int(row["launch"]), row["kernel"], metric, float(value)]
            for metric, value in row.items() if "__" in metric)  # as ncu names counters
    return counters


def differences():
    """Why a counter of the emulator differs from ncu's: steps, variants ("*": all), counters."""
    return [{"steps": [int(step) for step in row["steps"].split()],
             "variants": row["variants"].split(), "counters": row["counters"].split("|"),
             "why": row["why"]} for row in cases.read(PROFILES / "counters_differences.csv")[0]]


def printed(*command):
    return subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True,
                          cwd=TOP).stdout


def source_of(lab):
    own = list((LABS / "sources").glob("%02d-*.cu" % lab))
    return own[0] if own else next(STEPS.glob("%02d-*/scan.cu" % lab))


def code_labs():
    """Labs, exercises and the first puzzles: the file to begin with, as `make exerciseN` writes it,
    and as what it is judged. code_lab.js makes a lab's file of its solution."""
    found = {}
    for lab in CODE_LABS:
        found["lab%d" % lab] = {"judge": str(lab)}
        exercise = LABS / "exercises" / "exercise.sh"
        found["exercise%d" % lab] = {"judge": printed(exercise, "--judge", lab).strip(),
                                     "text": printed(exercise, lab)}
    for path in sorted((STEPS / "first-kernel").glob("first[0-9].cu")):
        text = path.read_text(encoding="utf-8")
        found[path.stem] = {"judge": path.stem, "text": FIRST_GAP.sub(r"\1// your line: \2", text)}
    return found


def lab_texts():
    """What the judge needs of each lab: the solution that its counters are compared with."""
    solutions = {str(lab): printed(LABS / "skeleton.sh", "--solution", lab, source_of(lab))
                 for lab in CODE_LABS}
    solutions["exercise4"] = subprocess.run(
        ["sed", "-f", str(LABS / "exercises" / "solution4.sed")], input=solutions["4"], check=True,
        capture_output=True, text=True).stdout
    return {"solutions": solutions, "tasks": code_labs(),
            **{name: (LABS / ("%s.txt" % name)).read_text(encoding="utf-8")
               for name in ("weights", "hints")}}


def page_data(folder):
    texts = ptx_texts(folder)
    return {"ptx": texts, "sources": sources(texts),
            "headers": headers(COMPILED), "recorded": recorded(),
            "alone": {step: printed(TOP / "common/build/alone.py", step) for step in range(2, 8)},
            "differences": differences(), "labs": lab_texts()}


# ---- the file ----------------------------------------------------------------------------------

LOADER = """(function () {
"use strict";
const modules = {}, loaded = {};
function require(name) {
    if (!loaded[name]) {
        loaded[name] = { exports: {} };
        modules[name](loaded[name], require);
    }
    return loaded[name].exports;
}
MODULES
MAIN
}());
"""


def modules():
    """All modules as one script. Each is a function of a table, as in node."""
    parts = []
    for path in sorted(HERE.glob("*.js")):
        if path.name in ("worker.js", "main.js"):
            continue
        parts.append('modules["./%s"] = function (module, require) {\n%s};\n'
                     % (path.name, path.read_text(encoding="utf-8")))
    main = (HERE / "main.js").read_text(encoding="utf-8")
    return LOADER.replace("MODULES", "".join(parts)).replace("MAIN", main)


def hash_of(text):
    return "'sha256-%s'" % base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def inert(text):
    """A text that may stand in a script element: nothing in it ends the element or begins a
    comment."""
    return text.replace("<", "\\u003c")


def policy(scripts, style):
    return ("default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; "
            "worker-src blob:; script-src %s 'wasm-unsafe-eval'; style-src %s"
            % (" ".join(map(hash_of, scripts)), hash_of(style)))


def film(folder, emulator):
    """What the first screen plays, as JSON."""
    return printed("node", "--no-experimental-fetch", HERE / "sweep.js", emulator.resolve(),
                   folder.resolve())


def page(folder, emulator):
    script = "\n" + modules()
    template = (HERE / "page.html").read_text(encoding="utf-8")
    early = re.search("<script>(.*?)</script>", template, re.S)[1]
    style = "\n" + (HERE / "style.css").read_text(encoding="utf-8")
    wasm = zlib.compress(emulator.with_suffix(".wasm").read_bytes(), 9)
    worker = '%s\nconst WASM = "%s";\n%s' % (
        emulator.read_text(encoding="utf-8"), base64.b64encode(wasm).decode(),
        (HERE / "worker.js").read_text(encoding="utf-8"))
    if re.search("</script|<!--", script + early):
        fail("a module contains the end of a script")
    parts = {"POLICY": policy((script, early), style), "STYLE": style, "SCRIPT": script,
             "DATA": inert(json.dumps(page_data(folder))),
             "WORKER": inert(json.dumps(worker)),
             "FILM": inert(film(folder, emulator)), **chapter_parts()}
    return re.sub(r"@([A-Z]+)@", lambda m: parts[m[1]], template)


def main():
    folder, emulator, out = map(Path, sys.argv[1:4])
    out.write_text(page(folder, emulator), encoding="utf-8")


if __name__ == "__main__":
    main()
