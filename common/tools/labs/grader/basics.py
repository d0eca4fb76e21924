"""basics.py -- what all parts of the grader share: failures, texts that are safe to print, files.

A name may hold any bytes. Here it is a str whose bytes that are not UTF-8 are surrogates, whatever
the locale: text_of() and bytes_of() convert.
"""
import errno
import html
import os
import re
import stat
import threading

# Exit codes: the command is wrong; the machine or this installation is not right.
USAGE, DEVICE = 2, 3


class Fault(Exception):
    """A failure: an exit code and one sentence."""

    def __init__(self, code, sentence):
        super().__init__(sentence)
        self.code, self.sentence = code, sentence

    def __str__(self):
        shown = visible(self.sentence)
        return shown if len(shown) < 600 else shown[:390] + " … " + shown[-200:]


def reason(error):
    """Why a call of the system failed."""
    return os.strerror(error.errno) if error.errno else str(error)


# ---- texts ---------------------------------------------------------------------------------------

def text_of(name):
    return os.fsencode(name).decode("utf-8", "surrogateescape")


def bytes_of(text):
    return text.encode("utf-8", "surrogateescape")


# Control characters, marks of the direction of writing, and bytes that are not UTF-8.
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"
                     "\ufff9-\ufffb\U000e0000-\U000e007f\ud800-\udfff]")
LETTERS = dict(zip("\a\b\t\n\v\f\r", "abtnvfr"))


def visible(text):
    """The text with what a terminal could obey written as C writes it, as visible.c does."""
    def show(match):
        character = match[0]
        if character in LETTERS:
            return "\\" + LETTERS[character]
        if "\udc80" <= character <= "\udcff":
            return "\\x%02x" % (ord(character) - 0xdc00)
        return ("\\x%02x" if character < "\x80" else "\\u%04x") % ord(character)
    return CONTROL.sub(show, text)


def escaped(text):
    """A text of a submission in HTML: nothing that a browser obeys is left of it."""
    return html.escape(visible(text)).replace("&#x27;", "&#39;")


# A spreadsheet takes a cell that begins with = + - @, or with their wide forms, as a formula, also
# behind blanks and quotes. And it may split the lines elsewhere than at commas: in many countries
# it splits at semicolons, where our quotes no longer hold. So a ' stands before such a character
# wherever a cell could begin.
FORMULA = re.compile("(^|[,;|])([ \"\u00a0\u3000]*)(?=[=+@\uff1d\uff0b\uff0d\uff20-])")


def cell(text):
    """A text in quotes, as a cell of a table."""
    return '"%s"' % FORMULA.sub(r"\1\2'", visible(text)).replace('"', '""')


def lines_of(text):
    """Lines between newlines, and at no other character."""
    return text[:-1].split("\n") if text.endswith("\n") else text.split("\n") if text else []


# ---- files ---------------------------------------------------------------------------------------

def read_opened(file, most):
    """The bytes of a regular file, or None: it is none, or has more bytes. Closes it."""
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            return None
        parts = []
        while part := os.read(file, most + 1 - sum(map(len, parts))):
            parts.append(part)
    finally:
        os.close(file)
    whole = b"".join(parts)
    return whole if len(whole) <= most else None


READING = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY


def read_regular(path, most):
    """The bytes of one of the grader's own files, or None: it is missing, a link, or too long."""
    try:
        return read_opened(os.open(path, READING), most)
    except OSError:
        return None


def write_whole(path, content):
    """Writes a file completely or not at all."""
    path = os.fsencode(path)
    new = b"%s.%d.%d.new" % (path, os.getpid(), threading.get_ident())
    is_device = os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)
    remove(new)
    try:
        with open(path, "wb") if is_device else open(new, "xb") as file:
            file.write(content)
        if not is_device:
            os.replace(new, path)
    except OSError as error:
        remove(new)
        code = DEVICE if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EIO) else USAGE
        raise Fault(code, "%s cannot be written: %s" % (text_of(path), reason(error))) from error


def remove(path):
    try:
        os.unlink(path)
    except OSError:
        pass


def make_folder(path):
    """Makes a folder, and those above it."""
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as error:
        raise Fault(USAGE, "the folder %s cannot be made: %s" % (text_of(path), reason(error))) \
            from error
