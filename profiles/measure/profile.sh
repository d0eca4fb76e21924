#!/bin/sh
# profile.sh — counts one step, on a GPU by ncu or on the emulator: what `make profileN` runs.
#
#   [DEVICE=cuda|emu] [N=512] [VARIANT=pad16] profiles/measure/profile.sh STEP
#
# Writes build/profiles/DEVICE/stepNN[-VARIANT]-N.csv, in the form of h200/counters.csv (see
# profiles/README.md). Recordings in profiles/ are never changed. The default of DEVICE is cuda if
# the machine has a GPU, ncu, and the permission to read the counters; else it is emu.
set -eu
cd "$(dirname "$0")/../.."
. profiles/measure/recording.sh
number=${1:?usage: profiles/measure/profile.sh STEP}
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT

fail() { echo "profile: $1" >&2; exit "${2:-1}"; }

[ -x "./step$number" ] || fail "there is no ./step$number; make step$number builds it" 2
n=${N:-$("./step$number" --help | sed -n 's/^Default n: \([0-9]*\).*/\1/p')}
variant=${VARIANT:-$("./step$number" --help |
    sed -n 's/^Variants: \([a-z0-9-]*\) (default).*/\1/p')}
chosen=
[ -z "$variant" ] || chosen="--variant $variant"
variant=${variant:--}

# Prints why ncu cannot be used here; nothing if it can.
no_ncu() {
    command -v ncu >/dev/null || {
        echo "ncu is not installed (it comes with the CUDA toolkit, package cuda-nsight-compute)"
        return
    }
    nvidia-smi >/dev/null 2>&1 || { echo "there is no usable GPU"; return; }
    # shellcheck disable=SC2086
    if ncu --metrics launch__registers_per_thread,l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum \
        "./step$number" --device cuda $chosen --n "$n" --reps 0 2>&1 |
            grep -q ERR_NVGPUCTRPERM; then
        echo "ncu may not read the counters: as root, run it with sudo, or let everybody, with" \
            "\"options nvidia NVreg_RestrictProfilingToAdminUsers=0\" in a file in" \
            "/etc/modprobe.d and a restart"
    fi
}
device=${DEVICE:-}
if [ "$device" != emu ]; then
    why=$(no_ncu)
    [ -z "$why" ] || [ "$device" != cuda ] || fail "$why; DEVICE=emu counts without a GPU" 3
    [ -z "$why" ] || [ -n "$device" ] ||
        { echo "profile: $why; so the emulator counts"; device=emu; }
fi
device=${device:-cuda}

name=step$(printf %02d "$number")
[ "$variant" = - ] || name=$name-$variant
out=build/profiles/$device/$name-$n.csv

# shellcheck disable=SC2086
if [ "$device" = emu ]; then
    set -- "./step$number" --device emu $chosen --n "$n" --reps 0
    build/emu/emu --csv --metrics "$(listed profiles/measure/metrics.txt)" --log-file "$work/raw" \
        "$@" >"$work/said" ||
        { cat "$work/said"; fail "./step$number failed"; }
    build/emu/emu --csv --page source --log-file "$work/source" "$@" >/dev/null
    about=about how="the emulator"
    profiles/measure/ncu_long.py "$number" "$variant" "$n" profiles/measure/metrics.txt \
        <"$work/raw" >"$work/values"
    profiles/measure/emu_lines.py "$number" "$variant" "$n" <"$work/source" >>"$work/values"
else
    set -- "./step$number" --device cuda $chosen --n "$n" --reps 0
    cat profiles/measure/metrics.txt profiles/measure/metrics_gpu.txt >"$work/metrics"
    ncu --clock-control none --csv --page raw --print-units base \
        --metrics "$(listed "$work/metrics")" "$@" \
        >"$work/raw" 2>&1 || { tail -5 "$work/raw" >&2; fail "ncu failed"; }
    ncu --clock-control none --section SourceCounters --import-source yes -f -o "$work/page" "$@" \
        >/dev/null 2>&1
    ncu --import "$work/page.ncu-rep" --page source --csv --print-source cuda,sass >"$work/source" \
        2>&1
    about=about_gpu how="ncu --clock-control none"
    profiles/measure/ncu_long.py "$number" "$variant" "$n" "$work/metrics" <"$work/raw" \
        >"$work/values"
    launches=$(sed 1d "$work/values" | cut -d, -f5 | sort -u | wc -l)
    profiles/measure/ncu_source.py "$number" "$variant" "$n" "$launches" <"$work/source" \
        >>"$work/values"
fi
mkdir -p "$(dirname "$out")"
{ $about "$how: counters of one scan of step $number, n = $n." &&
    profiles/measure/cases.py <"$work/values"; } >"$out.$$.new"
mv "$out.$$.new" "$out"
echo "profile: $out"
