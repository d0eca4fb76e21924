#!/bin/sh
# run17.sh P OPTIONS…: make run17: runs ./step17 in P processes on this machine, in the top folder.
#
# mpirun refuses root and more processes than cores unless it is told otherwise. Processes on one
# machine need no network (self, vader), and no ssh.
number=$1
shift
case $number in
'' | *[!0-9]* | ???*) number=0 ;;
esac
if [ "$number" -lt 1 ] || [ "$number" -gt 64 ]; then
    echo "make run17: P has to be a number of ranks from 1 to 64." >&2
    exit 2
fi
# mpirun gives the ranks a terminal of their own, also where its own output is a file.
[ -t 1 ] || export NO_COLOR=1
root=
[ "$(id -u)" != 0 ] || root=--allow-run-as-root
exec mpirun --quiet $root --oversubscribe --bind-to none --mca btl self,vader \
    --mca btl_vader_single_copy_mechanism none --mca plm isolated -np "$number" ./step17 "$@"
