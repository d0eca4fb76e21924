#!/usr/bin/env bats
# ranks.bats — step 17 in several processes: the same bits for any number of ranks and with every
# exchange, and those of other steps where these must be the same; every rank ends, with one
# sentence and the same exit code, whatever is wrong; what the report says; scan.h (calls.c); and
# measure.py on the emulator. All are skipped where Open MPI is missing, unless MPI_REQUIRED is set.
# bats file_tags=slow
load ../common

setup() {
    unset MAKEFLAGS MAKELEVEL MFLAGS
    export DEVICE=emu NO_COLOR=1 EMU_PROGRESS=0
    dir=$BATS_TEST_TMPDIR
    [ -x step17 ] && command -v mpirun >/dev/null && return
    [ -n "${MPI_REQUIRED:-}" ] || skip "Open MPI is missing: make setup-mpi installs it"
    echo "step17 or mpirun is missing, and MPI_REQUIRED is set" >&2
    return 1
}

# ranks P OPTIONS…: runs ./step17 with P ranks. Nothing may hang.
ranks() { timeout 300 common/build/run17.sh "$@"; }

# mpirun_with ARGUMENTS…: the same for ranks with options of their own, as mpirun takes them.
mpirun_with() { timeout 300 common/build/mpirun.sh "$@"; }

# wrong HOW P OPTIONS…: runs a step 17 whose last rank does something wrong.
wrong() { WRONG=$1 mpirun_with -np "$2" build/tests/wrong-ranks "${@:3}"; }

# calls P TEST…: runs tests of scan.h. mpirun itself must not find the emulator, which it may load,
# too. Starting MPI takes longer than the tests, so several run in one program.
calls() { mpirun_with -x LD_LIBRARY_PATH=build/emu -np "$1" build/tests/many-calls "${@:2}"; }

# other N OPTIONS…: runs another step, silently.
other() { "./step$1" --reps 0 "${@:2}" >/dev/null; }

# checksum P OPTIONS…: prints the checksum of the result, or what went wrong.
checksum() {
    local said
    said=$(ranks "$@" --csv --reps 1 2>&1) || { echo "failed: $* $said"; return; }
    awk -F, 'NR == 2 { print $(NF - 1) }' <<<"$said"
}

# same_checksums: each line of stdin is a name, a number of ranks and options. Lines of one name
# have to give one checksum. Some run at a time, since starting MPI is mostly waiting.
same_checksums() {
    local got lines
    lines=$(cat)
    export -f ranks checksum
    # shellcheck disable=SC2016 # the inner shell expands them
    got=$(xargs -P 4 -d '\n' -n 1 bash -c 'set -- $0; name=$1; shift; echo "$name $(checksum $*)"' \
        <<<"$lines" | sort -u)
    echo "$got"
    [[ $got != *failed* ]]
    [ "$(wc -l <<<"$got")" -eq "$(awk '{ print $1 }' <<<"$lines" | sort -u | wc -l)" ]
}

# ends STATUS "text": the last `run` had this exit code, and this text is its whole output.
ends() {
    [ "$status" -eq "$1" ] && [ "$output" = "$2" ] && return
    printf 'expected: %s %s\n     got: %s %s\n' "$1" "$2" "$status" "$output"
    return 1
}

# ---- bits ---------------------------------------------------------------------------------------

@test "the bits are the same for each number of ranks, operator and type, and exchange" {
    {
        for scan in "sum f32 --real" "sum f64 --real" "sum i32" "sum i64" \
            "affine f32 --inclusive"; do
            read -r op type more <<<"$scan"
            for p in 1 2 3 4 7; do
                echo "$op-$type $p --op $op --type $type $more --n 100003 --exchange peer"
            done
            echo "$op-$type 3 --op $op --type $type $more --n 100003 --exchange mpi"
        done
        for n in 1 5 4095 4096 4097; do # fewer elements than ranks, and the end of a tile
            for p in 1 2 7; do echo "n$n $p --real --n $n"; done
        done
        for type in f32 i32 i64; do # exact sums
            for p in 2 5; do echo "$type $p --type $type --n 50000 --exchange exscan"; done
            echo "$type 1 --type $type --n 50000"
        done
        # More than 1024 tiles: nodes of two tiles.
        for p in 1 3; do echo "large $p --real --n 2^22+5"; done
        echo "large 2 --real --n 2^22+5 --exchange mpi"
        for p in 1 4; do echo "affine $p --op affine --n 2^22+5"; done
    } | same_checksums
}

