#!/bin/bash
# mpirun.sh ARGUMENTS…: mpirun with what Open MPI needs for many processes on one machine. Its
# --quiet leaves out what the ranks say themselves, and also that a signal has ended a rank. That is
# said here.
#
# It refuses root and more processes than cores unless it is told otherwise. Here no process needs a
# network (self, vader), ssh (isolated) or a right to read other processes' memory.
root=
[ "$(id -u)" != 0 ] || root=--allow-run-as-root
# mpirun gives the ranks a terminal of their own, also where its own output is a file.
[ -t 1 ] || export NO_COLOR=1
# The other way to store what ranks know of each other sometimes prints errors of its locks.
export PMIX_MCA_gds=hash
# Each mpirun has a folder of its own for sockets and locks. In the usual one, which all of them
# share, one that ends removes what another has just made.
if ! own=$(mktemp -d); then
    echo "mpirun.sh: no folder can be made in ${TMPDIR:-/tmp}, which Open MPI needs." >&2
    exit 2
fi
trap 'rm -rf "$own"' EXIT
# A signal that should end this script goes to mpirun, which ends all ranks.
trap 'kill "$!"' HUP INT QUIT TERM
# shellcheck disable=SC2086
mpirun --quiet $root --oversubscribe --bind-to none --mca pml ob1 --mca btl self,vader \
    --mca btl_vader_single_copy_mechanism none --mca plm isolated --mca orte_tmpdir_base "$own" \
    "$@" &
wait "$!"
status=$?
# A signal has interrupted `wait`, and not mpirun.
while kill -0 "$!" 2>/dev/null; do
    wait "$!"
    status=$?
done
# The status of a process that a signal has ended is 128 and the signal's number. Some of these are
# also mpirun's own, for a program or a folder that it cannot find or use.
if [ "$status" -gt 128 ] && signal=$(kill -l "$status" 2>/dev/null); then
    case $signal in
    QUIT | ILL | ABRT | BUS) what="could not be started, or was ended by signal $signal" ;;
    *) what="was ended by signal $signal" ;;
    esac
    echo "mpirun.sh: a rank $what, so mpirun ended all ranks." >&2
fi
exit "$status"
