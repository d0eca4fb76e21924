#!/usr/bin/env bats
# others.bats — `make test-book`: the commands of the chapters that tests/cli/book.bats leaves
# out, in their blocks and in their sentences, in reading order. They build experiments, and run
# large scans on the emulator, so that `make test-all` would take too long.
load ../common
load ../book

setup() { clone; }

# in_sentences PAGE: commands that a sentence names; not programs alone, and no placeholders.
in_sentences() {
    awk '/^```/ { inside = !inside; next } !inside' "$1" | grep -oE '`[^`]+`' | tr -d '`' |
        grep -E '^(make [a-z0-9-]+|(EMU_[A-Z]+=[a-z0-9]+ )?(\./step[0-9]+|build/(emu/emu|exp)))' |
        grep -vE '^make (setup|test|docs|doctor)|FILE|NAME|[A-Z]=?$'
}

# Is a file to be read that is the reader's own: that is not here, and that no command has written?
reads_own_file() {
    local word option=
    for word in ${1//\"/}; do
        case $option in
        *--input | --second | --depth) [ "$word" = - ] || [ -e "$word" ] || return 0 ;;
        esac
        option=$word
    done
    return 1
}

# Does it run a program that needs a GPU, as the next line of the page says, and is there none?
needs_gpu() { [[ $1 =~ (^|\&\& )build/example ]] && ! nvidia-smi >/dev/null 2>&1; }

# follow PAGE: runs its commands; all have to succeed. Adds to $count.
follow() {
    local page=$1 command
    while IFS= read -r command; do
        ! reads_own_file "$command" && ! needs_gpu "$command" || continue
        count=$((count + 1))
        run timeout 900 sh -c "$command" </dev/null
        [ "$status" -eq 0 ] || {
            printf '%s: %s ends with %s:\n%s\n' "$page" "$command" "$status" "$output"
            return 1
        }
    done < <(commands "$page"; in_sentences "$page")
}

@test "the commands of chapters 0, 1, 8, 10, 12 and 14 to 16 run one after the other" {
    local page count=0
    for page in notes/{00,01,08,10,12,12b,12c,12d,12e,14,15,16}-*.md; do follow "$page"; done
    [ "$count" -ge 28 ]
}

@test "the commands of chapter 17 run one after the other" {
    command -v mpirun >/dev/null || skip "Open MPI is missing: make setup-mpi installs it"
    local count=0
    follow notes/17-many-gpus.md
    [ "$count" -ge 8 ]
}
