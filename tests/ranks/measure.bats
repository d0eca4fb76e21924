#!/usr/bin/env bats
# measure.bats — what measures step 17, with few elements on the emulator: the experiment verifies
# its results, and measure.py records them.
# bats file_tags=slow
load ranks

@test "measure.py records checksums that are the same for 1 and 2 ranks, and verified results" {
    need python3
    DEVICE=emu timeout 300 profiles/measure/measure.py --to "$dir" ranks >/dev/null 2>&1
    [ "$(grep -c ',bits,.*,[0-9]\{1,\},[0-9]\{1,\}$' "$dir/ranks.csv")" -eq 8 ]
    [ "$(grep ',bits,' "$dir/ranks.csv" | sort -u | wc -l)" -eq 4 ]
    [ "$(grep -c '^17,many-gpus,' "$dir/ranks_verified.csv")" -eq 7 ]
    [ "$(grep -c ',full,true,' "$dir/ranks_verified.csv")" -eq 7 ]
    [ "$(grep -c '^step,\|^experiment,' "$dir/ranks.csv" "$dir/ranks_verified.csv" |
        cut -d: -f2 | sort -u)" = 1 ]
}

# A program in place of 17-rates whose checksum depends on the number of ranks.
@test "measure.py fails if checksums differ between numbers of ranks" {
    need python3
    mkdir -p "$dir/build/experiments" "$dir/bin"
    cp -r profiles common steps "$dir"
    printf '#!/bin/sh\n' >"$dir/bin/make"
    cat >"$dir/bin/mpirun" <<'END'
#!/bin/sh
[ "$1" != --version ] || { echo MPI; exit; }
while [ "$1" != -np ]; do shift; done
echo experiment,step,variant,parameter,metric,value,unit
echo "rates,17,bits,sum n=9,checksum_high,$2,"
END
    chmod +x "$dir/bin/make" "$dir/bin/mpirun"
    run env PATH="$dir/bin:$PATH" DEVICE=emu "$dir/profiles/measure/measure.py" ranks
    [ "$status" -eq 1 ]
    [[ $output == *"results differ between numbers of ranks: bits,sum n=9,checksum_high"* ]]
}
