#!/bin/sh
# mpi.sh: prints the flags that compile and link a program in C with Open MPI. It prints nothing
# where Open MPI is missing, or has no mpirun.
command -v mpirun >/dev/null || exit 0
pkg-config --cflags --libs ompi-c 2>/dev/null && exit
# Without pkg-config, or where it does not know of Open MPI, its compiler says it.
mpicc --showme:compile 2>/dev/null && mpicc --showme:link 2>/dev/null
exit 0
