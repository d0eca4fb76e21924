"""structured.py -- looks at what emu --json, --sarif, … have written, for structured.bats."""
import csv
import html.parser
import json
import os
import re
import sys
import xml.etree.ElementTree
from pathlib import Path


def text_of(path):
    return Path(path).read_text(encoding="utf-8")  # fails if it is not UTF-8


def load(path):
    return json.loads(text_of(path))


# ncu's name of a metric, and its place in the JSON document
METRICS = {
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum": ("shared_load", "wavefronts"),
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum": ("shared_store", "wavefronts"),
    "smsp__sass_inst_executed_op_shared_ld.sum": ("shared_load", "instructions"),
    "smsp__sass_inst_executed_op_shared_st.sum": ("shared_store", "instructions"),
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum": ("global_load", "requests"),
    "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum": ("global_store", "requests"),
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": ("global_load", "sectors"),
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum": ("global_store", "sectors"),
    "emu__bytes_mem_global_op_st.sum": ("global_store", "bytes"),
    "emu__inst_executed_op_barrier.sum": ("barriers",),
    "emu__ptx_inst_executed.sum": ("ptx_instructions",),
    "emu__ptx_inst_executed_class_f32.sum": ("ptx_classes", "f32"),
    "emu__ptx_inst_executed_class_sync.sum": ("ptx_classes", "sync"),
}


def value(counters, path):
    for key in path:
        counters = counters[key]
    return counters


def same_counters(document_path, csv_path):
    """The launches of a document have the counters of the same run as CSV."""
    launches = load(document_path)["launches"]
    table = csv.DictReader(x for x in text_of(csv_path).splitlines() if x.startswith('"'))
    rows = [row for row in table if row["ID"]]
    assert len(launches) == len(rows) > 0, (len(launches), len(rows))
    for launch, row in zip(launches, rows):
        assert launch["kernel"] == row["Kernel Name"]
        assert "(%d, %d, %d)" % tuple(launch["grid"]) == row["Grid Size"]
        assert "(%d, %d, %d)" % tuple(launch["block"]) == row["Block Size"]
        for name, path in METRICS.items():
            assert value(launch["counters"], path) == int(row[name]), name


def adds_up(document_path):
    """Operations, classes and lines are parts of one sum."""
    for launch in load(document_path)["launches"]:
        total = launch["counters"]
        assert sum(total["ptx_classes"].values()) == total["ptx_instructions"]
        assert sum(o["instructions"] for o in launch["ptx_operations"]) == total["ptx_instructions"]
        assert sum(o["lanes"] for o in launch["ptx_operations"]) == total["ptx_lanes"]
        lines = [line["counters"] for line in launch["lines"]]
        for path in METRICS.values():
            assert sum(value(line, path) for line in lines) <= value(total, path), path
        path = ("shared_load", "wavefronts")
        assert sum(value(line, path) for line in lines) == value(total, path)


def programs(document_path, *names):
    """An array of documents, of programs that have launched these kernels, one each."""
    documents = load(document_path)
    assert [d["launches"][0]["kernel"] for d in documents] == list(names), documents


def line_of(source, mark):
    lines = text_of(source).splitlines()
    return next(n for n, text in enumerate(lines, 1) if text.endswith("// " + mark))


def hazard(document_path, text_path, source):
    """The findings of a race have both places, and their text says the same."""
    findings = load(document_path)["findings"]
    text = "\n".join(line[len("========= "):] for line in text_of(text_path).splitlines())
    read = ("Read access", line_of(source, "later"))
    write = ("Write access", line_of(source, "earlier"))
    wanted = {"write-after-read": (write, read), "read-after-write": (read, write)}
    assert {f["kind"] for f in findings} == set(wanted) and len(findings) == 2, findings
    for f in findings:
        places = [f["place"], f["other_place"]]
        assert (f["tool"], f["severity"]) == ("racecheck", "error")
        assert (f["kernel"], f["space"]) == ("race", "shared")
        assert tuple((place["access"], place["line"]) for place in places) == wanted[f["kind"]]
        assert f["launch"] == 1 and f["text"] in text and f["detail"] in text, text
        assert f["address"] in f["detail"] and "[%d hazards]" % f["count"] in text
        for place in places:
            where = (place["file"], place["line"], place["ptx_line"])
            assert "%s:%d (PTX line %d)" % where in f["text"]
            thread = (*place["thread"], *place["block"])
            assert "thread (%d,%d,%d) in block (%d,%d,%d)" % thread in f["detail"]


def outside(document_path, source):
    """An access out of bounds: a launch that failed, and where."""
    document = load(document_path)
    errors = [launch["error"] for launch in document["launches"]]
    assert errors == [None, "cudaErrorIllegalAddress"]
    f = document["findings"][0]
    assert (f["kind"], f["space"], f["bytes"]) == ("out-of-bounds", "global", 4)
    assert f["place"]["line"] == line_of(source, "outside") and f["place"]["thread"] == [3, 0, 0]
    assert f["other_place"] is None
    api = [f for f in document["findings"] if f["kind"] == "api-error"]
    assert len(api) == 1 and "kernel" not in api[0]
    assert document["errors"] == len(document["findings"])


def need(condition, what):
    assert condition, what


def sarif_location(location):
    """A location as SARIF 2.1.0 has it (3.28): a physical one with a relative URI, or a logical
    one."""
    need(set(location) <= {"id", "physicalLocation", "logicalLocations", "message"}, location)
    physical = location.get("physicalLocation")
    if physical is None:
        return None
    artifact = physical["artifactLocation"]
    need(re.fullmatch(r"[A-Za-z0-9/._~%-]+", artifact["uri"]), artifact)
    need(not artifact["uri"].startswith("/") and artifact["uriBaseId"] == "SRCROOT", artifact)
    line = physical["region"]["startLine"]
    need(isinstance(line, int) and line >= 1, physical)
    return artifact["uri"], line


