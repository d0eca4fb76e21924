"""submissions.py -- finds what students have handed in, reads it, and says whose it is.

Nothing here trusts a name or a file: names may hold any bytes, only regular files are read, and
links are not followed.
"""
import dataclasses
import errno
import os
import re
import stat

from basics import READING, USAGE, Fault, bytes_of, read_opened, reason, text_of

BYTES = 1 << 18  # of a source file
ID = 160 - 1  # bytes of an id


@dataclasses.dataclass
class Submission:
    name: str  # of the student: NAME of NAME.cu, NAME.zip, or the folder NAME
    path: str  # from the folder of all submissions
    id: str = ""  # made of the name; safe as the name of a file, and unique
    sources: int = 0  # in a folder: how many of its entries end in .cu
    others: int = 0  # in a folder: how many do not
    # Something is there, and which file counts is for a person to say: another file than NAME.cu,
    # or a folder without one that counts. It is not read.
    unclear: bool = False


def fnv(content):
    """FNV-1a tells long names apart. It protects from nothing."""
    value = 0xcbf29ce484222325
    for byte in content:
        value = (value ^ byte) * 0x100000001b3 & (1 << 64) - 1
    return value


def make_id(text):
    """Letters, digits and - _ . stay; any other byte becomes ~ and two hexadecimal digits. So do -
    and . at the beginning, where they have a meaning."""
    content, made = bytes_of(text), ""
    for at, byte in enumerate(content):
        if len(made) >= ID - 17 - 3:  # a dash and the hash; what one byte becomes at most
            return made + "-%016x" % fnv(content)
        plain = re.match(rb"[\w.-]" if at else rb"\w", bytes([byte]))
        made += chr(byte) if plain else "~%02X" % byte
    return made


def is_source(name):
    """Upper and lower case are the same: some systems write LAB3.CU."""
    return len(name) > len(".cu") and name[-len(".cu"):].lower() == ".cu"


def choose_file(top, lab, submission):
    """The folder's file of the lab: labN.cu, or the only one that ends in .cu, since browsers and
    students call files as they like."""
    own = "lab%d.cu" % lab
    submission.path = submission.name + "/" + own
    try:
        inner = os.open(bytes_of(submission.name), READING | os.O_DIRECTORY, dir_fd=top)
    except OSError:
        return
    try:
        names = [name for name in map(text_of, os.listdir(inner)) if not name.startswith(".")]
    finally:
        os.close(inner)
    sources = [name for name in names if is_source(name)]
    submission.sources, submission.others = len(sources), len(names) - len(sources)
    if own in sources:
        return
    submission.unclear = len(sources) != 1 and bool(names)
    if len(sources) < 2:
        submission.path = submission.name + "/" + "".join(sources)


def is_systems(name):
    """Files such as .DS_Store, and those with "._" before the name of another one, which macOS
    writes, are not a student's."""
    return name.startswith(".") and (name.startswith("._") or not is_source(name))


def mode_of(top, name):
    try:
        return os.stat(bytes_of(name), dir_fd=top, follow_symlinks=False).st_mode
    except OSError:
        return None


def submission_of(top, name, lab):
    """What an entry of a folder is, or None. A folder counts if its name is no NAME.cu; what is
    called NAME.cu counts, whatever it is, so that its student gets a reason."""
    if is_systems(name):
        return None
    if is_source(name):
        # NAME.CU keeps its suffix: its report is not that of NAME.cu or of the folder NAME.
        stem = name[:-len(".cu")]
        return Submission(stem, name, make_id(stem if name.endswith(".cu") else name))
    mode = mode_of(top, name)
    if mode is None:
        return None
    if stat.S_ISREG(mode):
        # NAME.zip, or NAME.cu.txt, which mail programs make. The slash keeps its report apart from
        # that of a file whose NAME ends in .zip.
        stem = name.rpartition(".")[0] or name
        stem = stem[:-len(".cu")] if is_source(stem) else stem
        return Submission(stem, name, make_id(name + "/"), unclear=True)
    submission = Submission(name, name)
    choose_file(top, lab, submission)
    # The report of NAME is called NAME, unless there is a file NAME.cu beside the folder NAME.
    submission.id = make_id(name if mode_of(top, name + ".cu") is None else name + "/")
    return submission


def open_folder(path):
    try:
        return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise Fault(USAGE, "the folder %s cannot be read: %s"
                    % (text_of(path), reason(error))) from error


def find_all(folder, lab):
    """The submissions of a folder in the order of their paths. All other files are listed as
    unclear, so that nothing is passed over in silence."""
    top = open_folder(folder)
    try:
        found = [submission_of(top, text_of(name), lab) for name in os.listdir(top)]
    finally:
        os.close(top)
    return sorted(filter(None, found), key=lambda one: bytes_of(one.path))


def find_one(path, lab):
    """The submission that is called by the path of its folder or file, and the folder round it."""
    folder, name = os.path.split(os.path.realpath(path))
    if not os.path.exists(path):
        raise Fault(USAGE, "%s cannot be read: there is no such file" % text_of(path))
    top = open_folder(folder)
    try:
        found = submission_of(top, text_of(name), lab)
    finally:
        os.close(top)
    if found is None:
        raise Fault(USAGE, "%s is neither a folder nor a file" % text_of(path))
    return folder, found


# ---- reading -------------------------------------------------------------------------------------

class Refused(Exception):
    """Why a submission cannot be graded, in one sentence."""


def why_unclear(submission):
    if "/" not in submission.path:
        return "The name of the file does not end in .cu."
    if submission.sources < 2:
        return "The folder holds no file that ends in .cu%s." % (
            ", but other files or folders" if submission.others else "")
    return "The folder holds %d files that end in .cu, and none of them is %s." % (
        submission.sources, submission.path.rpartition("/")[2])


def open_below(top, path):
    """Opens a path of at most two parts below a folder; neither part may be a link."""
    first, slash, second = path.partition("/")
    if not slash:
        return os.open(bytes_of(first), READING, dir_fd=top)
    inner = os.open(bytes_of(first), READING | os.O_DIRECTORY, dir_fd=top)
    try:
        return os.open(bytes_of(second), READING, dir_fd=inner)
    finally:
        os.close(inner)


def read(folder, submission):
    """The bytes of a submission."""
    if submission.unclear:
        raise Refused(why_unclear(submission))
    top = open_folder(folder)
    try:
        file = open_below(top, submission.path)
        regular = stat.S_ISREG(os.fstat(file).st_mode)
        content = read_opened(file, BYTES)
    except FileNotFoundError as error:
        raise Refused(why_unclear(submission)) from error
    except OSError as error:
        link = error.errno in (errno.ELOOP, errno.ENOTDIR)
        raise Refused("What was handed in is a link, which is not followed." if link
                      else "The file cannot be read: %s." % reason(error)) from error
    finally:
        os.close(top)
    if not regular:
        raise Refused("What was handed in is not a regular file.")
    if content is None:
        raise Refused("The file has more than 256 KiB; a lab's file has far fewer.")
    return content


# ---- the names of all students of a class, and names that look alike ----------------------------

class Roster:
    """Names in the order of the file, all different, and `identifiers`: what another system calls
    the student, or else the name. Without a file it is empty."""

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
