"""traced.py -- what the emulator has traced (emulated/accesses.csv), for the figures.

Used by draw_*.py. Part `accesses` of measure.py writes that file.
"""
import sys

import svg  # finds records.py
from records import read

ROWS, _ = read("emulated/accesses.csv")


class Access:
    """One access of a warp: what each lane reads or writes, {lane: (place, value)}. A vector's
    places follow each other: then it is {lane: [(place, value), ...]} in `vectors`."""

    def __init__(self, row):
        self.launch, self.block, self.epoch = (int(row[key])
                                               for key in ("launch", "block", "epoch"))
        self.kernel, self.source = row["kernel"], row["source"]
        self.store = row["operation"] == "st"
        self.array = "" if row["space"] == "shared" else row["places"][0]
        lanes = [lane for lane in range(32) if int(row["mask"], 16) >> lane & 1]
        places = [int(place.lstrip("ABC")) for place in row["places"].split()]
        values = [value.split("+") for value in row["values"].split()] or [[None]] * len(places)
        self.vectors = {lane: [(place + k, value) for k, value in enumerate(vector)]
                        for lane, place, vector in zip(lanes, places, values)}
        self.lanes = {lane: vector[0] for lane, vector in self.vectors.items()}


def accesses(step, n, variant="-"):
    found = [Access(row) for row in ROWS
             if (row["step"], row["n"], row["variant"]) == (str(step), str(n), variant)]
    if not found:
        sys.exit("profiles: accesses.csv has no step %s of %s elements" % (step, n))
    return found


def stored(trace):
    """{place: value} after some accesses."""
    return {place: value for access in trace if access.store for vector in access.vectors.values()
            for place, value in vector}


def loaded(trace):
    return {place: value for access in trace if not access.store
            for vector in access.vectors.values() for place, value in vector}


def moves(trace):
    """Where the values that are stored come from: (lane, [place, ...], place, value) for each store
    of a lane.

    A trace knows addresses, not registers: a store takes what its source line loads, the lane's
    last one also what was loaded on lines that store nothing (`float t = temp[ai]`)."""
    lines = {access.source for access in trace if access.store}
    for lane in sorted({lane for access in trace for lane in access.lanes}):
        mine = [access for access in trace if lane in access.lanes]
        stores = [access for access in mine if access.store]
        for access in stores:
            sources = [load.lanes[lane][0] for load in mine if not load.store and (
                load.source == access.source or access is stores[-1] and load.source not in lines)]
            yield (lane, sources, *access.lanes[lane])
