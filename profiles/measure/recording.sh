# recording.sh — what the scripts that write recordings share. They source it in the top folder.

# about TEXT [LINE…]: prints the `#` lines at the head of a recording: these, toolkit and date.
about() {
    printf '# %s\n' "$@"
    echo "# toolkit: $("$(common/build/toolkit.sh)/bin/nvcc" --version |
        sed -n 's/.*release [^,]*, V//p')"
    echo "# date: $(date -u +%Y-%m-%d)"
}
# about_gpu TEXT: the same of a recording on a GPU.
about_gpu() { about "$1" "GPU: $(of_gpu name)" "driver: $(of_gpu driver_version)"; }
of_gpu() { nvidia-smi --query-gpu="$1" --format=csv,noheader | head -1; }
cpu() { sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1; }

# choose VARIANT: prints the option that chooses it; nothing if it is "-".
choose() { [ "$1" = - ] || echo "--variant $1"; }
# listed FILE…: prints the metrics of such files, with commas between them.
listed() { grep -hv '^#' "$@" | paste -sd, -; }

# append FROM TO: appends a CSV file; the first one brings its header line along.
append() {
    if grep -qv '^#' "$2" 2>/dev/null; then tail -n +2 "$1" >>"$2"; else cat "$1" >>"$2"; fi
}
