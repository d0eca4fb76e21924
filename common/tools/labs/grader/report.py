"""report.py -- the report for one student: as text, as a page that needs no other file, and as the
cells of a table; and the folders in which reports are given back.

All that comes from the submission passes visible(), escaped() or cell(), which leave nothing that a
terminal, a browser or a spreadsheet obeys. The page forbids scripts and other files as well.
"""
import os

from basics import (USAGE, Fault, bytes_of, cell, escaped, lines_of, make_folder, read_regular,
                    text_of, visible, write_whole)
from state import HTML, TEXT

SOURCE = "lab.cu"  # what the PTX of each source calls it


def as_text(submission, verdict, messages):
    text = "Report for %s (%s), which is called %s below\n\n%s" % (
        visible(submission.name), visible(submission.path), SOURCE, verdict["text"])
    if messages:
        text += "\nThe compiler's messages:\n"
        text += "".join("    %s\n" % visible(line) for line in lines_of(messages))
    return text


def cells(verdict):
    """The cells of a verdict, without those of the name. The last one is the greatest loss, or why
    there was nothing to judge."""
    reason = verdict["failure"] or ""
    worst = max(verdict["lost"], key=lambda line: line["lost"], default=None)
    if not reason and worst and worst["lost"] > 0:
        reason = worst["text"]
    fractions = "".join(",%.4f" % one["fraction"] for one in verdict["criteria"])
    return "%.2f,%.2f,%d,%d%s,%s" % (verdict["points"], verdict["most"], verdict["right_runs"],
                                     verdict["runs"], fractions, cell(reason))


# ---- the page ------------------------------------------------------------------------------------

HEAD = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<style>
body { font: 16px/1.5 sans-serif; max-width: 70em; margin: 2em auto; padding: 0 1em; }
table { border-collapse: collapse; } td, th { padding: 0.1em 0.8em; text-align: right; }
th { border-bottom: 1px solid; } td.text, th.text { text-align: left; }
pre { background: #f6f6f6; padding: 1em 0; overflow-x: auto; } pre span { display: block; }
pre i { display: inline-block; width: 4em; text-align: right; margin-right: 1em;\
 color: #767676; font-style: normal; }
pre .lost { background: #fff0c0; } pre b { display: block; margin-left: 5em;\
 color: #a00000; white-space: normal; }
</style>
"""
TABLE_HEAD = """<table>
<tr><th></th><th colspan="2">additions</th><th colspan="2">bank conflicts</th>\
<th colspan="2">sectors</th><th></th><th></th></tr>
<tr><th>n</th><th>yours</th><th>solution</th><th>yours</th><th>solution</th>\
<th>yours</th><th>solution</th><th>findings</th><th class="text">result</th></tr>
"""


def points(verdict):
    yield "<p><strong>%.2f of %.2f points</strong>" % (verdict["points"], verdict["most"])
    if verdict["runs"]:
        yield "; %d of %d runs are right. Full points for each part are multiplied by that: " % (
            verdict["right_runs"], verdict["runs"])
        yield ", ".join("%s %.2f of %.2f" % (one["criterion"], one["fraction"] * one["weight"],
                                             one["weight"]) for one in verdict["criteria"])
    yield ".</p>\n"
    if verdict["failure"] and not verdict["lost"]:
        yield "<p>%s</p>\n" % escaped(verdict["failure"])


def sizes(verdict):
    if not verdict["sizes"]:
        return
    yield TABLE_HEAD
    for size in verdict["sizes"]:
        yield "<tr><td>%d</td>" % size["n"]
        for key in "additions", "conflicts", "sectors":
            yield "<td>%d</td><td>%d</td>" % (size[key]["got"], size[key]["solution"])
        yield "<td>%d</td><td class=\"text\">%s</td></tr>\n" % (
            size["findings"], "right" if size["right"] else escaped(size["wrong"]))
    yield "</table>\n"


def line_in_source(line):
    return line["line"] if line["file"] == SOURCE else 0


def loss(line):
    return "%.2f points, %s: %s See %s." % (line["lost"], line["criterion"], escaped(line["text"]),
                                            escaped(line["chapter"]))


def losses(verdict):
    if not verdict["lost"]:
        return
    yield "<h2>Lost points</h2>\n<ul>\n"
    for line in verdict["lost"]:
        number = line_in_source(line)
        place = "<a href=\"#line%d\">line %d</a>: " % (number, number) if number else ""
        yield "<li>%s%s</li>\n" % (place, loss(line))
    yield "</ul>\n"


def expanded(line):
    """A line of the source with blanks for its tabs: a tab goes on to the next fourth byte."""
    at, parts = 0, line.rstrip("\r").split("\t")
    for part in parts[:-1]:
        at += len(bytes_of(part))
        yield escaped(part) + " " * (4 - at % 4)
        at += 4 - at % 4
    yield escaped(parts[-1])


def listing(verdict, source):
    """Our copy of the source, with marks on the lines that cost points."""
    if not source:
        return
    yield "<h2>The source</h2>\n<pre>"
    for number, line in enumerate(lines_of(source), 1):
        marks = [loss(one) for one in verdict["lost"] if line_in_source(one) == number]
        yield "<span id=\"line%d\"%s><i>%d</i>%s%s</span>" % (
            number, " class=\"lost\"" if marks else "", number, "".join(expanded(line)),
            "".join("<b>%s</b>" % mark for mark in marks))
    yield "</pre>\n"


def as_page(submission, verdict, messages, source, title):
    name, lab = escaped(submission.name), verdict["lab"]
    parts = [HEAD, "<title>Lab %d: %s</title>\n</head>\n<body>\n" % (lab, name),
             "<h1>Lab %d, %s: %s</h1>\n" % (lab, escaped(title), name), *points(verdict),
             *sizes(verdict), *losses(verdict)]
    if messages:
        lines = "".join(escaped(line) + "\n" for line in lines_of(messages))
        parts.append("<h2>The compiler's messages</h2>\n<pre>%s</pre>\n" % lines)
    parts += [*listing(verdict, source.decode("utf-8", "surrogateescape")), "</body>\n</html>\n"]
    return "".join(parts)


# ---- a folder for each student with the report, to be given back ---------------------------------

def check_empty(folder):
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        return
    except OSError as error:
        raise Fault(USAGE, "the folder %s cannot be read: %s"
                    % (text_of(folder), error.strerror)) from error
    if names:
        raise Fault(USAGE, "%s is not empty: give a new folder by --return" % text_of(folder))


def give_back(state, folder, submissions):
    """The folders are called as the submissions are, since programs for courses take feedback under
    these names. If a student has handed in NAME.cu and a folder NAME, the reports' own names
    differ. A file "...cu" must not lead out of the folder."""
    names = [one.name for one in submissions]
    for one in submissions:
        name = one.id if names.count(one.name) > 1 or one.name in (".", "..") else one.name
        to = os.path.join(os.fsencode(folder), bytes_of(name))
        make_folder(to)
        for which, file in (HTML, b"report.html"), (TEXT, b"report.txt"):
            content = read_regular(state.path(which, one), 64 << 20)
            if content is None:
                raise Fault(USAGE, "%s cannot be read" % text_of(state.path(which, one)))
            write_whole(os.path.join(to, file), content)
