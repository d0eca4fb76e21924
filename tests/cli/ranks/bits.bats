#!/usr/bin/env bats
# bits.bats — step 17 gives the same bits for any number of ranks and with every exchange, and those
# of other steps where these must be the same; its scan.h in programs of several processes
# (calls.c); and measure.py, which measures it, with few elements on the emulator.
# bats file_tags=slow
load ranks

@test "the bits are the same for 1, 2, 3, 4 and 7 ranks, each operator and type, and exchange" {
    local lines= scan
    for scan in "sum f32 --real" "sum f64 --real" "sum i32" "sum i64" "affine f32 --inclusive"; do
        read -r op type more <<<"$scan"
        for p in 1 2 3 4 7; do
            lines+="$op-$type $p --op $op --type $type $more --n 100003 --exchange peer"$'\n'
        done
        for p in 1 3 7; do
            lines+="$op-$type $p --op $op --type $type $more --n 100003 --exchange mpi"$'\n'
        done
    done
    same_checksums "${lines%$'\n'}"
}

@test "the bits are the same with fewer elements than ranks, and at the end of a tile" {
    local lines=
    for n in 1 5 4095 4096 4097; do
        for p in 1 2 7; do lines+="n$n $p --real --n $n"$'\n'; done
        lines+="n$n 3 --real --n $n --exchange mpi"$'\n'
    done
    same_checksums "${lines%$'\n'}"
}

# More than 1024 tiles: nodes of two tiles.
@test "the bits are the same where nodes have several tiles" {
    same_checksums "large 1 --real --n 2^22+5
large 2 --real --n 2^22+5 --exchange mpi
large 3 --real --n 2^22+5
large 7 --real --n 2^22+5
affine 1 --op affine --n 2^22+5
affine 4 --op affine --n 2^22+5"
}

@test "with exscan integers have the same bits, and sums of floats have those of P" {
    same_checksums "i32 1 --type i32 --n 50000
i32 2 --type i32 --n 50000 --exchange exscan
i32 3 --type i32 --n 50000 --exchange exscan
i64 4 --type i64 --n 50000 --exchange exscan
i64 1 --type i64 --n 50000
exact 5 --type f32 --n 50000 --exchange exscan
exact 1 --type f32 --n 50000"
    [ "$(checksum 1 --real --n 50000)" != "$(checksum 3 --real --n 50000 --exchange exscan)" ]
    run -0 ranks 2 --real --n 50000 --exchange exscan
    says "of bits that depend on the number of ranks"
    run -0 ranks 2 --op affine --n 50000 --exchange exscan
    says "right"
}

@test "which exchange is possible" { calls 1 choices; }

@test "exchange nccl is refused without a GPU" {
    run -2 ranks 2 --exchange nccl --n 1000
    [[ $output == "step17: --exchange nccl"*"; choose peer or mpi." ]]
}

# ---- files --------------------------------------------------------------------------------------

@test "the output is that of other steps, and the same file for any number of ranks" {
    for type in i32 i64 f32; do
        ./step16 --reps 0 --op sum --type $type --n 100000 --output "$dir/one.npy" >/dev/null
        for p in 1 3; do
            ranks $p --reps 0 --type $type --n 100000 --output "$dir/parts.npy" >/dev/null
            cmp "$dir/one.npy" "$dir/parts.npy"
        done
    done
    ./step12 --reps 0 --n 100000 --output "$dir/one.npy" >/dev/null
    cmp "$dir/one.npy" "$dir/parts.npy"
    ranks 7 --reps 0 --n 3 --output "$dir/few.npy" >/dev/null
    ./step12 --reps 0 --n 3 --output "$dir/one.npy" >/dev/null
    cmp "$dir/one.npy" "$dir/few.npy"
}