@test "with exscan sums of floats have the bits of P" {
    [ "$(checksum 1 --real --n 50000)" != "$(checksum 3 --real --n 50000 --exchange exscan)" ]
    run -0 ranks 2 --real --n 50000 --exchange exscan
    says "of bits that depend on the number of ranks"
    run -0 ranks 2 --op affine --n 50000 --exchange exscan
    says "right"
}

@test "which exchange is possible" {
    calls 1 choices
    run -2 ranks 2 --exchange nccl --n 1000
    [[ $output == "step17: --exchange nccl"*"; choose peer or mpi." ]]
    run -0 ranks 32 --n 100003 --reps 1
    says "exchange    peer: "
    run -0 ranks 33 --n 100003 --reps 1
    says "exchange    mpi: "
}

# ---- files --------------------------------------------------------------------------------------

@test "the output is that of other steps, and the same file for any number of ranks" {
    for type in i32 i64 f32; do
        other 16 --op sum --type $type --n 100000 --output "$dir/one.npy"
        for p in 1 3; do
            ranks $p --reps 0 --type $type --n 100000 --output "$dir/parts.npy" >/dev/null
            cmp "$dir/one.npy" "$dir/parts.npy"
        done
    done
    other 12 --n 3 --output "$dir/one.npy"
    ranks 7 --reps 0 --n 3 --output "$dir/few.npy" >/dev/null
    cmp "$dir/one.npy" "$dir/few.npy"
}

