#!/bin/sh
# Runs the tests that were built in build/asan. Each process that a sanitizer stops leaves a log.
# One log fails the run, even if the test that started the process passed.
cd build/asan || exit

logs=$PWD/log
rm -rf "$logs"
mkdir -p "$logs"

# The program that starts all C tests is copied for each of them, so its memory should be small: no
# more than 16 MiB of what was freed are kept to find that they are used.
ASAN_OPTIONS=log_path=$logs/asan:quarantine_size_mb=16 \
    UBSAN_OPTIONS=print_stacktrace=1:log_path=$logs/ubsan SANITIZED=1 common/build/test.py sanitized
status=$?

for log in "$logs"/*; do
    [ -e "$log" ] || continue
    cat "$log" >&2
    status=1
done
exit $status
