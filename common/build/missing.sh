#!/bin/sh
# missing.sh COMPILER GOAL… — prints one line with what these goals of make lack to compile steps or
# tests; COMPILER is "own" to judge labs without nvcc. Prints nothing if nothing is missing.
. common/build/tools.sh

compiler=$1 compile= tests=
shift
for goal; do
    case $goal in
    help | setup | setup-* | doctor | format | clean | uninstall | diff* | alone*) ;;
    test*-architectures) compile=yes ;;
    test* | mutate*) compile=yes tests=yes ;;
    *) compile=yes ;;
    esac
done
[ "$compile" ] || exit 0

list=
need() { list="${list:+$list, }$1"; }

have "${cc%% *}" || need "${cc%% *} (compiles C)"
have "${cxx%% *}" || need "${cxx%% *} (nvcc's host compiler)"
[ "$compiler" = own ] || toolkit >/dev/null ||
    need "nvcc of a CUDA 13 toolkit (compiles the kernels;\
 the first puzzles and the labs can do without: make check-first1 COMPILER=own)"
have_header zstd.h || need "zstd.h (libzstd-dev: the emulator unpacks kernels with it)"
if [ "$tests" ]; then
    have_header criterion/criterion.h || need "criterion.h (libcriterion-dev: the tests use it)"
    have bats || need "bats (runs the tests of scripts)"
    have python3 || need "python3 (runs the tests)"
fi
[ -z "$list" ] || echo "$list"
