#!/usr/bin/env python3
"""measure.py -- runs programs and writes recordings, a CSV file for each part.

usage: profiles/measure/measure.py [--to DIRECTORY] PART...    a part, or a group of them
       profiles/measure/measure.py                             lists parts, and what they need
       profiles/measure/measure.py merge NEW.csv RECORDED.csv  puts what was recorded of some steps
                                                               into a recording of all of them

Without DIRECTORY what needs a GPU goes to build/profiles: profiles/<gpu>/ holds copies, which no
part overwrites. The rest goes to profiles/emulated or profiles/. STEPS, VARIANTS and SIZES limit
what is recorded, as in STEPS="8 9" SIZES="2^16"; other variables are named where a part is defined.
"""
import os
import sys

import cases
import bits, emulated, fidelity, gpu  # noqa: E401, F401 (they fill PARTS)
from recording import FAILED, PARTS, TOP, head


def parts_of(names):
    for name in names:
        found = [name] if name in PARTS else [key for key, part in PARTS.items()
                                              if part.group == name]
        yield from found or sys.exit("measure: there is no part %s; without arguments it lists them"
                                     % name)


def record(name, folder):
    part = PARTS[name]
    folder = folder or os.path.join(TOP, part.to)
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, part.file + ".csv")
    lines = head(part.what, *part.more())
    text = part.make()
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(lines + text)
    os.replace(path + ".new", path)
    print("measure: %s: %d rows" % (os.path.relpath(path), len(text.splitlines()) - 1))


def main(arguments):
    if arguments[:1] == ["merge"] and len(arguments) > 1 and len(arguments) % 2:
        for new, recorded in zip(arguments[1::2], arguments[2::2]):
            cases.merge(new, recorded)
        return
    folder = None
    if arguments[:1] == ["--to"] and len(arguments) > 1:
        folder, arguments = os.path.abspath(arguments[1]), arguments[2:]
    if not arguments or arguments[0] in ("merge", "--help") or arguments[0].startswith("-"):
        print(__doc__)
        for name, part in PARTS.items():
            print("%-9s %-22s %s" % (part.group, name, part.what)
                  + (" Needs %s." % part.needs if part.needs else ""))
        sys.exit(2 if arguments and arguments[0] != "--help" else 0)
    for name in list(parts_of(arguments)):
        record(name, folder)
    if FAILED:
        sys.exit("%d runs failed" % len(FAILED))


if __name__ == "__main__":
    main(sys.argv[1:])
