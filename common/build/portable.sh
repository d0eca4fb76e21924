#!/bin/sh
# portable.sh FILE…: does each of these programs and libraries run wherever glibc is 2.34 or later?
# Prints what a file needs besides, and exits with 1. `make dist` and `make release` run it on what
# they pack. libgcc_s is there wherever glibc is, which loads it itself.
newest=2.34
allowed='^(lib(c|m|dl|pthread|rt|gcc_s|cudart)|ld-linux-x86-64)\.so\.[0-9]+$'

complain() {
    echo "portable: $*" >&2
    status=1
}

status=0
for file; do
    symbols=$(objdump -T "$file") || exit
    for version in $(echo "$symbols" | grep -o 'GLIBC_[0-9.]*' | sort -uV); do
        latest=$(printf '%s\nGLIBC_%s\n' "$version" $newest | sort -V | tail -n 1)
        [ "$latest" = GLIBC_$newest ] ||
            complain "$file needs symbols of $version, and the tarball is for glibc $newest:" \
                "build it on an older system."
    done
    for library in $(objdump -p "$file" | sed -n 's/^ *NEEDED *//p' | grep -Ev "$allowed"); do
        complain "$file needs $library, which is no part of glibc or of the emulator:" \
            "link it statically."
    done
done
exit $status
