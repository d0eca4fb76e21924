#!/bin/sh
# run17.sh P OPTIONS…: make run17: runs ./step17 in P processes on this machine, in the top folder.
number=$1
case $number in
'' | *[!0-9]* | ???*) number=0 ;;
esac
if [ "$number" -lt 1 ] || [ "$number" -gt 64 ]; then
    echo "make run17: P has to be a number of ranks from 1 to 64." >&2
    exit 2
fi
shift
exec "${0%/*}/mpirun.sh" -np "$number" ./step17 "$@"
