#!/bin/sh
# architectures.sh BUILD:CAPABILITY... -- make test-architectures: runs the libraries of steps 12 to
# 16, compiled for one architecture (build/architectures/BUILD/run) whose oldest code is for this
# capability. On the GPU of this machine; without one, on four emulated GPUs. Prints a table, and
# then all that was wrong. GPUS="h200 b200" names other emulated GPUs.
cd "$(dirname "$0")/../../.." || exit
built=build/architectures
limit=600 # seconds for a cell: the driver compiles PTX, or the emulator runs 30 million elements

# One cell of the table: BUILD CAPABILITY GPU.
cell() {
    log=$built/$1/$3.log
    if [ "$3" = native ]; then
        timeout "$limit" "$built/$1/run" "$2" >"$log" 2>&1
    else
        EMU_GPU=$3 EMU_PROGRESS=0 LD_LIBRARY_PATH=build/emu timeout "$limit" "$built/$1/run" "$2" \
            >"$log" 2>&1
    fi
    status=$?
    [ $status -eq 0 ] || { echo "exit code $status" >>"$log" && echo WRONG >>"$log"; }
}

gpus=${GPUS:-h200 h100 a100 t4}
title=$gpus
if [ -z "${GPUS:-}" ] && name=$("$built/${1%:*}/run" 2>/dev/null); then
    gpus=native title=$name
fi
for gpu in $gpus; do
    for build; do
        cell "${build%:*}" "${build#*:}" "$gpu" &
        [ "$gpu" = native ] || wait # the emulator uses all processors
    done
done
wait

printf '%-10s' 'built for'
# shellcheck disable=SC2086
if [ "$gpus" = native ]; then printf ' %s\n' "$title"; else printf ' %-8s' $gpus && echo; fi
wrong=0 cells=0
for build; do
    printf '%-10s' "${build%:*}"
    for gpu in $gpus; do
        found=$(tail -n 1 "$built/${build%:*}/$gpu.log")
        printf ' %-8s' "$found"
        cells=$((cells + 1))
        [ "$found" = right ] || [ "$found" = refused ] || wrong=$((wrong + 1))
    done
    echo
done
for build; do
    for gpu in $gpus; do
        log=$built/${build%:*}/$gpu.log
        [ "$(tail -n 1 "$log")" != WRONG ] || sed "s/^/${build%:*} on $gpu: /" "$log"
    done
done
echo "test-architectures: $wrong of $cells cells are wrong"
[ "$wrong" -eq 0 ]
