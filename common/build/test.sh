#!/bin/sh
# make test: the tests of documents, of tests/mutation, of the page, of common/python and of the
# compiler in common/cc (Python's unittest), of scripts and commands (bats) and of C (Criterion).
# bats runs twice beside the others, since much of its time is spent on waiting, and its output is
# shown when C has ended. All tests run even if some fail. At the end stand the reasons why tests
# were skipped, the failed parts, and Criterion's last line once more. Runs in the top folder of a
# built tree. With ONLY_PARTS only those tests run that need what `make setup-PART` installs.
. common/build/tools.sh
failed=
export EMU_PROGRESS=${EMU_PROGRESS-0} # what it says of slow kernels is not what a test expects
part() {
    name=$1
    shift
    echo "== $name"
    "$@" || failed="$failed${failed:+, }$name"
}

# beside NAME COMMAND…: runs a part beside the others, until `ended NAME` shows its output.
said=$(mktemp -d) || exit
touch "$said/python"
trap 'rm -rf "$said"' EXIT
beside() {
    name=$1
    shift
    "$@" >"$said/$name" 2>&1 &
    echo $! >"$said/$name.pid"
}
ended() {
    wait "$(cat "$said/$1.pid")"
    status=$?
    cat "$said/$1"
    return $status
}

# Under the sanitizers some tests are left to the ordinary tree. Of C these are tests of kernels,
# which nvcc compiles and the sanitizers do not see: of these suites only what is said here runs,
# for the host code beside the kernels. Of bats it is what has the tag "long". The tests of make, of
# steps of one's own and of scripts run no C of ours that others do not run. Those of step 17's
# library wait for each other in up to 7 processes, which is slow when sanitized.
only='architectures/!(code_for_a_t4_on_an_h200)
bench/!(applications_are_timed_by_their_experiments|what_ends_the_program*)
bound/!(holds_*|is_not_loose|one_wrong_element_in_a_million_shows)
compaction/!(each_kernel_is_right_under_the_checkers|middling_*)
emu_command/!(many_short_launches_say_how_many_they_are)
experiments/@(each_says_what_to_see|options|stdout_that_cannot_be_written)
hazards/
library/@(each_function_refuses|no_elements|version)
library_scan/short_sums_have_no_options
library_select/tables_and_boxes
library_sort/
many_gpus/!(nodes_of_several_tiles)
operators/@(judge_*|nothing_to_scan|refuses|sizes)
partners/@(refuses|sizes)
pipeline/@(f32_at_every_edge|no_elements|refuses_*|returns_*)
promises/
racecheck/!(finds_the_same_in_any_order)
recorded/
schedules/!(right_programs_stay_right)
shuffle_lessons/
steps/!(*_at_many_sizes|large_sizes)
summed_area/!(white_pixels_8192_by_8192)
waits/!(slow_is_not_stuck)
workspaces/!(graphs_and_calls*|each_scan_after_each|on_each_device_*)
wrong/!(what_ends_the_program*|a_signal_from_elsewhere*)'

# The tests under the sanitizers are run in shares, each of every eighth suite and file of bats,
# since Criterion takes no filter of all suites. SHARE, any number, chooses one of them.
share_count=8
shares=${SHARE:+$((SHARE % share_count))}
shares=${shares:-$(seq -s ' ' 0 $((share_count - 1)))}
in_shares() { awk -v shares="$shares" -v n=$share_count 'index(shares, NR % n)'; }

# filter SHARE: Criterion's filter of its tests.
filter() {
    build/tests/run --list | sed -n 's/^\([^ ]*\): .*/\1/p' |
        awk -v share="$1" -v n=$share_count -v only="$only" '
        BEGIN { count = split(only, lines, "\n")
                for (i = 1; i <= count; i++)
                    if (split(lines[i], part, "/")) tests[part[1]] = part[2] }
        NR % n != share { next }
        !($1 in tests) { whole = whole "|" $1; next }
        tests[$1] { some = some "|" $1 "/" tests[$1] }
        END { print "@(@(" substr(whole, 2) ")/*" some ")" }'
}

