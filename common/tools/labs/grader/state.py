"""state.py -- the grader's files: what is known about each submission, so that an interrupted
grader goes on where it was.

All lie in one folder: grades.csv, reports/ and state/. A row that is there says that its submission
is judged. Its first line says with which lab, seed and scorer; a row with others does not count, so
that one table never mixes two ways of grading.
"""
import fcntl
import hashlib
import json
import os
import re
import time

from basics import (DEVICE, USAGE, Fault, bytes_of, make_folder, read_regular, reason, remove,
                    text_of, write_whole)
from submissions import BYTES

# The files of a submission. Those in reports/ are given back.
SOURCE, PTX, COMPILED, ROW, TEXT, HTML = (
    "state/%s.cu", "state/%s.ptx", "state/%s.txt", "state/%s.row", "reports/%s.txt",
    "reports/%s.html")
FIRST = "state/%s.first"  # the first version whose report shows results, and so sizes and inputs

# The first words of a row: what has become of the submission.
JUDGED, LOOK = "judged", "look at it"


def bits(*parts):
    """Bits of texts or files, as they stand in the grader's files. A file that cannot be read adds
    nothing: what needs it fails later, and says why."""
    made = hashlib.sha256()
    for part in parts:
        content = part if isinstance(part, bytes) else read_regular(os.path.realpath(part), 1 << 28)
        made.update(b"%d:" % len(content or b"") + (content or b""))
    return made.hexdigest()[:16]


class State:
    def __init__(self, out):
        """Makes the folders, and locks them for as long as this process lives: two graders in one
        folder would mix their seeds. Programs in the sandbox do not get the file."""
        self.out = out
        for folder in "state", "reports":
            make_folder("%s/%s" % (out, folder))
        path = out + "/state/lock"
        try:
            self.lock = open(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666), "r+b")
        except OSError as error:
            raise Fault(USAGE, "%s cannot be opened: %s" % (text_of(path), reason(error))) \
                from error
        for _ in range(20):  # what a grader that has been killed had started ends a moment later
            try:
                fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except OSError:
                time.sleep(0.1)
        raise Fault(DEVICE, "another grader works in %s: wait until it has ended, or give another "
                            "--out" % text_of(out))

    def path(self, which, submission):
        return "%s/%s" % (self.out, which % submission.id)

    def read(self, which, submission, most):
        return read_regular(self.path(which, submission), most)

    def write(self, which, submission, content):
        write_whole(self.path(which, submission), content)

    def has(self, which, submission):
        return os.path.exists(self.path(which, submission))

    # ---- the seed --------------------------------------------------------------------------------

    # It is drawn when all submissions have been compiled, so that none can contain it. An
    # interrupted grading keeps its seed.

    def stored_seed(self):
        """The lab and the seed that are stored, or None."""
        text = read_regular(self.out + "/state/seed", 64)
        match = text and re.fullmatch(rb"lab (\d+) seed (\d+)\n", text)
        return match and (int(match[1]), int(match[2]))

    def check_seed(self, lab, given):
        """Refuses to go on with grades of another lab or of another seed."""
        stored, out = self.stored_seed(), text_of(self.out)
        if stored and stored[0] != lab:
            raise Fault(USAGE, "%s holds grades of lab %d: give another --out" % (out, stored[0]))
        if stored and given is not None and stored[1] != given:
            raise Fault(USAGE, "%s holds grades of seed %d: remove it, or give another --out"
                        % (out, stored[1]))
        has_rows = any(name.endswith(".row") for name in os.listdir(self.out + "/state"))
        if not stored and given is None and has_rows:
            raise Fault(USAGE, "%s holds grades, but their seed in %s/state/seed is lost: give it "
                               "by --seed, or give another --out" % (out, out))

    def choose_seed(self, lab, given):
        """The seed that is stored or given, or one that is drawn, and stored."""
        stored = self.stored_seed()
        if stored:
            return stored[1]
        seed = int.from_bytes(os.urandom(8), "little") if given is None else given
        write_whole(self.out + "/state/seed", b"lab %d seed %d\n" % (lab, seed))
        return seed

    # ---- rows ------------------------------------------------------------------------------------

    def row(self, head, submission):
        """The cells of a submission's row below this head, or None."""
        row = self.read(ROW, submission, 1 << 14)
        if row is None or not row.startswith(head):
            return None
        return row[len(head):].decode("utf-8", "surrogateescape")

    def is_later(self, submission):
        """Is it another version than the first one whose report shows results?"""
        first, source = (self.read(which, submission, BYTES) for which in (FIRST, SOURCE))
        return None not in (first, source) and first != source

    def remove_results(self, submission_id):
        for which in ROW, TEXT, HTML:  # the row first
            remove("%s/%s" % (self.out, which % submission_id))

    def forget(self, submission):
        """All but the first version."""
        for which in SOURCE, PTX, COMPILED, ROW, TEXT, HTML:
            remove(self.path(which, submission))

    def remove_others(self, submissions):
        """Removes rows and reports of what is not handed in any more, and returns how many
        submissions had some."""
        listed = {one.id for one in submissions}
        gone = [name[:-len(".html")] for name in os.listdir(self.out + "/reports")
                if name.endswith(".html") and name[:-len(".html")] not in listed]
        for submission_id in gone:
            self.remove_results(submission_id)
        return len(gone)

    # ---- what compiling has found out ------------------------------------------------------------

    def compiled(self, compiler, submission):
        """What is stored, as a dictionary: kind, why, same (the bits of its PTX, as same_ptx.py
        gives them), ptx (bits of the PTX that is stored) and messages. None: nothing, or what
        another compiler has made."""
        text = self.read(COMPILED, submission, 1 << 20)
        try:
            stored = json.loads(text or b"null")
        except ValueError:
            return None
        return stored if stored and stored["compiler"] == compiler else None

    def store_compiled(self, compiler, submission, **found):
        content = json.dumps(dict(found, compiler=compiler))
        self.write(COMPILED, submission, bytes_of(content))
