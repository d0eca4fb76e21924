#!/bin/sh
# make test: the tests of documents and of tests/mutation (Python's unittest), of scripts and
# commands (bats) and of C (Criterion), in this order, for Criterion's line is the last one then.
# bats takes one processor, and so does Python: they run at the same time, and what bats writes is
# shown after what Python writes. All tests run, whatever fails; a failure is said again at the end.
# Runs in the top folder of a built tree.
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

# In the sanitizers' tree sources are links, and documents are the same.
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
