#!/usr/bin/env bats
# own_step.bats — the commands of notes/own-step.md, as printed there, print what the page shows.
# bats file_tags=slow
load common

# A folder like the repository, in which steps/ may be changed: its files are links.
setup() {
    unset MAKEFLAGS MAKELEVEL MFLAGS
    local top=$PWD
    cd "$BATS_TEST_TMPDIR"
    ln -s "$top"/{Makefile,common,profiles,tests,notes} .
    mkdir build && cp -rp "$top"/steps . # copies, for the commands change them
    cp -rs "$top"/build/{common,emu} build
    [ ! -e "$top/build/cuda" ] || ln -s "$top/build/cuda" build
}

# lines OUTPUT SHOWN: the lines of the page, in their order, in the output; … stands for anything.
lines() {
    local rest=$1
    while IFS= read -r line; do
        line=${line%…}
        [ -n "$line" ] || continue
        [[ "$rest" == *"$line"* ]] || { printf 'expected: %s\nin:\n%s\n' "$line" "$1"; return 1; }
        rest=${rest#*"$line"}
    done <<<"$2"
}

@test "a step of one's own can be built, run, checked and removed" {
    [ -z "${SANITIZED:-}" ] || skip "nvcc would have to link the sanitized emulator"
    local count=0 command shown
    while IFS= read -r -d $'\x01' part; do
        [ -n "$part" ] || continue
        command=${part%%$'\n'*} shown=${part#*$'\n'}
        run sh -c "$command"
        lines "$output" "$shown"
        count=$((count + 1))
    done < <(sed -n '/^```console/,/^```$/p' notes/own-step.md | grep -v '^```' |
        sed 's/^\$ /\x01/'; printf '\x01')
    [ "$count" -eq 8 ]
    [ ! -e steps/20-mine ]
}
