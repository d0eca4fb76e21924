/*
 * programs.h — where the Makefile puts the programs and fat binaries that tests look at or run.
 *
 * They are made of kernels.cu: `shared` is linked with -cudart shared, `nvidia` with NVIDIA's
 * static runtime as nvcc does by default, `emulated` with the flags of emu --nvcc-flags,
 * `per-thread` with -default-stream per-thread; the others are named by what they hold. Tests run
 * in the repository's root, those with sanitizers in build/asan, where programs of the ordinary
 * build are used.
 */
#ifndef PROGRAMS_H
#define PROGRAMS_H

#ifdef __SANITIZE_ADDRESS__
#define ORDINARY_BUILD ".."
#else
#define ORDINARY_BUILD "build"
#endif

#define PROGRAMS ORDINARY_BUILD "/tests/programs"
#define EMU      ORDINARY_BUILD "/emu/emu"

#endif
