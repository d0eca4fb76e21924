#!/usr/bin/env bats
# library.bats — step 17's scan.h in programs of several processes: tests/ranks/library/calls.c.
# bats file_tags=slow
load ranks

# mpirun itself must not find the emulator, which it may load, too.
calls() { mpirun_with -x LD_LIBRARY_PATH=build/emu -np "$1" build/tests/many-calls "${@:2}"; }

# Starting MPI takes longer than the tests, so several run in one program.
@test "bits of the reference; a graph launched again; two scans at a time; no elements; memory" {
    for p in 1 3 7; do calls $p bits graph together nothing memory; done
}

@test "arguments that differ between ranks, do not exist or are not aligned" { calls 3 refused; }

@test "an error of the caller's own stays with the caller" { calls 2 error_before; }

@test "a rank that does not scan ends the others' waits, until many_reset" {
    calls 3 late late_with_nccl
}

@test "many_reset and many_destroy end without a rank that does not come" {
    run calls 3 gone
    [ "$status" -eq 9 ]
    says_not "rank "
}

@test "more ranks than exchange by peer memory" { calls 33 too_many; }
