#!/bin/sh
# make test: the tests of documents, of tests/mutation and of the page (Python's unittest), of
# scripts and commands (bats) and of C (Criterion). bats runs beside the others, since much of its
# time is spent on waiting, and its output is shown when all have ended. Criterion's last line is
# then repeated, so that it is the last one. All tests run even if some fail, and the failed parts
# are named before that line. Runs in the top folder of a built tree.
failed=
export EMU_PROGRESS=${EMU_PROGRESS-0} # what it says of slow kernels is not what a test expects
part() {
    name=$1
    shift
    echo "== $name"
    "$@" || failed="$failed${failed:+, }$name"
}

scripts=$(mktemp) && said=$(mktemp) || exit
trap 'rm -f "$scripts" "$said" "$said.status"' EXIT
# The tests of make, of steps of one's own and of scripts run no C of ours that others do not run.
# Those of step 17's library wait for each other in up to 7 processes, which is slow when sanitized.
files="tests/tools tests/labs tests/ranks"
others="-e /make.bats -e /gpu_script.bats -e /compare.bats -e /measure.bats -e /library.bats"
# shellcheck disable=SC2086
[ -z "${SANITIZED:-}" ] ||
    files=$(ls tests/tools/*.bats tests/labs/*.bats tests/ranks/*.bats |
        grep -v $others -e /own_step.bats)
# shellcheck disable=SC2086
bats $files >"$scripts" 2>&1 &
bats=$!
scripts_end() {
    wait "$bats"
    status=$?
    cat "$scripts"
    return $status
}
criterion() {
    { build/tests/run 2>&1; echo $? >"$said.status"; } | tee "$said"
    status=$(cat "$said.status") && rm "$said.status"
    return "$status"
}

# The sanitizers' tree has links to the sources, so its documents need no second test.
if [ -n "${SANITIZED:-}" ]; then
    echo "== documents, mutation scripts, page: left to the ordinary tree"
elif command -v python3 >/dev/null; then
    part documents python3 -B -m unittest discover -s tests/docs
    part "mutation scripts" python3 -B -m unittest discover -s tests/mutation
    if [ -n "${PAGE_REQUIRED:-}" ] || command -v emcc >/dev/null; then
        part "page" python3 -B -m unittest discover -s tests/page
    else
        echo "== page: skipped, make setup-page installs what it needs"
    fi
else
    echo "== documents, mutation scripts, page: skipped, python3 is not installed"
fi
part "C" criterion
part "scripts and commands" scripts_end
[ -z "$failed" ] || echo "make test: failed: $failed" >&2
tail -n 1 "$said"
[ -z "$failed" ]
