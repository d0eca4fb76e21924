#!/usr/bin/env bats
# banks.bats — the labs about banks: two with sheets to fill in (predict the counter, and the bank
# detective), and one with a kernel whose conflicts are to be zero.
load common

# bank_lab -STATUS LAB write|check: of the sheet, which has to end with this exit code.
bank_lab() {
    run "$1" build/labs/bank-lab "$2" "$3" "$BATS_TEST_TMPDIR/$2.txt" build/labs/banks.ptx
}

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
    bank_lab -0 predict write
    bank_lab -1 predict check
    says "0 of 20 right; see notes/03-work-efficient.md"
    answer_predict
    bank_lab -0 predict check
    says "20 of 20 right"
    sed -i 's/^2 256 .*/2 256 1 1/' "$BATS_TEST_TMPDIR/predict.txt"
    bank_lab -1 predict check
    says "18 of 20 right"
}

@test "predict: lines that are not the sheet's are refused" {
    for line in "3 256 1 1" "2 256 1" "nonsense" "0 0 0 0" "2 -256 1 1"; do
        echo "$line" >"$BATS_TEST_TMPDIR/predict.txt"
        bank_lab -2 predict check
        says "A line is not one of the sheet's, with two answers: \"$line"
    done
    printf '2 256 1 1\n2 256 1 1\n' >"$BATS_TEST_TMPDIR/predict.txt"
    bank_lab -2 predict check
}

@test "detective: six letters, by what the code says" {
    bank_lab -0 detective write
    bank_lab -1 detective check
    says "0 of 6 right"
    # Conflicts of a warp are ways - 1, in 8 warps: strides 2, 4 and 32 have 2, 4 and 32 ways.
    awk '/^#/ { print; next }
         BEGIN { kernel["248 0"] = "C"; kernel["0 248"] = "D"; kernel["24 0"] = "F"
                 kernel["8 0"] = "A"; kernel["0 8"] = "B"; kernel["0 0"] = "E" }
         { $4 = kernel[$2 " " $3]; print }' "$BATS_TEST_TMPDIR/detective.txt" \
        >"$BATS_TEST_TMPDIR/answers"
    mv "$BATS_TEST_TMPDIR/answers" "$BATS_TEST_TMPDIR/detective.txt"
    bank_lab -0 detective check
    says "6 of 6 right"
}

@test "a sheet is not overwritten, and wrong command lines are one sentence" {
    bank_lab -0 predict write
    bank_lab -2 predict write
    says 'File exists; `make predict` writes it once.'
    run -2 build/labs/bank-lab predict guess a b
    [ "${#lines[@]}" -eq 1 ]
    bank_lab -2 detective check
    run -1 build/labs/bank-lab predict check /dev/null nowhere.ptx
    echo "1 512 1 1" >"$BATS_TEST_TMPDIR/predict.txt"
    run -2 build/labs/bank-lab predict check "$BATS_TEST_TMPDIR/predict.txt" nowhere.ptx
    says "nowhere.ptx cannot be opened"
}

# swizzle -STATUS EXPRESSION [SED]: judges the lab's kernel with this place of a chunk, and SED.
swizzle() {
    local source=$BATS_TEST_TMPDIR/swizzle.cu ptx=$BATS_TEST_TMPDIR/swizzle.ptx
    sed -e "s|return chunk;|return $2;|" -e "${3:-}" common/tools/labs/banks/swizzle.cu >"$source"
    build/labs/check-lab --nvcc "$(common/build/toolkit.sh)/bin/nvcc" --compile "$source" "$ptx"
    run "$1" build/labs/bank-lab swizzle check "$source" "$ptx"
}

# bats test_tags=slow
@test "swizzle: what has no conflicts is right" {
    local place
    for place in "chunk ^ row / 2 % 4" "(chunk + row / 2) % 4"; do
        swizzle -0 "$place"
        says "stores      256 wavefronts,     0 conflicts: right
ldmatrix    256 wavefronts,     0 conflicts: right
result    right
"
        says_not "See notes/more/ldmatrix.md"
    done
}

# bats test_tags=slow
@test "swizzle: the kernel as it is, and the swizzle of other rows, have conflicts" {
    swizzle -1 chunk
    says "ldmatrix   1024 wavefronts,   768 conflicts: 128 bytes take 4.00 wavefronts"
    says "See notes/more/ldmatrix.md for which rows share banks."
    swizzle -1 "chunk ^ row % 4"
    says "ldmatrix    512 wavefronts,   256 conflicts: 128 bytes take 2.00 wavefronts"
    says "result    right"
}

# bats test_tags=slow
@test "swizzle: places that are shared, or are not there" {
    swizzle -1 0
    says "result    row 0, column 0 is "
    says "do two chunks of a row get one place?"
    swizzle -1 "chunk ^ row % 8"
    says "The kernel cannot be run: a store of 16 bytes at shared address "
    says "is out of bounds (4096 bytes of shared memory a block)"
}

# bats test_tags=slow
@test "swizzle: conflicts in stores count, and other accesses are noticed" {
    local load='load_matrices(of_b, chunk_of(tile_b, lane, chunk));'
    local columns='s|i / CHUNKS, chunk = i % CHUNKS,|i % SIDE, chunk = i / SIDE,|'
    swizzle -0 "chunk ^ row / 2 % 4" "$columns"
    says "stores      256 wavefronts,     0 conflicts: right"
    swizzle -1 "chunk" "$columns"
    says "stores     1024 wavefronts,   768 conflicts: 128 bytes take 4.00 wavefronts"
    swizzle -1 "chunk ^ row / 2 % 4" "s|$load|$load $load|"
    says "ldmatrix    384 wavefronts,     0 conflicts: they are not those of the lab's kernel"
    says "result    right"
    swizzle -1 "chunk ^ row / 2 % 4" "s|void product|void other|"
    says "There is no kernel called product"
}
