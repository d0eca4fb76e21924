"""tables.py -- grades.csv and moodle.csv, and what an instructor has to know of each submission."""
import sys

import report
import same_ptx
from basics import cell, read_regular, text_of, write_whole
from judge import kernels_of
from jobs import PTX_BYTES
from state import JUDGED
from submissions import looks_alike

HEAD = "name,file,status,points,most,right runs,runs,%s,reason,same PTX as,report,note\n"
FAILED = ",not judged,,,,,,,,,\"the machine or the grader failed: grade again\","
SHOWN = 3  # submissions of the same PTX: in a class that has copied one file, all would be many


def notes_of(state, roster, submissions):
    """For each submission what to know before its points are used, or ""."""
    owners = [roster.owner(one.name) for one in submissions]
    students = [(owner is not None, owner or one.name) for owner, one in zip(owners, submissions)]
    for at, one in enumerate(submissions):
        note = ["handed in again after a report that shows the sizes and inputs of this seed"] \
            if state.is_later(one) else []
        note += ["%s is of the same student" % other.path for k, other in enumerate(submissions)
                 if k != at and students[k] == students[at]]
        if roster.names and owners[at] is None:
            note.append("not on the roster")
        yield "; ".join(note)


class Class:
    """All that the tables are printed from."""

    def __init__(self, grader, state, roster, submissions):
        self.grader, self.state, self.roster = grader, state, roster
        self.submissions = submissions
        self.notes = list(notes_of(state, roster, submissions))
        self.owners = [roster.owner(one.name) for one in submissions]
        self.rows = [state.row(grader.head(), one) for one in submissions]

    # ---- grades.csv ------------------------------------------------------------------------------

    def same_bits(self):
        """Bits of the PTX of submissions and of steps, each with a name."""
        for one in self.submissions:
            compiled = self.state.compiled(self.grader.compiler, one)
            yield one.path, compiled["same"] if compiled else ""
        for lab in sorted(self.grader.titles):
            ptx = read_regular(self.grader.solution(lab), PTX_BYTES)
            if ptx is not None:
                yield "step %d" % lab, same_ptx.digest(ptx, kernels_of(self.grader, lab))

    def same_as(self, all_bits, at):
        """Steps and the first other submissions of the same PTX, and how many more there are."""
        own, count = all_bits[at][1], len(self.submissions)
        same = [k for k, (_, bits) in enumerate(all_bits) if own and k != at and bits == own]
        others = [k for k in same if k < count]
        names = [all_bits[k][0] for k in others[:SHOWN] + same[len(others):]]
        more = len(others) - SHOWN
        return "; ".join(names + (["and %d more" % more] if more > 0 else []))

    def row(self, all_bits, at):
        one, row = self.submissions[at], self.rows[at]
        status = FAILED if row is None else ",%s," % row
        page = "" if row is None else "reports/%s.html" % one.id
        return "%s,%s%s%s,%s,%s\n" % (cell(self.owners[at] or one.name), cell(one.path), status,
                                      cell(self.same_as(all_bits, at)), cell(page),
                                      cell(self.notes[at]))

    def absent(self, name):
        """The row of a student without a submission. Submissions that may be this student's have
        names that are not on the roster."""
        alike = [one.path for one, owner in zip(self.submissions, self.owners)
                 if owner is None and looks_alike(name, one.name)]
        note = "; ".join(alike) + " has a name that looks alike, and is not on the roster"
        return "%s,\"\",nothing handed in,%s,\"\",\"\",%s\n" % (
            cell(name), report.cells(self.grader.absent), cell(note if alike else ""))

    def write_grades(self, bom):
        """With a roster in its order, with a row for each student, and then submissions of
        others."""
        all_bits, places = list(self.same_bits()), range(len(self.submissions))
        criteria = ",".join(one["criterion"] for one in self.grader.absent["criteria"])
        parts = ["\ufeff" if bom else "", HEAD % criteria]
        for name in self.roster.names:
            rows = [self.row(all_bits, at) for at in places if self.owners[at] == name]
            parts += rows or [self.absent(name)]
        parts += [self.row(all_bits, at) for at in places if self.owners[at] is None]
        write_whole(self.state.out + "/grades.csv", "".join(parts).encode("utf-8"))

    # ---- moodle.csv: a row for each student, to be imported into Moodle's gradebook --------------

    def feedback(self, name, identifier):
        """A student's row, or "": two submissions, or one that is not judged, are for a person to
        look at, and an import would hide that."""
        own = [at for at, one in enumerate(self.submissions)
               if (self.owners[at] or one.name) == name]
        if not own:
            return cell(identifier) + ",0.00,\"Nothing was handed in.\"\n"
        row = self.rows[own[0]] or ""
        if len(own) > 1 or not row.startswith(JUDGED + ","):
            return ""
        # "judged,POINTS,MOST,…", and as the last cell "REASON" in quotes.
        _, points, most, *_, reason = row.split(",", 9)
        return "%s,%s,\"%s of %s points.%s%s\n" % (cell(identifier), points, points, most,
                                                  " " if reason != '""' else "", reason[1:])

    def write_moodle(self):
        roster, names = self.roster, [one.name for one in self.submissions]
        rows = [self.feedback(*pair) for pair in (zip(roster.names, roster.identifiers)
                                                  if roster.names else zip(names, names))]
        path = self.state.out + "/moodle.csv"
        write_whole(path, ("identifier,points,feedback\n" + "".join(rows)).encode("utf-8"))
        left_out = rows.count("")
        if left_out:
            print("grade-labs: %s leaves out %d that are not judged or handed in twice; see "
                  "grades.csv" % (text_of(path), left_out), file=sys.stderr)