files=tests/tools
more_files="tests/labs tests/ranks"
others="-e /make.bats -e /gpu_script.bats -e /compare.bats -e /measure.bats -e /library.bats"
if [ -n "${SANITIZED:-}" ]; then
    # shellcheck disable=SC2086
    files=$(ls tests/tools/*.bats | grep -v $others -e /own_step.bats -e /estimate.bats | in_shares)
    more_files=$(ls tests/labs/*.bats tests/ranks/*.bats | grep -v $others | in_shares)
fi
if [ -n "${ONLY_PARTS:-}" ]; then
    files=tests/ranks
    more_files=tests/labs/grade.bats
    set -- --filter '@(sandbox/*|experiments/between_ranks)'
fi
# A test in C may take this number of seconds, and each other part as a whole five times as many.
# The limit that bats has for a test is a job of its shell, for which a `wait` in it would wait too.
limit=600
[ -z "${TEST_ALL:-}" ] || limit=7200
limited() { timeout --foreground -k 10 $((5 * limit)) "$@"; }
# shellcheck disable=SC2086
beside scripts limited bats ${SANITIZED:+--filter-tags '!long'} $files
# shellcheck disable=SC2086
beside labs limited bats ${SANITIZED:+--filter-tags '!long'} $more_files
criterion() {
    {
        build/tests/run --timeout $limit --tap="$said/tap" "$@" 2>&1
        echo $? >"$said/status"
    } | tee "$said/C"
    return "$(cat "$said/status")"
}

# Each share ends with Criterion's closing lines.
sanitized() {
    for share in $shares; do
        criterion --filter "$(filter "$share")" || return
    done
}

# unittest ARGUMENTS…: of Python, by $python. Tests that end with "ok" are not shown. The line
# before may have their names.
python=python3
unittest() {
    {
        limited "$python" -B -m unittest discover -v "$@" 2>&1
        echo $? >"$said/status"
    } | tee -a "$said/python" | grep -v -e '\.\.\. ok$' -e '^ok$' -e '^test_[a-z_0-9]* (.*)$'
    return "$(cat "$said/status")"
}

# Lines "REASON<tab>NAME" of the tests that were skipped. Criterion has one for each test that a
# filter leaves out, too.
skips() {
    sed -n 's/^ok [-0-9]* *\(.*[^ ]\) *# [Ss][Kk][Ii][Pp] \(.*\)/\2\t\1/p' \
        "$said/tap" "$said/scripts" "$said/labs" | grep -v '^test was skipped	'
    sed -n "s/^\(test_[a-z_0-9]* (\(.*\))\|\(.*\)\) \.\.\. skipped ['\"]\(.*\)['\"]$/\4\t\2\3/p" \
        "$said/python"
}

# For each reason, which says what to do, the tests that were skipped.
skipped() {
    skips | sort | awk -F '\t' '
        { count[$1]++; names[$1] = names[$1] (count[$1] > 1 ? "; " : "") $2 }
        count[$1] == 1 { reasons[++n] = $1 }
        END { for (i = 1; i <= n; i++) {
            printf "make test: skipped: %d x %s\n", count[reasons[i]], reasons[i]
            printf "    %s\n", names[reasons[i]] } }'
    [ -z "$page_lacks" ] ||
        echo "make test: skipped: page: not found: $page_lacks: make setup-page installs them"
    [ -z "$package_lacks" ] || echo "make test: skipped: Python package: not found:" \
        "$package_lacks: make setup-python installs them"
    have python3 ||
        echo "make test: skipped: documents, mutation scripts, page: make setup installs python3"
}

# The package is installed into a fresh virtual environment, where its tests run.
package() {
    common/build/python.sh || return
    python=build/python/bin/python
    unittest -s tests/python
    status=$?
    python=python3
    return $status
}

# The sanitizers' tree has links to the sources, so its documents need no second test.
page_lacks=
package_lacks=
if [ -z "${SANITIZED:-}" ] && have python3; then
    page_lacks=$(missing_packages_of page | paste -sd ' ' -)
    if [ -n "${PAGE_REQUIRED:-}" ] || [ -z "$page_lacks" ]; then
        part page unittest -s tests/page
    fi
    package_lacks=$(missing_packages_of python | paste -sd ' ' -)
    if [ -n "${PYTHON_REQUIRED:-}" ] || [ -z "$package_lacks" ]; then
        part "Python package" package
    fi
    part documents unittest -s tests/docs ${ONLY_PARTS:+-k of_ranks -k is_public}
    [ -n "${ONLY_PARTS:-}" ] || part "mutation scripts" unittest -s tests/mutation
fi
# Under the sanitizers, the compiler of common/cc gets changed sources; the rest is nvcc's. What the
# page runs of it needs the page's node.
if have python3; then
    part compiler unittest -s tests/cc ${ONLY_PARTS:+-k test_steps} ${SANITIZED:+-k Fuzz}
fi
if [ -n "${SANITIZED:-}" ]; then
    part "C" sanitized
else
    part "C" criterion "$@"
fi
part "scripts and commands" ended scripts
part "labs and ranks" ended labs
[ -n "${SANITIZED:-}" ] || skipped
[ -z "$failed" ] || echo "make test: failed: $failed" >&2
tail -n 1 "$said/C"
[ -z "$failed" ]
