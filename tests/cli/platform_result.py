#!/usr/bin/env python3
"""platform_result.py FORMAT FILE: does a result hold to what the platform takes? Prints its points
of 100 and exits with 0, or says what is wrong. With --show it prints what a student sees of it, as
text."""
import json
import re
import sys

TEXT, TRUTH = str, bool
NUMBER = (int, float)
WORDS = {"visibility": {"hidden", "after_due_date", "after_published", "visible"},
         "stdout_visibility": {"hidden", "after_due_date", "after_published", "visible"},
         "status": {"passed", "failed"},
         "output_format": {"text", "html", "simple_format", "md", "ansi"}}
# The keys of a result and of one of its tests, and their types.
KEYS = {
    "gradescope": (
        {"score": NUMBER, "execution_time": NUMBER, "output": TEXT, "output_format": TEXT,
         "visibility": TEXT, "stdout_visibility": TEXT, "extra_data": dict, "tests": list,
         "leaderboard": list},
        {"score": NUMBER, "max_score": NUMBER, "status": TEXT, "name": TEXT, "number": TEXT,
         "output": TEXT, "output_format": TEXT, "tags": list, "visibility": TEXT,
         "extra_data": dict}),
    "prairielearn": (
        {"score": NUMBER, "gradable": TRUTH, "format_errors": (TEXT, list), "message": TEXT,
         "output": TEXT, "images": list, "tests": list},
        {"name": TEXT, "description": TEXT, "points": NUMBER, "max_points": NUMBER,
         "message": TEXT, "output": TEXT, "images": list}),
}


def check(condition, what):
    if not condition:
        sys.exit("platform_result.py: " + what)


def hold(found, keys):
    for key, value in found.items():
        check(key in keys, "there is no key " + key)
        truth = isinstance(value, bool)
        check(isinstance(value, keys[key]) and truth == (keys[key] is TRUTH),
              "%s is %r" % (key, value))
        check(value in WORDS.get(key, {value} if truth else [value]), "%s: %s" % (key, value))


def points_of(name, text):
    if name == "summary":
        return float(re.match(r"## Lab \d+: ([\d.]+) of 100 points\n", text)[1])
    check(len(text) <= 1 << 20, "more than 1 MB")
    result = json.loads(text)
    whole, of_test = KEYS[name]
    hold(result, whole)
    for test in result["tests"]:
        hold(test, of_test)
        check(test["name"], "a test without a name")
    points = [key for key in ("score", "points") if key in of_test][0]
    if name == "prairielearn":
        check("gradable" in result, "gradable is missing")
        check(("score" in result) == result["gradable"], "score, but not gradable")
        check(result["gradable"] or result["format_errors"], "not gradable without a reason")
        check(0 <= result.get("score", 0) <= 1, "score is no fraction")
        all_points = 100 * result.get("score", 0)
    else:
        all_points = result["score"]
        check(all(points in t or "status" in t for t in result["tests"]), "a test without points")
    of_tests = sum(test.get(points, 0) for test in result["tests"])
    if len(result["tests"]) > 5 and name == "gradescope":
        check(abs(of_tests - all_points) < 1e-9, "%f, and the tests %f" % (all_points, of_tests))
    return round(all_points, 6)


def show(result):
    """Gradescope's page, roughly: the whole, then each visible test with its points."""
    print(result["output"])
    for test in result["tests"]:
        if test["visibility"] == "visible":
            points = " (%g/%g)" % (test["score"], test["max_score"]) if "score" in test else ""
            print("%s %s%s" % ("+" if test["status"] == "passed" else "-", test["name"], points))
            print("    " + test["output"].rstrip().replace("\n", "\n    "))


if __name__ == "__main__":
    with open(sys.argv[2], encoding="utf-8") as file:
        content = file.read()
    if sys.argv[1] == "--show":
        show(json.loads(content))
    else:
        print("%.2f" % points_of(sys.argv[1], content))
