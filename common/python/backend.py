"""backend.py -- makes the wheel that pip installs (PEP 517): the package, and in its folder lib/
the library and the emulator, as `make install` lays them out. The library is the one that
UPSWEEP_LIBRARY names; otherwise build/library/libupsweep.so."""
import base64
import hashlib
import os
import re
import sysconfig
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
TREE = HERE.parents[1]
METADATA = """Metadata-Version: 2.1
Name: upsweep
Version: %s
Summary: Scans (prefix sums), selections and sorts on a GPU, or in an emulator of one
License: MIT
Requires-Python: >=3.9
"""
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
    for folder in library.parent / "upsweep", TREE / "build/emu":
        if (folder / "libcudart.so.13").is_file():
            found["upsweep/lib/upsweep/libcudart.so.13"] = folder / "libcudart.so.13"
            found["upsweep/lib/upsweep/zstd-licence.txt"] = TREE / "common/emu/zstd-licence.txt"
            break
    found["upsweep/lib/LICENSE"] = TREE / "LICENSE"
    return found


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    text = (HERE / "upsweep/__init__.py").read_text(encoding="utf-8")
    version = re.search(r'^__version__ = "(.*)"', text, re.M)[1]
    tag = "py3-none-" + re.sub(r"[-.]", "_", sysconfig.get_platform())
    about = "upsweep-%s.dist-info/" % version
    contents = {name: path.read_bytes() for name, path in files().items()}
    contents[about + "METADATA"] = (METADATA % version).encode()
    contents[about + "WHEEL"] = (WHEEL % tag).encode()
    record = "".join("%s,sha256=%s,%d\n" % (name, base64.urlsafe_b64encode(
        hashlib.sha256(data).digest()).rstrip(b"=").decode(), len(data))
        for name, data in contents.items())
    contents[about + "RECORD"] = (record + about + "RECORD,,\n").encode()
    wheel = "upsweep-%s-%s.whl" % (version, tag)
    with zipfile.ZipFile(Path(wheel_directory) / wheel, "w", zipfile.ZIP_DEFLATED,
                         compresslevel=1) as archive:
        for name, data in contents.items():
            archive.writestr(name, data)
    return wheel
