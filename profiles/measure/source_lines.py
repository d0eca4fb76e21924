"""source_lines.py -- names a source line such that comments and lines above it may change: by its
file, its text, and its place among the lines of that file with the same text, as in "scan.cu#2" for
the second of them."""
import os


class Lines:
    """The lines of one file, counted from 1 in the order in which they are added."""

    def __init__(self, path):
        self.file = os.path.basename(path)
        self.names = {}  # of a line's number
        self.equal = {}  # number of lines with this text so far

    def add(self, number, text):
        """The name of a line; the same again if that number was added before."""
        if number not in self.names:
            self.equal[text] = self.equal.get(text, 0) + 1
            self.names[number] = "%s#%d" % (self.file, self.equal[text])
        return self.names[number]


def read(path):
    """The (name, text) of each line of a file, the first line at index 1."""
    lines = Lines(path)
    with open(path, encoding="utf-8") as file:
        texts = [line.strip() for line in file.read().splitlines()]
    return [None] + [(lines.add(number, text), text) for number, text in enumerate(texts, 1)]
