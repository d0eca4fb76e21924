"""backend.py -- makes the wheel that pip installs (PEP 517): the package, and in its folder lib/
the library and the emulator, as `make install` lays them out. The library is the one that
UPSWEEP_LIBRARY names; otherwise build/library/libupsweep.so. If an emulator is installed with it,
the wheel also has the command emu, and an extra, nvcc, of NVIDIA's wheels: `make release`. Its
description is wheel.md."""
import base64
import hashlib
import os
import re
import sysconfig
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
TREE = HERE.parents[3]
METADATA = """Metadata-Version: 2.1
Name: upsweep
Version: %s
Summary: Scans (prefix sums), selections and sorts on a GPU, or in an emulator of one
License: MIT
Requires-Python: >=3.9
Description-Content-Type: text/markdown
Provides-Extra: numpy
Requires-Dist: numpy>=1.24; extra == "numpy"
"""
HOME = "Project-URL: Homepage, https://github.com/%s\n"
EXTRA = "Provides-Extra: nvcc\n"
REQUIRED = 'Requires-Dist: %s; extra == "nvcc"\n'
COMMAND = "[console_scripts]\nemu = upsweep._emu:main\n"
WHEEL = "Wheel-Version: 1.0\nGenerator: backend\nRoot-Is-Purelib: false\nTag: %s\n"


def files():
    """Names in the wheel, and the files."""
    found = {"upsweep/" + path.name: path for path in sorted((HERE / "upsweep").iterdir())
             if path.suffix == ".py" or path.name == "py.typed"}
    library = Path(os.environ.get("UPSWEEP_LIBRARY") or TREE / "build/library/libupsweep.so")
    if not library.is_file():
        raise FileNotFoundError("%s is missing: run make library, or let UPSWEEP_LIBRARY name"
                                " libupsweep.so" % library)
    found["upsweep/lib/libupsweep.so"] = library
    found["upsweep/lib/LICENSE"] = TREE / "LICENSE"
    emulator = library.parent / "upsweep"
    if (library.parents[1] / "bin/emu").is_file():
        found["upsweep/bin/emu"] = library.parents[1] / "bin/emu"
        found.update(("upsweep/lib/upsweep/%s" % path.relative_to(emulator), path)
                     for path in sorted(emulator.rglob("*")) if path.is_file())
    for folder in emulator, TREE / "build/emu":
        if (folder / "libcudart.so.13").is_file():
            found["upsweep/lib/upsweep/libcudart.so.13"] = folder / "libcudart.so.13"
            found["upsweep/lib/upsweep/zstd-licence.txt"] = \
                TREE / "common/tools/emu/zstd-licence.txt"
            break
    return found


def content(name, path):
    """A file's bytes. A wheel has no links: in place of one, linkers get the name of its file."""
    if name.startswith("upsweep/lib/upsweep/") and path.is_symlink():
        return b"INPUT(%s)\n" % os.readlink(path).encode()
    return path.read_bytes()


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    text = (HERE / "upsweep/__init__.py").read_text(encoding="utf-8")
    version = re.search(r'^__version__ = "(.*)"', text, re.M)[1]
    platform = (config_settings or {}).get("platform") or sysconfig.get_platform()
    tag = "py3-none-" + re.sub(r"[-.]", "_", platform)
    about = "upsweep-%s.dist-info/" % version
    contents = {name: content(name, path) for name, path in files().items()}
    metadata = METADATA % version
    if os.environ.get("GITHUB_REPOSITORY"):  # the workflow that releases has it
        metadata += HOME % os.environ["GITHUB_REPOSITORY"]
    if "upsweep/bin/emu" in contents:
        toolkit = (TREE / "common/build/toolkit.txt").read_text(encoding="utf-8")
        metadata += EXTRA + "".join(REQUIRED % pinned for pinned in
                                    re.findall(r"^nvidia-\S+", toolkit, re.M))
        contents[about + "entry_points.txt"] = COMMAND.encode()
    description = (HERE / "wheel.md").read_text(encoding="utf-8").replace("VERSION", version)
    contents[about + "METADATA"] = (metadata + "\n" + description).encode()
    contents[about + "WHEEL"] = (WHEEL % tag).encode()
    record = "".join("%s,sha256=%s,%d\n" % (name, base64.urlsafe_b64encode(
        hashlib.sha256(data).digest()).rstrip(b"=").decode(), len(data))
        for name, data in contents.items())
    contents[about + "RECORD"] = (record + about + "RECORD,,\n").encode()
    wheel = "upsweep-%s-%s.whl" % (version, tag)
    with zipfile.ZipFile(Path(wheel_directory) / wheel, "w") as archive:
        for name, data in contents.items():
            entry = zipfile.ZipInfo(name)  # of 1980: equal files make equal wheels
            entry.external_attr = (0o100755 if name == "upsweep/bin/emu" else 0o100644) << 16
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED, 1)
    return wheel
