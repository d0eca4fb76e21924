#!/usr/bin/env bats
# quiz.bats — ./stepN --quiz makes questions for a word, and answers them; ./stepN --levels shows
# what warps do between two barriers. Both are read from a trace.
load common

mapfile -t TRACED < <(awk -F, '$4 == "yes" { print $1 }' steps/steps.csv)

setup() {
    export EMU_PROGRESS=0
    dir=$BATS_TEST_TMPDIR
}

# bats test_tags=slow
@test "the same word has the same questions, and another word others" {
    for step in "${TRACED[@]}"; do
        ./step"$step" --quiz anna >"$dir/anna"
        ./step"$step" --quiz anna | cmp - "$dir/anna"
        ./step"$step" --quiz ben >"$dir/ben"
        # The heading says the word.
        run -1 cmp -s <(tail -n +2 "$dir/ben") <(tail -n +2 "$dir/anna")
        [ "$(grep -c '^[1-4]\. ' "$dir/anna")" -ge 3 ]
    done
}

@test "without --solve there is no answer" {
    ./step3 --quiz anna --solve >"$dir/solved"
    [ "$(grep -c '^-> ' "$dir/solved")" = 4 ]
    run ./step3 --quiz anna
    says_not "->"
    run ./step3 --quiz anna --csv
    says "word,step,number,question"$'\n'
}

# bats test_tags=slow
@test "the answers are those of a step 3 that is written in another language" {
    need python3
    seq -f 's%.0f' 200 | ./step3 --quiz - --solve --csv >"$dir/class.csv"
    [ "$(wc -l <"$dir/class.csv")" = 801 ]
    run -0 python3 -B tests/cli/quiz.py <"$dir/class.csv"
    [ "$output" -ge 700 ]
}

@test "a class: a row for each question of each word, as CSV or JSON" {
    printf 'a\n\nb, "c"\r\n' | ./step4 --quiz - --solve --csv >"$dir/csv"
    grep -q '^a,4,1,' "$dir/csv"
    grep -q '^"b, ""c""",4,4,' "$dir/csv"
    [ "$(wc -l <"$dir/csv")" = 9 ]
    printf 'a\nb\n' | ./step4 --quiz - --json >"$dir/json"
    need python3
    python3 -c 'import json, sys; rows = json.load(sys.stdin); assert len(rows) == 8, rows' \
        <"$dir/json"
}

# bats test_tags=slow
@test "a question names one access of its source line" {
    for step in 2 4 5 7 9; do
        seq 30 | ./step"$step" --quiz - --csv >"$dir/csv"
        # An access that the compiler has moved to another line, and a line with two loads.
        run -1 grep -E 'load of line [0-9]+ of [^,]*, `[^=]*\+= [^=]*\[' "$dir/csv"
        run -1 grep -E 'of line [0-9]+ of [^,]*, `[^[]*`' "$dir/csv"
    done
}

@test "a variant has its own answers; the emulator's settings change none" {
    ./step4 --quiz anna --solve --variant pad16 >"$dir/pad16"
    grep -q 'step4 --variant pad16 --n' "$dir/pad16"
    ./step3 --quiz anna --solve >"$dir/hopper"
    EMU_MODEL=g80 EMU_SCHEDULE=7 EMU_BLOCKS=descending EMU_TRACE="$dir/trace" \
        ./step3 --quiz anna --solve | cmp - "$dir/hopper"
}

@test "levels: their sums are what the report counts" {
    need python3
    for step in "${TRACED[@]}"; do
        ./step"$step" --device emu --n 1024 --reps 0 --json >"$dir/json"
        ./step"$step" --n 1024 --levels >"$dir/levels"
        python3 - "$dir/json" "$dir/levels" <<'END'
import json, sys
run = json.load(open(sys.argv[1]))
words = [line.split() for line in open(sys.argv[2])]
rows = [map(int, row[1:]) for row in words if row[:1] == ["all"]]
sums = [sum(column) for column in zip(*rows)]
found = [run[key] for key in ("wavefronts_ld", "conflicts_ld", "wavefronts_st", "conflicts_st")]
assert found == [sums[2], sums[3], sums[5], sums[6]], (found, sums)
END
    done
}

# words: the columns of --levels that no order of lanes can change.
words() { awk '{ print $1, $2, $3, $6 }'; }

@test "levels: in any order of warps, and of the user's own input" {
    ./step3 --levels | words >"$dir/usual"
    EMU_SCHEDULE=7 ./step3 --levels | words | cmp - "$dir/usual"
    run -0 ./step3 --input - --levels <<<"3 1 7 0 4 1 6 3"
    says "       all      8      43 "
    run -0 ./step8 --n 1024 --levels
    says "No kernel uses shared memory."
}
