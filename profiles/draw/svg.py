"""svg.py -- a drawing board for the figures of the notes: shapes to SVG, in light and dark.

Used by draw_*.py. Only python3's standard library. A figure brings its own background, so it is
legible wherever it is shown; where the viewer asks for dark colours it has them.
"""

import os
import re
import sys
from xml.sax.saxutils import escape

# The figures show the data of the tables, so they use the same module to read records.
sys.path.append(os.path.join(os.path.dirname(__file__), "..", "tables"))

FIGURES = os.path.join(os.path.dirname(__file__), "..", "..", "notes", "figures")

# name: (light, dark)
PAPER = ("#ffffff", "#0d1117")
INK = ("#1f2328", "#e6edf3")
QUIET = ("#59636e", "#9198a1")
EDGE = ("#afb8c1", "#484f58")
PLAIN = ("#f6f8fa", "#161b22")
BLUE = ("#0969da", "#58a6ff")
BLUE_FILL = ("#ddf4ff", "#0c2d6b")
RED = ("#bc4c00", "#f0883e")
RED_FILL = ("#fff1e5", "#5a1e02")
GREEN = ("#1a7f37", "#3fb950")
GREEN_FILL = ("#dafbe1", "#04381a")

# class: {property: colour}
CLASSES = {
    "paper": {"fill": PAPER},
    "ink": {"fill": INK},
    "quiet": {"fill": QUIET},
    "blue": {"fill": BLUE},
    "red": {"fill": RED},
    "green": {"fill": GREEN},
    "cell": {"fill": PLAIN, "stroke": EDGE},
    "empty": {"fill": PAPER, "stroke": EDGE},
    "hot": {"fill": BLUE_FILL, "stroke": BLUE},
    "bad": {"fill": RED_FILL, "stroke": RED},
    "good": {"fill": GREEN_FILL, "stroke": GREEN},
    "line": {"stroke": EDGE},
    "line-hot": {"stroke": BLUE},
    "line-bad": {"stroke": RED},
}

FONTS = {
    "mono": 'font-family: ui-monospace, "DejaVu Sans Mono", monospace;',
    "small": "font-size: 11px;",
    "tiny": "font-size: 9px;",
    "head": "font-size: 15px; font-weight: 600;",
}

STYLE = """text { font: 13px ui-sans-serif, system-ui, "DejaVu Sans", sans-serif; }
path { fill: none; stroke-width: 1.3; }
rect { stroke-width: 1; }
"""


def style_sheet(used):
    """Of the classes that are used."""
    fonts = "".join(".%s { %s }\n" % (name, FONTS[name]) for name in FONTS if name in used)
    light, dark = ("".join(
        ".%s { %s }\n" % (name, " ".join("%s: %s;" % (p, c[mode]) for p, c in properties.items()))
        for name, properties in CLASSES.items() if name in used) for mode in (0, 1))
    return "%s%s%s@media (prefers-color-scheme: dark) {\n%s}\n" % (STYLE, fonts, light, dark)


class Figure:
    """Collects shapes; save() writes them. Coordinates are pixels; y grows downward."""

    def __init__(self, width, height, title, description):
        self.width, self.height = width, height
        self.title, self.description = title, description
        self.shapes = []
        self.path_style = None  # of the last shape, if it is a path
        self.rect(0, 0, width, height, "paper", radius=8)

    def shape(self, element, path_style=None):
        self.shapes.append(element)
        self.path_style = path_style

    def path(self, places, style):
        """Lines, and what else a path draws. Those of one style that follow each other are one
        shape."""
        if self.path_style == style:
            places = self.shapes.pop().split('"')[1] + places
        self.shape('<path d="%s" class="%s"/>' % (places, style), style)

    def rect(self, x, y, width, height, style, radius=3):
        self.shape('<rect x="%g" y="%g" width="%g" height="%g" rx="%g" class="%s"/>'
                   % (x, y, width, height, radius, style))

    def text(self, x, y, text, style="ink", anchor="start"):
        self.shape('<text x="%g" y="%g" text-anchor="%s" class="%s">%s</text>'
                   % (x, y, anchor, style, escape(str(text))))

    def dot(self, x, y, radius, style):
        self.shape('<circle cx="%g" cy="%g" r="%g" class="%s"/>' % (x, y, radius, style))

    def line(self, x1, y1, x2, y2, style="line"):
        self.path("M%g %gL%g %g" % (x1, y1, x2, y2), style)

    def arrow(self, x1, y1, x2, y2, style="line"):
        """A line with a head at (x2, y2)."""
        self.line(x1, y1, x2, y2, style)
        length = ((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5
        dx, dy = (x2 - x1) / length * 6, (y2 - y1) / length * 6
        for side in (0.45, -0.45):
            self.line(x2, y2, x2 - dx + side * dy, y2 - dy - side * dx, style)

    def cells(self, corners, size, style):
        """Little squares, as one shape."""
        self.path("".join("M%g %gh%gv%gh-%gz" % (x, y, size, size, size) for x, y in corners),
                  style)

    def box(self, x, y, width, height, text, style="cell", text_style="ink mono"):
        """A cell with its text in the middle."""
        self.rect(x, y, width, height, style)
        self.text(x + width / 2, y + height / 2 + 4.5, text, text_style, "middle")

    def label(self, y, first, second=""):
        """What a row shows, at its left."""
        self.text(24, y + 13, first)
        self.text(24, y + 29, second, "small quiet")

    def legend(self, y, *items):
        """(x, style, text) of each colour."""
        for x, style, text in items:
            self.rect(x, y, 12, 12, style, radius=2)
            self.text(x + 18, y + 10, text, "small quiet")

    def svg(self):
        size = self.width, self.height
        return ('<svg xmlns="http://www.w3.org/2000/svg" width="%g" height="%g" viewBox="0 0 %g '
                '%g" role="img">\n'
                % (*size, *size)
                + "<title>%s</title>\n<desc>%s</desc>\n"
                % (escape(self.title), escape(self.description))
                + "<style>\n%s</style>\n" % style_sheet(self.used())
                + "\n".join(self.shapes) + "\n</svg>\n")

    def used(self):
        """The classes of all shapes."""
        return {name for shape in self.shapes
                for name in re.search('class="(.*?)"', shape)[1].split()}

    def save(self, name):
        """Writes the figure; with the argument --check, only tells whether it is as it was
        written."""
        path = os.path.join(FIGURES, name)
        if sys.argv[1:] == ["--check"]:
            with open(path, encoding="utf-8") as file:
                if file.read() != self.svg():
                    sys.exit("out of date: notes/figures/%s; `make docs` renews it" % name)
            return
        os.makedirs(FIGURES, exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.svg())
