#!/usr/bin/env bats
# faults.bats — every rank ends, with one sentence and the same exit code, whatever is wrong; and
# what the report says.
# bats file_tags=slow
load ranks

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
    ./step16 --reps 0 --op sum --type f32 --n 9000 --output "$dir/a.npy" >/dev/null
    ./step16 --reps 0 --op sum --type f32 --n 9001 --output "$dir/b.npy" >/dev/null
    ./step15 --reps 0 --type u32 --n 9000 --output "$dir/u.npy" >/dev/null
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

@test "exchange peer takes 32 ranks, and more ranks another one" {
    run -0 ranks 32 --n 100003 --reps 1
    says "exchange    peer: "
    run -0 ranks 33 --n 100003 --reps 1
    says "exchange    mpi: "
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
    ./step16 --reps 0 --op sum --type i32 --n 9000 --output "$dir/0/x.npy" >/dev/null
    local here=$PWD
    run mpirun_with -np 1 -wdir "$dir/0" "$here/step17" --type i32 --input x.npy : \
        -np 1 -wdir "$dir/1" "$here/step17" --type i32 --input x.npy
    ends 2 "step17: rank 1 of 2: cannot open x.npy: No such file or directory."
    ./step16 --reps 0 --op sum --type i32 --n 8000 --output "$dir/1/x.npy" >/dev/null
    run mpirun_with -np 1 -wdir "$dir/0" "$here/step17" --type i32 --input x.npy : \
        -np 1 -wdir "$dir/1" "$here/step17" --type i32 --input x.npy
    ends 2 "step17: rank 1 of 2: operator, exchange, n or the time to wait differ from those of \
rank 0; they must be the same on all ranks."
}

# ---- a rank that fails, dies or is wrong --------------------------------------------------------

# wrong HOW P OPTIONS…: runs a step 17 whose last rank does something wrong.
wrong() {
    local how=$1 p=$2
    shift 2
    WRONG=$how mpirun_with -np "$p" build/tests/wrong-ranks "$@"
}

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

@test "a rank that fails ends all ranks" {
    for exchange in mpi peer; do
        run wrong fail 3 --n 20000 --exchange $exchange
        ends 3 "wrong-ranks: rank 2 of 3: it fails on purpose."
    done
}

@test "a rank that is killed ends all ranks" {
    for exchange in mpi peer; do
        run wrong die 3 --n 20000 --exchange $exchange --output "$dir/x.npy"
        ends 137 "mpirun.sh: a rank was ended by signal KILL, so mpirun ended all ranks."
        [ -z "$(ls "$dir")" ]
    done
}

# Not even MPI returns to the other ranks then.
@test "a rank that is stopped, and does not go on, ends all ranks" {
    for exchange in mpi exscan nccl; do
        run -3 wrong stop 3 --n 20000 --exchange $exchange --wait 1
        [[ $output == "wrong-ranks: not all "*" within 1 second"* ]]
        [ "$(wc -l <<<"$output")" -eq 1 ]
    done
    run wrong stop 3 --n 20000 --exchange peer --wait 1
    ends 3 "wrong-ranks: the sums of rank 2 did not arrive within 1 second; let the ranks wait \
longer, or call many_reset on all of them."
    run -3 wrong stop-first 3 --n 20000 --exchange mpi --wait 1
    [ "$(wc -l <<<"$output")" -eq 1 ]
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
