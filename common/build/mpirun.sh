#!/bin/sh
# mpirun.sh ARGUMENTS…: mpirun with what Open MPI needs for many processes on one machine.
#
# It refuses root and more processes than cores unless it is told otherwise. Here no process needs a
# network (self, vader), ssh (isolated) or a right to read other processes' memory.
root=
[ "$(id -u)" != 0 ] || root=--allow-run-as-root
# mpirun gives the ranks a terminal of their own, also where its own output is a file.
[ -t 1 ] || export NO_COLOR=1
# The other way to store what ranks know of each other sometimes prints errors of its locks.
export PMIX_MCA_gds=hash
exec mpirun --quiet $root --oversubscribe --bind-to none --mca pml ob1 --mca btl self,vader \
    --mca btl_vader_single_copy_mechanism none --mca plm isolated "$@"