@test "a file is read by parts, with its type or another" {
    ./step16 --reps 0 --op sum --type i64 --n 50001 --output "$dir/in.npy" >/dev/null
    ./step16 --reps 0 --op sum --type i64 --input "$dir/in.npy" --inclusive \
        --output "$dir/one.npy" >/dev/null
    run -0 ranks 3 --reps 0 --input "$dir/in.npy" --inclusive --output "$dir/parts.npy"
    says "input       50 001 64-bit integers, from $dir/in.npy"
    cmp "$dir/one.npy" "$dir/parts.npy"
    ranks 2 --reps 0 --input "$dir/in.npy" --type f64 --output "$dir/parts.npy" >/dev/null
    ./step16 --reps 0 --op sum --type f64 --input "$dir/in.npy" --output "$dir/one.npy" >/dev/null
    cmp "$dir/one.npy" "$dir/parts.npy"

    ./step16 --reps 0 --op max --inclusive --type f32 --n 50001 --output "$dir/b.npy" >/dev/null
    run -2 ranks 3 --op affine --type f32 --input "$dir/in.npy" --second "$dir/b.npy"
    says "results may leave the range of floats"
}

@test "no file is half written" {
    ranks 2 --reps 0 --type i32 --n 20000 --output "$dir/x.npy" >/dev/null
    cp "$dir/x.npy" "$dir/before.npy"
    # The second rank may write less than its part needs.
    run mpirun_with -np 1 ./step17 --n 2000000 --reps 0 --output "$dir/x.npy" : \
        -np 1 bash -c "ulimit -f 5500; exec ./step17 --n 2000000 --reps 0 --output $dir/x.npy"
    ends 2 "step17: rank 1 of 2: cannot write $dir/x.npy: File too large."
    cmp "$dir/x.npy" "$dir/before.npy"
    [ "$(ls "$dir")" = $'before.npy\nx.npy' ]
}

@test "each rank writes a trace of its own" {
    EMU_TRACE=$dir/trace run -0 ranks 2 --n 9000 --reps 0
    [ "$(ls "$dir")" = $'trace.0\ntrace.1' ]
    grep -q reduce_tiles "$dir/trace.0"
    grep -q reduce_tiles "$dir/trace.1"
}

# Memory without guards, and ranks without elements.
@test "the checkers find nothing in several processes" {
    for arguments in "--n 9000" "--n 5" "--op affine --n 30000 --inclusive --exchange mpi" \
        "--type f64 --n 30000 --exchange exscan"; do
        # shellcheck disable=SC2086
        run -0 mpirun_with -np 3 build/emu/emu --tool all ./step17 --reps 1 $arguments
        # mpirun may put what two ranks print at once into one line.
        [ "$(grep -o "ERROR SUMMARY: 0 errors" <<<"$output" | wc -l)" -eq 3 ]
        says_not "needs a GPU" # NCCL, which is not called
    done
}

# ---- scan.h --------------------------------------------------------------------------------------

# mpirun itself must not find the emulator, which it may load, too.
calls() { mpirun_with -x LD_LIBRARY_PATH=build/emu -np "$1" build/tests/many-calls "${@:2}"; }

# Starting MPI takes longer than the tests, so several run in one program.
@test "bits of the reference; a graph launched again; two scans at a time; no elements" {
    for p in 1 3 7; do calls $p bits graph together nothing; done
}

@test "arguments that differ between ranks, do not exist or are not aligned" { calls 3 refused; }

@test "an error of the caller's own stays with the caller" { calls 2 error_before; }

@test "a rank that does not scan ends the others' waits, until many_reset" {
    calls 3 late late_with_nccl
}

@test "many_reset and many_destroy end without a rank that does not come" {
    run -9 calls 3 gone
    says_not "rank "
}

@test "more ranks than exchange by peer memory" { calls 33 too_many; }

# ---- measure.py -------------------------------------------------------------------------------

@test "measure.py records checksums that are the same for 1 and 2 ranks, and verified results" {
    need python3
    DEVICE=emu timeout 300 profiles/measure/measure.py --to "$dir" ranks >/dev/null 2>&1
    [ "$(grep -c ',bits,.*,[0-9]\{1,\},[0-9]\{1,\}$' "$dir/ranks.csv")" -eq 8 ]
    [ "$(grep ',bits,' "$dir/ranks.csv" | sort -u | wc -l)" -eq 4 ]
    [ "$(grep -c '^17,many-gpus,' "$dir/ranks_verified.csv")" -eq 7 ]
    [ "$(grep -c ',full,true,' "$dir/ranks_verified.csv")" -eq 7 ]
    [ "$(grep -c '^step,\|^experiment,' "$dir/ranks.csv" "$dir/ranks_verified.csv" |
        cut -d: -f2 | sort -u)" = 1 ]
}
