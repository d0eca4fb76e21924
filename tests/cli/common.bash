# common.bash — what the tests beside it share. They run in the folder in which bats was called: the
# top folder of a built tree (common/build/test.py). `run -N` fails for another exit code than N.
bats_require_minimum_version 1.5.0

# need PROGRAM: skips the test if the program is not installed.
need() {
    local how=
    case $1 in python3 | cmake | pkg-config) how=": make setup installs it" ;; esac
    command -v "$1" >/dev/null || skip "$1 is not installed$how"
}

# says TEXT: the output of `run`, with a newline at its end, has this text. It may be several lines.
says() {
    [[ "$output"$'\n' == *"$1"* ]] || { printf 'expected: %s\nin:\n%s\n' "$1" "$output"; return 1; }
}

# says_not TEXT: the output of `run` does not have this text.
says_not() {
    [[ "$output" != *"$1"* ]] || {
        printf 'did not expect: %s\nin:\n%s\n' "$1" "$output"
        return 1
    }
}

# no_findings STEP: standard input has rows of options of emu, seeds of schedules, arguments of STEP
# and words of its report. The step is right each time, and no checker has a finding.
no_findings() {
    local options seeds seed arguments words
    while IFS='|' read -r options seeds arguments words; do
        for seed in $seeds; do
            # shellcheck disable=SC2086 # options are words
            run -0 build/emu/emu $options --tool all --schedule $seed "$1" $arguments --reps 0
            says "ERROR SUMMARY: 0 errors"
            says "$words"
        done
    done
}

# What a test took, for common/build/test.py, as runner.c writes it of tests in C.
processor_time() {
    [ -n "${TEST_TIMES:-}" ] || return 0
    times >"$BATS_TEST_TMPDIR/times"
    awk -v test="$BATS_TEST_DESCRIPTION" '{ for (i = 1; i <= 2; i++) {
        split($i, part, "m"); seconds += 60 * part[1] + part[2] } }
        END { printf "%s %.2f\n", test, seconds }' "$BATS_TEST_TMPDIR/times" >>"$TEST_TIMES"
}

teardown() { processor_time; }
