"""roster.py -- the names of all students of a class, and names that look alike."""
import re

from basics import USAGE, Fault, reason, text_of


class Roster:
    """Names in the order of the file, all different, and `identifiers`: what another system calls
    the student, or else the name. Without a file there are none."""

    def __init__(self, path=None):
        self.names, self.identifiers = [], []
        if path is None:
            return
        try:
            with open(path, "rb") as file:
                lines = file.read().split(b"\n")
        except OSError as error:
            raise Fault(USAGE, "%s cannot be opened: %s" % (text_of(path), reason(error))) \
                from error
        for number, line in enumerate(lines, 1):
            self.add(line.decode("utf-8", "surrogateescape"), number, text_of(path))
        if not self.names:
            raise Fault(USAGE, "%s holds no name" % text_of(path))

    def add(self, line, number, path):
        """One name a line, which a tab and an identifier may follow. Empty lines and lines that
        begin with # do not count."""
        line = line.removeprefix("\ufeff").lstrip(" \t").partition("\r")[0].rstrip(" \t")
        if not line or line.startswith("#"):
            return
        name, tab, rest = line.partition("\t")
        name = name.rstrip(" ") if tab else name
        # What other columns hold is not read.
        identifier = rest.lstrip(" \t").partition("\t")[0] if tab else name
        # Two students under one identifier would overwrite each other's points.
        for text, known in (name, self.names), (identifier, self.identifiers):
            if text in known:
                raise Fault(USAGE, "line %d of %s holds \"%s\" for a second time; make the names "
                                   "differ as the submissions' names do" % (number, path, text))
        self.names.append(name)
        self.identifiers.append(identifier)

    def owner(self, name):
        """The student to whom a submission belongs: its name is the student's, or begins with it
        and goes on with _, as "Anna Berg_123_assignsubmission_file" does. The longest such name
        counts. None: the submission belongs to nobody."""
        owners = [student for student in self.names
                  if name == student or name.startswith(student + "_")]
        return max(owners, key=len, default=None)


ACCENTED = re.compile("[A-Za-z][\u0300-\u036f]+|[\u00c0-\u024f\u1e00-\u1eff]")


def letters_of(name):
    """The name without what a person may write otherwise: which accent a Latin letter has, upper or
    lower case, and blanks in place of _ - and dots."""
    name = re.sub("(?<=.)[\u0300-\u036f]", "", ACCENTED.sub("\x01", name))
    return re.sub("[A-Z]", lambda match: match[0].lower(), re.sub("[_.-]", " ", name))


def looks_alike(student, submission):
    """Does a submission's name look like the student's, though its bytes differ? "Åsa" with one
    character for Å looks like "Åsa" with an A and a ring, which is how macOS writes it. It is a
    hint for a person: nothing is decided by it."""
    student, submission = letters_of(student), letters_of(submission)
    return student != "" and (submission + " ").startswith(student + " ")
