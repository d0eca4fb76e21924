#!/bin/sh
# make fuzz: runs each reader of files (tests/measure/fuzz) on inputs that libFuzzer, a part of
# clang, makes up. AddressSanitizer and UBSan check the runs.
#
#   FUZZ_SECONDS   for each reader (default 60)
#   FUZZERS        which of them (default: all)
#
# An input that breaks a reader is kept in build/fuzz as NAME-crash-…, NAME-timeout-… or NAME-oom-….
# Add it to tests/measure/fuzz/seeds.py when the reader is fixed. Inputs that reach new code are
# collected in build/fuzz/found.
set -eu
seconds=${FUZZ_SECONDS:-60}
case $seconds in
*[!0-9]* | '' | 0) echo "FUZZ_SECONDS=$seconds is not a number of seconds above 0." >&2 && exit 2 ;;
esac

links() {
    echo 'int LLVMFuzzerTestOneInput(void) { return 0; }' |
        clang -w -x c -fsanitize=fuzzer - -o "$1"
}
probe=$(mktemp) && trap 'rm -f "$probe"' EXIT
links "$probe" >/dev/null 2>&1 || {
    echo "make fuzz needs clang with libFuzzer, and there is none. On Debian and Ubuntu:" \
        "apt-get install clang libclang-rt-dev" >&2
    exit 1
}

all=$(sed -n 's/^int fuzz_\([a-z]*\)(.*/\1/p' tests/measure/fuzz/fuzz.h)
tree=build/fuzz
mkdir -p $tree
for name in Makefile README.md LICENSE common notes profiles steps tests; do
    ln -sfn "../../$name" "$tree/$name"
done
sanitize=-fsanitize=address,undefined
CUDA_HOME=$(realpath "$(common/build/toolkit.sh)") ${MAKE:-make} --no-print-directory -C $tree \
    CC=clang CFLAGS="-w -O1 -g $sanitize,fuzzer-no-link -fno-sanitize-recover=all" \
    $(for name in ${FUZZERS:-$all}; do
        echo "build/tests/measure/fuzz/run-$name build/tests/measure/fuzz/corpus/$name"
    done)

# Names in the sources of the PTX parser and decoder are words of PTX, with a dot and without.
words() {
    grep -oh '"[^" ]*"' common/tools/emu/ptx/*.[ch] common/tools/emu/ops/*.c |
        tr -d '"' | tr . '\n' | sed -n 's/^%*[a-z][a-z0-9_:]*$/"&"\n".&"/p' | LC_ALL=C sort -u
}

status=0
for name in ${FUZZERS:-$all}; do
    found=$tree/found/$name
    dictionary=tests/measure/fuzz/$name.dict
    [ "$name" != ptx ] || { dictionary=$tree/ptx.dict && words >"$dictionary"; }
    mkdir -p "$found"
    echo "Fuzzing $name for $seconds s"
    $tree/build/tests/measure/fuzz/run-"$name" -max_total_time="$seconds" -max_len=8192 \
        -timeout=10 \
        -rss_limit_mb=2048 -print_final_stats=1 -artifact_prefix="$tree/$name-" \
        $([ ! -e "$dictionary" ] || echo "-dict=$dictionary") \
        "$found" "$tree/build/tests/measure/fuzz/corpus/$name" >"$tree/$name.log" 2>&1 || {
        echo "$name: broken; $tree/$name.log ends:" >&2
        tail -n 40 "$tree/$name.log" >&2
        status=1
        continue
    }
    grep ' cov: ' "$tree/$name.log" | tail -n 1
    grep '^Done' "$tree/$name.log"
done
exit $status
