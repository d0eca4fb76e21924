#!/usr/bin/env bats
# book.bats — the commands that the chapters print run in reading order, in a folder where nothing
# has been written into labs/. What they print is compared by tests/docs/test_commands.py. `make
# test-book` follows the chapters that are left out here.
# bats file_tags=slow
load common
load book

setup() { clone; }

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
