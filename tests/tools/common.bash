# common.bash — what the tests beside it share. They run in the folder in which bats was called: the
# top folder of a built tree (common/build/test.sh).

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
