# ranks.bash — what the tests of step 17's ranks share. They are skipped where Open MPI is missing,
# unless MPI_REQUIRED is set.
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

# checksum P OPTIONS…: prints the checksum of the result, or what went wrong.
checksum() {
    local said
    said=$(ranks "$@" --csv --reps 1 2>&1) || { echo "failed: $* $said"; return; }
    awk -F, 'NR == 2 { print $(NF - 1) }' <<<"$said"
}

# same_checksums LINES: each line is a name, a number of ranks and options. Lines of one name have
# to give one checksum. Some run at a time, since starting MPI is mostly waiting.
same_checksums() {
    local got names
    export -f ranks checksum
    got=$(xargs -P 4 -d '\n' -n 1 bash -c 'set -- $0; name=$1; shift; echo "$name $(checksum $*)"' \
        <<<"$1" | sort | uniq -c)
    names=$(awk 'NF { print $1 }' <<<"$1" | sort -u | wc -l)
    if [[ $got == *failed* ]] || [ "$(wc -l <<<"$got")" -ne "$names" ]; then
        echo "$got"
        return 1
    fi
}

# ends STATUS "text": the last `run` had this exit code, and this text is its whole output.
ends() {
    [ "$status" -eq "$1" ] && [ "$output" = "$2" ] && return
    printf 'expected: %s %s\n     got: %s %s\n' "$1" "$2" "$status" "$output"
    return 1
}
