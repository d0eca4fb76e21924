"""The command emu of a wheel that has the emulator (backend.py)."""
import os
import sys
from pathlib import Path


def program():
    """The path of the emulator's command. Raises FileNotFoundError where the wheel has none."""
    path = Path(__file__).parent / "bin" / "emu"
    if not path.exists():
        raise FileNotFoundError("this package was installed without the command emu: install a"
                                " released wheel (upsweep-…-manylinux….whl)")
    return str(path)


def main():
    os.execv(program(), ["emu", *sys.argv[1:]])
