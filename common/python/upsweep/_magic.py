"""%load_ext upsweep: the magic emu for notebooks, which compiles and runs a cell of CUDA C."""
import html
import re
import shlex
import subprocess
import tempfile
from pathlib import Path

from IPython.display import HTML, display

from . import _command

_last = []  # the cell that ran last


def emu(line, cell=None):
    """%%emu [options of emu]: compiles the cell, and runs it in the emulator. %emu [options]: runs
    the last cell again. Without --tool and --html, only what the program prints is shown; --html,
    here without a file, shows the counters of each line."""
    if cell is not None:
        _last[:] = [cell]
    if not _last:
        print("%emu runs the last cell with %%emu again, and there is none yet.")
        return
    words = shlex.split(line)
    with tempfile.TemporaryDirectory() as folder:
        source, page = Path(folder) / "cell.cu", Path(folder) / "cell.html"
        source.write_text(_last[0], encoding="utf-8")
        if "--html" in words:
            words.insert(words.index("--html") + 1, str(page))
        if "--tool" not in words:
            words += ["--log-file", "/dev/null"]
        done = subprocess.run([_command.program(), *words, "run", str(source)], text=True,
                              encoding="utf-8", errors="replace", stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        said = re.sub(r"^emu: \S*/nvcc .*\n", "", done.stdout, flags=re.M)
        print(said.replace(folder + "/", ""), end="")
        if page.exists():
            text = html.escape(page.read_text(encoding="utf-8"))
            display(HTML('<iframe style="width: 100%%; height: 36em; border: 0" srcdoc="%s">'
                         "</iframe>" % text))