def sarif(path, source, *wanted):
    """The required parts of SARIF 2.1.0 are there, and these results, each as RULE@MARK."""
    log = load(path)
    need(log["version"] == "2.1.0" and log["$schema"].endswith("sarif-2.1.0.json"), log.keys())
    need(set(log) == {"$schema", "version", "runs"}, log.keys())
    found = [result for run in log["runs"] for result in sarif_results(run, source)]
    for rule, *marks in (want.split("@") for want in wanted):
        need((rule, [line_of(source, mark) for mark in marks]) in found, (rule, marks, found))


def sarif_results(run, source):
    """The results of a run, each as a rule and the lines of its places."""
    need(set(run) == {"tool", "results"}, run.keys())
    driver = run["tool"]["driver"]
    rules = [rule["id"] for rule in driver["rules"]]
    need(driver["name"] == "emu" and len(rules) == len(set(rules)), rules)
    found = []
    for result in run["results"]:
        need(set(result) <= {"ruleId", "level", "message", "locations", "relatedLocations",
                             "occurrenceCount"}, result)
        need(result["ruleId"] in rules and result["level"] in ("error", "warning", "note"), result)
        need(result["message"]["text"] and result.get("occurrenceCount", 1) >= 1, result)
        locations = result["locations"] + result.get("relatedLocations", [])
        places = [sarif_location(location) for location in locations]
        for place in places:
            need(place is None or place[0] == source, place)
        found.append((result["ruleId"], [place[1] for place in places if place]))
    return found


def annotated(path, source):
    """Every line of the source once, in order; aligned columns; counters at their lines."""
    head, titles, *lines = text_of(path).rstrip("\n").splitlines()
    texts = text_of(source).splitlines()
    need(head == source + ":", head)
    shown = [line.split(" | ", 1)[-1].rstrip() for line in lines]
    need(shown == [text.rstrip() for text in texts], lines)
    need(len({line.index(" |") for line in lines}) == 1, "columns are not aligned")
    width = titles.index("conflicts") + len("conflicts")
    counters = {int(line[:5]): line[5:width].split() for line in lines}
    need(counters[line_of(source, "conflict")][1:] == ["16", "14"], counters)
    need(counters[line_of(source, "sectors")][1:] == ["16", "14"] and counters[1] == [], counters)
    need("\033" not in "".join(lines), "colour in a file")


class Page(html.parser.HTMLParser):
    """Elements are closed in order, and nothing is loaded from elsewhere."""
    EMPTY = {"meta"}

    def __init__(self):
        super().__init__()
        self.open, self.text = [], []

    def handle_starttag(self, tag, attributes):
        need(tag not in ("script", "link", "img", "iframe"), tag)
        need(not {"src", "href"} & {name for name, _ in attributes}, attributes)
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag):
        need(self.open.pop() == tag, tag)

    def handle_data(self, data):
        self.text.append(data)


def whole_page(path):
    """The text of the file, and of its elements."""
    text, shown = text_of(path), Page()
    shown.feed(text)
    shown.close()
    need(not shown.open, shown.open)
    return text, "".join(shown.text)


def page(path, source):
    """The page is complete, and shows the kernel, the finding and each source line."""
    text, content = whole_page(path)
    need("url(" not in text and "@import" not in text, "something is loaded")
    for line in text_of(source).splitlines():
        need(line in content, line)
    for part in ("counts", "RAW hazard at __shared__ address", "fma.f32 64", source):
        need(part in content, part)
    need(text.count('class="b"') == 2, "bars")


def pictures(path, banks, timelines):
    """The page has so many pictures, each well-formed. One of banks has a square for each lane of a
    warp that has 8 wavefronts, and a column for each bank; one of warps has a row for each."""
    text, _ = whole_page(path)
    drawn = [xml.etree.ElementTree.fromstring(svg) for svg in re.findall(r"<svg.*?</svg>", text)]
    of_banks, of_warps = drawn[:int(banks)], drawn[int(banks):]
    need(len(of_warps) == int(timelines), (len(drawn), banks, timelines))
    need(text.count(" would do</figcaption>") == int(banks), "captions")
    for svg in of_banks:
        cells = [rect.attrib for rect in svg.iter("rect")]
        numbers = [word.text for word in svg.iter("text")]
        need(numbers[:32] == [str(bank) for bank in range(32)], numbers)
        need(sorted(map(int, numbers[32:])) == list(range(32)) and len(cells) == 32, numbers)
        columns = [cell["x"] for cell in cells]
        wavefronts = max(columns.count(x) for x in columns)
        need(", by warp 0 of block 0 in kernel" in text and
             ": %d wavefronts, and 1 would do" % wavefronts in text, wavefronts)
    for svg in of_warps:
        rows = {rect.attrib["y"] for rect in svg.iter("rect")}
        names = [word.text for word in svg.iter("text") if word.text.startswith("warp ")]
        need(len(rows) == len(names) > 0, (rows, names))
    if int(timelines) == 2 and int(banks) == 2:  # counts has a barrier, race has none
        waits = [[r for r in svg.iter("rect") if r.attrib["fill"] == "#ccc"] for svg in of_warps]
        need(len(waits[0]) == 1 and not waits[1], waits)


def program(document_path, name):
    """The document is valid, and names a program of any name."""
    shown = load(document_path)["program"]
    assert shown == name.encode().decode("unicode_escape"), shown


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
