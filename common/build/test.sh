#!/bin/sh
# make test: the tests of documents and of tests/mutation (Python's unittest), of scripts and
# commands (bats) and of C (Criterion), in this order, so that Criterion's line is the last one.
# bats and Python use one processor each, so they run at the same time; the output of bats is shown
# after that of Python. All tests run even if some fail, and the last line repeats which parts
# failed. Runs in the top folder of a built tree.
failed=
part() {
    name=$1
    shift
    echo "== $name"
    "$@" || failed="$failed${failed:+, }$name"
}

scripts=$(mktemp) || exit
trap 'rm -f "$scripts"' EXIT
bats tests/tools >"$scripts" 2>&1 &
bats=$!
scripts_end() {
    wait "$bats"
    status=$?
    cat "$scripts"
    return $status
}

# The sanitizers' tree has links to the sources, so its documents need no second test.
if [ -n "${SANITIZED:-}" ]; then
    echo "== documents, mutation scripts: left to the ordinary tree"
elif command -v python3 >/dev/null; then
    part documents python3 -B -m unittest discover -s tests/docs
    part "mutation scripts" python3 -B -m unittest discover -s tests/mutation
else
    echo "== documents, mutation scripts: skipped, python3 is not installed"
fi
part "scripts and commands" scripts_end
part "C" build/tests/run
[ -z "$failed" ] && exit
echo "make test: failed: $failed" >&2
exit 1