@test "a file is read by parts, with its type or another" {
    other 16 --op sum --type i64 --n 50001 --output "$dir/in.npy"
    other 16 --op sum --type i64 --input "$dir/in.npy" --inclusive --output "$dir/one.npy"
    run -0 ranks 3 --reps 0 --input "$dir/in.npy" --inclusive --output "$dir/parts.npy"
    says "input       50 001 64-bit integers, from $dir/in.npy"
    cmp "$dir/one.npy" "$dir/parts.npy"
    ranks 2 --reps 0 --input "$dir/in.npy" --type f64 --output "$dir/parts.npy" >/dev/null
    other 16 --op sum --type f64 --input "$dir/in.npy" --output "$dir/one.npy"
    cmp "$dir/one.npy" "$dir/parts.npy"
    other 16 --op max --inclusive --type f32 --n 50001 --output "$dir/b.npy"
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

@test "scan.h: the bits of one rank, faults, waits that end, and calls after them" {
    for p in 1 3 7; do calls $p bits graph together; done
    calls 3 refused late late_with_nccl
    calls 33 too_many # to exchange by peer memory
    run -9 calls 3 gone
    says_not "rank "
}

# ---- what is refused ----------------------------------------------------------------------------

# all_refused: standard input has rows of a number of ranks, options and a sentence, which is the
# whole output of these ranks. Some run at a time, because mpirun takes a second to end.
all_refused() {
    local p options sentence
    while IFS='|' read -r p options sentence; do
        while [ "$(jobs -r | wc -l)" -ge 5 ]; do wait -n || true; done
        {
            # shellcheck disable=SC2086 # options are words
            run ranks $p ${options//DIR/"$dir"} </dev/null
            ends 2 "step17: ${sentence//DIR/"$dir"}" >>"$dir/refused" || touch "$dir/wrong"
        } 3>&- &
    done < <(sed ':a; /|$/ { N; s/\n *//; ba; }')
    wait
    cat "$dir/refused"
    [ ! -e "$dir/wrong" ]
}

@test "help and version are printed once" {
    run -0 ranks 3 --help
    [ "$(grep -c "^Usage: ./step17" <<<"$output")" -eq 1 ]
    says "  --exchange HOW "
    says_not "--trace"
    run -0 ranks 3 --version
    [ "$(wc -l <<<"$output")" -eq 1 ]
}

# The kinds of files are those of tests/unit/harness/test_input.c.
@test "what is refused is said once" {
    other 16 --op sum --type f32 --n 9000 --output "$dir/a.npy"
    other 16 --op sum --type f32 --n 9001 --output "$dir/b.npy"
    other 15 --type u32 --n 9000 --output "$dir/u.npy"
    head -c -4 "$dir/a.npy" >"$dir/short.npy"
    mkfifo "$dir/pipe.npy"
    all_refused <<'END'
3|--nn|"--nn" is no option of this step; --help lists them.
2|--n 0|--n 0 leaves nothing to scan; n has to be at least 1.
2|--n 2^63|4611686018427387904 elements are more than any memory holds.
2|--op max|--op: this operator is unknown; choose sum or affine.
2|--type u32|--type: this type is unknown; choose f32, f64, i32 or i64.
2|--exchange ring|--exchange: this exchange is unknown; choose mpi, nccl, peer or exscan.
2|--offset 1|--offset: step 17 (many-gpus) has no use for it; leave it out.
2|--real --type i32|--real: this scan takes 32-bit integers.
2|--real --op affine|--real: the random numbers of affine are real already; leave it out.
2|--op affine --type f64|--op affine has no elements of double; choose another --type.
2|--wait -1|--wait: this is no number of seconds; give one, or 0 to wait without a limit.
2|--wait 0x5|--wait: this is no number of seconds; give one, or 0 to wait without a limit.
2|--second b.npy|--second has the elements b of affine; add --op affine and --input a.npy.
2|--op affine --input a.npy|--op affine takes two files, --input a.npy and --second b.npy.
3|--input DIR/short.npy|
    DIR/short.npy is truncated: its header promises 9000 elements, but the file has 8999.
2|--input DIR|DIR is no regular file, and cannot be read by parts; copy it into one.
2|--input -|stdin cannot be read by parts; write the numbers into a .npy file.
2|--input DIR/u.npy|step 17 has no elements of uint32; choose another --type.
2|--op affine --input DIR/a.npy --second DIR/b.npy|
    DIR/b.npy has 9001 elements, and --input 9000; they have to agree.
2|--output -|stdout cannot be written by parts; give --output the name of a .npy file.
2|--output x.txt|x.txt cannot be written by parts; give --output the name of a .npy file.
2|--output DIR/pipe.npy|
    DIR/pipe.npy cannot be written by parts; give --output the name of a .npy file.
2|--output DIR/none/x.npy|cannot write DIR/none/x.npy: No such file or directory.
END
}

@test "one rank needs no mpirun" {
    run -0 ./step17 --n 5000
    says "ranks       1 on 1 machine, with 1 emulated GPU"
    run -0 env -u PATH ./step17 --n 5000 # no daemon is started
    run ./step17 --n 0
    ends 2 "step17: --n 0 leaves nothing to scan; n has to be at least 1."
}

@test "ranks that emulate different GPUs" {
    local mixed=(-np 1 -x EMU_GPU=h100 ./step17 --n 9000)
    run -0 mpirun_with "${mixed[@]}" : -np 1 -x EMU_GPU=t4 ./step17 --n 9000
    says "exchange    mpi: "
    says "ranks       2 on 1 machine, with 2 emulated GPUs, not all like rank 0's"
    run mpirun_with "${mixed[@]}" --exchange peer : -np 1 -x EMU_GPU=t4 ./step17 --n 9000 \
        --exchange peer
    ends 2 "step17: --exchange peer needs emulated GPUs of one model; choose mpi, or give all \
ranks the same EMU_GPU."
}

@test "ranks with different options" {
    run mpirun_with -np 1 ./step17 --n 100 : -np 2 ./step17 --n 200
    ends 2 "step17: rank 1 of 3: operator, exchange, n or the time to wait differ from those of \
rank 0; they must be the same on all ranks."
    run mpirun_with -np 1 ./step17 : -np 1 ./step17 --bogus
    ends 2 "step17: rank 1 of 2: \"--bogus\" is no option of this step; --help lists them."
}

@test "too many elements are refused before memory is allocated" {
    run -2 ranks 2 --n 2^45
    [[ $output == "step17: "*"17592186044416 elements need "*" of device memory, but "* ]]
    run -2 ranks 2 --n 2^34 --exchange mpi
    [[ $output == "step17: "*" need"*" memory"* ]]
    [ "$(wc -l <<<"$output")" -eq 1 ]
}

# Each rank opens the file in its own folder.
@test "a file that one rank alone cannot read, or that has another length there" {
    mkdir "$dir/0" "$dir/1"
    other 16 --op sum --type i32 --n 9000 --output "$dir/0/x.npy"
    local of_0=(-np 1 -wdir "$dir/0" "$PWD/step17" --type i32 --input x.npy)
    local of_1=(-np 1 -wdir "$dir/1" "${of_0[@]:4}")
    run mpirun_with "${of_0[@]}" : "${of_1[@]}"
    ends 2 "step17: rank 1 of 2: cannot open x.npy: No such file or directory."
    other 16 --op sum --type i32 --n 8000 --output "$dir/1/x.npy"
    run mpirun_with "${of_0[@]}" : "${of_1[@]}"
    ends 2 "step17: rank 1 of 2: operator, exchange, n or the time to wait differ from those of \
rank 0; they must be the same on all ranks."
}

# ---- a rank that fails, dies or is wrong --------------------------------------------------------

@test "wrong results are found in the rank that has them" {
    run -0 wrong "" 3 --n 20000
    run -1 wrong element 3 --n 20000 --output "$dir/x.npy"
    says "verified    WRONG"
    says "1 of 20 000 elements"
    says "       12298  "
    [ ! -e "$dir/x.npy" ] # a wrong result is not written
    run -1 wrong before 3 --n 20000 --exchange mpi
    says "rank 2 of 3: the output was written 1 element before its start"
    run -1 wrong input 2 --n 20000
    says "rank 1 of 2: the input was modified, first at element 20"
    run -1 wrong timed 2 --n 20000 --json
    says '"cause": "timed run'
    run -0 wrong element 2 --n 20000 --verify none
    says "verified    not at all (--verify none)"
}

@test "a rank that fails or is killed ends all ranks" {
    for exchange in mpi peer; do
        run wrong fail 3 --n 20000 --exchange $exchange
        ends 3 "wrong-ranks: rank 2 of 3: it fails on purpose."
        run wrong die 3 --n 20000 --exchange $exchange --output "$dir/x.npy"
        ends 137 "mpirun.sh: a rank was ended by signal KILL, so mpirun ended all ranks."
        [ -z "$(ls "$dir")" ]
    done
}

# Not even MPI returns to the other ranks then.
# On a busy machine two ranks may say why they end before mpirun has ended the second one, and may
# have come to different places. late: each of them waited for others.
late() { [ "$output" ] && [ -z "$(grep -v "^wrong-ranks: not all .* within 1 s" <<<"$output")" ]; }

@test "a rank that is stopped, and does not go on, ends all ranks" {
    for exchange in mpi exscan nccl; do
        run -3 wrong stop 3 --n 20000 --exchange $exchange --wait 1
        late
    done
    run wrong stop 3 --n 20000 --exchange peer --wait 1
    output=$(sort -u <<<"$output")
    ends 3 "wrong-ranks: the sums of rank 2 did not arrive within 1 second; let the ranks wait \
longer, or call many_reset on all of them."
    run -3 wrong stop-first 3 --n 20000 --exchange mpi --wait 1
    late
}

@test "a rank that is late by less than --wait" {
    for exchange in mpi exscan peer nccl; do
        run -3 wrong late 3 --n 20000 --reps 0 --exchange $exchange --wait 1
        run -0 wrong late 3 --n 20000 --reps 0 --exchange $exchange --wait 0
    done
}

@test "a program that cannot be started" {
    run mpirun_with -np 2 ./none
    ends 132 "mpirun.sh: a rank could not be started, or was ended by signal ILL, so mpirun ended \
all ranks."
    run mpirun_with -np 2 no-such-program
    [[ $output == "mpirun.sh: a rank could not be started, or "* ]]
}

# ---- the report ---------------------------------------------------------------------------------

@test "the report" {
    run -0 ranks 3 --n 30000 --reps 2
    says "Step 17 · A scan between ranks"
    says "ranks       3 on 1 machine, with 3 emulated GPUs"
    says "parts       8192 to 12 288 elements per rank; the tree has 8 nodes of at most 4096"
    says "exchange    peer: "
    says "launch      reduce_tiles: 2 blocks of 256 threads"
    says "input       30 000 floats, random integers, seed 1"
    says "sum, exclusive"
    says "verified    right: every element, exactly, in each timed run, too"
    says "the same for any number of ranks"
    says "traffic     351.6 KiB read and written, 1.50 times the least possible"
    run ranks 2 --op affine --n 30000 --exchange mpi --counters
    says "exchange    mpi: "
    says "pairs of floats, random reals, seed 1"
    says "affine (h = a h + b), exclusive"
    says "worst error "
    says "1.67 times the least possible"
    says "steps/17-many-gpus/part.cuh"
    run ranks 2 --n 1 --reps 0 --op affine
    says "input       1 pair of floats, random"
    run wrong first 1 --n 1
    says "1 of 1 element"
}

@test "JSON and CSV have the same keys" {
    need python3
    ranks 2 --n 30000 --json >"$dir/json"
    ranks 2 --n 30000 --csv >"$dir/csv"
    python3 - "$dir/json" "$dir/csv" <<'END'
import csv, json, sys
[record] = [json.load(open(sys.argv[1]))]
[row] = csv.DictReader(open(sys.argv[2]))
assert list(record) == list(row), (list(record), list(row))
assert record["ranks"] == 2 and record["right"] is True and record["checked"] == 30000
assert record["checksum"] == row["checksum"] and len(record["checksum"]) == 16
END
}

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
