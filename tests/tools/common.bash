# common.bash — what the tests beside it share. They run in the folder in which bats was called: the
# top folder of a built tree (common/build/test.sh).

# need PROGRAM: skips the test where it is not installed.
need() { command -v "$1" >/dev/null || skip "$1 is not installed"; }

# says TEXT: the output of `run` has this text, which may be several lines.
says() {
    [[ "$output" == *"$1"* ]] || { printf 'expected: %s\nin:\n%s\n' "$1" "$output"; return 1; }
}
