#!/bin/sh
# mpi.sh: prints the flags with which a program in C is compiled and linked with Open MPI; nothing if
# it is missing, or if it cannot start programs.
command -v mpirun >/dev/null || exit 0
pkg-config --cflags --libs ompi-c 2>/dev/null && exit
# Without pkg-config, or where it does not know of Open MPI, its compiler says it.
mpicc --showme:compile 2>/dev/null && mpicc --showme:link 2>/dev/null
exit 0
