#!/usr/bin/env bats
# book.bats — the commands that the chapters print run in reading order, in a folder where nothing
# has been written into labs/. What they print is compared by tests/docs/test_commands.py.
load common

# commands PAGE: the commands in its blocks, without `$ ` and comments.
commands() {
    awk '/^```/ { inside = !inside; next } inside' "$1" |
        sed -nE 's/^\$ //; s/ +# .*//; /^(make|\.\/step|build\/|printf|EMU_)/p' |
        grep -v '^make setup'
}

# A folder like the repository, with a labs/ of its own.
setup() {
    [ -z "${SANITIZED:-}" ] || skip "nvcc would have to link the sanitized emulator"
    unset MAKEFLAGS MAKELEVEL MFLAGS
    export EMU_PROGRESS=0 NO_COLOR=1
    local top=$PWD
    cd "$BATS_TEST_TMPDIR"
    ln -s "$top"/{Makefile,README.md,common,profiles,tests,notes,steps,build} .
    ln -s "$top"/step[0-9]* .
}

@test "the commands of the first chapters, and of those with a lab, run one after the other" {
    local page command count=0
    for page in notes/{first-kernel,0[1-7]-*,09-*,11-*,13-*}.md; do
        while IFS= read -r command; do
            count=$((count + 1))
            run timeout 300 sh -c "$command" </dev/null
            # A program with a fault may end with the fault's exit code; make may not fail.
            if [ "$status" -ge 124 ] || [[ $command == make* && $status -ne 0 ]]; then
                printf '%s: %s ends with %s:\n%s\n' "$page" "$command" "$status" "$output"
                return 1
            fi
        done < <(commands "$page")
    done
    [ "$count" -ge 30 ]
}
