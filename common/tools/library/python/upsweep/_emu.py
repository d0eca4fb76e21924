"""The command emu of a wheel that has the emulator (backend.py); and for notebooks the magic emu
(%load_ext upsweep), which compiles and runs a cell of CUDA C."""
import html
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

_last = []  # the cell that ran last

# Options that change how a program runs. With any other, its report is shown, too.
_QUIET = {"--html", "--schedule", "--blocks", "--devices", "--threads", "--progress",
          "--kernel-instructions", "--clock-seed"}


def program():
    """The path of the emulator's command. Raises FileNotFoundError where the wheel has none."""
    path = Path(__file__).parent / "bin" / "emu"
    if not path.exists():
        raise FileNotFoundError("this package was installed without the command emu: install a"
                                " released wheel (upsweep-…-manylinux….whl)")
    return str(path)


def main():
    os.execv(program(), ["emu", *sys.argv[1:]])


def emu(line, cell=None):
    """%%emu [options]: compiles the cell, a CUDA program, and runs it in the emulator.
    %emu [options]: runs the last such cell again.

    It takes the options of the command emu, which %emu --help lists, such as --tool racecheck,
    --page source or --gpu t4. Without one that asks for a report, only what the program prints is
    shown. --html shows the counters of each line below the cell, and --html FILE writes them into
    a file, too; --annotate . shows them as text."""
    if cell is not None:
        _last[:] = [cell]
    words = shlex.split(line)
    asks_help = "--help" in words or "-h" in words
    if not _last and not asks_help:
        print("%emu runs the last cell with %%emu again, and there is none yet.")
        return
    stray = [word for before, word in zip(["", *words], words)
             if word == "run" or not (before.startswith("-") or word.startswith("-"))]
    if stray:
        print('"%s" is no option: %%%%emu takes only options of emu (%%emu --help lists them), and'
              " runs the cell itself." % stray[0])
        return
    with tempfile.TemporaryDirectory() as folder:
        source, page = Path(folder) / "cell.cu", Path(folder) / "cell.html"
        # Line 1 is that of %%emu, so that lines have the same numbers as in the cell.
        source.write_text("\n" + "".join(_last), encoding="utf-8")
        words = [str(source) if before == "--annotate" and word in (".", source.name) else word
                 for before, word in zip(["", *words], words)]
        file = None  # into which the user wants the page
        if "--html" in words:
            after = words.index("--html") + 1
            if words[after:] and not words[after].startswith("-"):
                file = words.pop(after)
            words.insert(after, str(page))
        if all(word.split("=")[0] in _QUIET for word in words if word.startswith("-")):
            words += ["--log-file", "/dev/null"]
        done = subprocess.run([program(), *words, "run", str(source)], text=True,
                              encoding="utf-8", errors="replace", stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        said = re.sub(r"^emu: \S*/nvcc .*\n", "", done.stdout, flags=re.M)
        print(said.replace(folder + "/", ""), end="")
        if page.exists():
            text = page.read_text(encoding="utf-8").replace(folder + "/", "")
            if file:
                Path(file).write_text(text, encoding="utf-8")
            from IPython.display import display
            display({"text/html": '<iframe style="width: 100%%; height: 36em; border: 0" srcdoc='
                                  '"%s"></iframe>' % html.escape(text)}, raw=True)
