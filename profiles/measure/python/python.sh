#!/bin/sh
# python.sh — times the Python package beside PyTorch and CuPy in one process, on a GPU.
#
#   profiles/measure/python/python.sh [DIRECTORY]      default: build/profiles
#
# Writes DIRECTORY/python.csv, with `#` lines that name GPU, driver, PyTorch, CuPy, toolkit, date.
# Uses build/library/libupsweep.so (make library) and the python3 in PATH, which needs PyTorch and
# NumPy; without CuPy, its rows are left out. ROWS="cumsum sort host" chooses operations.
set -u
cd "$(dirname "$0")/../../.." || exit 2
. profiles/measure/recording.sh
out=${1:-build/profiles}
mkdir -p "$out" || exit 2
export UPSWEEP_LIBRARY="${UPSWEEP_LIBRARY:-$PWD/build/library/libupsweep.so}" UPSWEEP_DEVICE=cuda
export PYTHONPATH="$PWD/common/python${PYTHONPATH:+:$PYTHONPATH}"
compare=profiles/measure/python/side_by_side.py
rows=$(mktemp) && trap 'rm -f "$rows"' EXIT

versions=$(python3 -B "$compare" --versions) || exit
python3 -B "$compare" >"$rows"
status=$?
about "The Python package, PyTorch and CuPy side by side: cold L2, medians of interleaved runs." \
    "GPU: $(of_gpu name)" "driver: $(of_gpu driver_version)" "$versions" >"$out/python.csv"
cat "$rows" >>"$out/python.csv"
exit $status
