#!/usr/bin/env bats
# banks.bats — the labs with sheets to fill in: predict the counter, and the bank detective.
load ../tools/common

bank_lab() { run build/labs/bank-lab "$1" "$2" "$BATS_TEST_TMPDIR/$1.txt" build/labs/banks.ptx; }

# answer_predict: fills in the sheet by hand-made formula. A warp of L lanes at a stride of s words
# has lanes in 32 / s banks, or in one if s is 32 or more.
answer_predict() {
    awk '/^#/ { print; next }
         { lanes = $2 < 32 ? $2 : 32; stride = 2 * $1 < 32 ? 2 * $1 : 32; banks = 32 / stride
           ways = int((lanes + banks - 1) / banks); warps = int(($2 + 31) / 32)
           print $1, $2, 2 * warps * (ways - 1), warps * (ways - 1) }' \
        "$BATS_TEST_TMPDIR/predict.txt" >"$BATS_TEST_TMPDIR/answers"
    mv "$BATS_TEST_TMPDIR/answers" "$BATS_TEST_TMPDIR/predict.txt"
}

@test "predict: the formula is right, an empty sheet is not" {
    bank_lab predict write
    [ "$status" -eq 0 ]
    bank_lab predict check
    [ "$status" -eq 1 ]
    says "0 of 20 right; see notes/03-work-efficient.md"
    answer_predict
    bank_lab predict check
    [ "$status" -eq 0 ]
    says "20 of 20 right"
    sed -i 's/^2 256 .*/2 256 1 1/' "$BATS_TEST_TMPDIR/predict.txt"
    bank_lab predict check
    [ "$status" -eq 1 ]
    says "18 of 20 right"
}

@test "predict: lines that are not the sheet's are refused" {
    for line in "3 256 1 1" "2 256 1" "nonsense" "0 0 0 0" "2 -256 1 1"; do
        echo "$line" >"$BATS_TEST_TMPDIR/predict.txt"
        bank_lab predict check
        [ "$status" -eq 2 ] || { echo "$line: $output"; return 1; }
        says "A line is not one of the sheet's, with two answers: \"$line"
    done
    printf '2 256 1 1\n2 256 1 1\n' >"$BATS_TEST_TMPDIR/predict.txt"
    bank_lab predict check
    [ "$status" -eq 2 ]
}

@test "predict: a sheet that cannot be written" {
    run sh -c 'trap "" XFSZ; ulimit -f 0; exec build/labs/bank-lab predict write "$1" x' - \
        "$BATS_TEST_TMPDIR/sheet"
    [ "$status" -eq 2 ]
    [[ $output == *"$BATS_TEST_TMPDIR/sheet cannot be written: File too large." ]]
}

@test "detective: six letters, by what the code says" {
    bank_lab detective write
    [ "$status" -eq 0 ]
    bank_lab detective check
    [ "$status" -eq 1 ]
    says "0 of 6 right"
    # Conflicts of a warp are ways - 1, in 8 warps: strides 2, 4 and 32 have 2, 4 and 32 ways.
    awk '/^#/ { print; next }
         BEGIN { kernel["248 0"] = "C"; kernel["0 248"] = "D"; kernel["24 0"] = "F"
                 kernel["8 0"] = "A"; kernel["0 8"] = "B"; kernel["0 0"] = "E" }
         { $4 = kernel[$2 " " $3]; print }' "$BATS_TEST_TMPDIR/detective.txt" \
        >"$BATS_TEST_TMPDIR/answers"
    mv "$BATS_TEST_TMPDIR/answers" "$BATS_TEST_TMPDIR/detective.txt"
    bank_lab detective check
    [ "$status" -eq 0 ]
    says "6 of 6 right"
}

@test "a sheet is not overwritten, and wrong command lines are one sentence" {
    bank_lab predict write
    bank_lab predict write
    [ "$status" -eq 2 ]
    says 'File exists; `make predict` writes it once.'
    run build/labs/bank-lab predict guess a b
    [ "$status" -eq 2 ]
    [ "${#lines[@]}" -eq 1 ]
    bank_lab detective check
    [ "$status" -eq 2 ]
    run build/labs/bank-lab predict check /dev/null nowhere.ptx
    [ "$status" -eq 1 ]
    echo "1 512 1 1" >"$BATS_TEST_TMPDIR/predict.txt"
    run build/labs/bank-lab predict check "$BATS_TEST_TMPDIR/predict.txt" nowhere.ptx
    [ "$status" -eq 2 ]
    says "nowhere.ptx cannot be opened"
}
