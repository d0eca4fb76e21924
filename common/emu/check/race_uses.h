/*
 * race_uses.h — what a kernel's code does with a value that it has read from memory.
 *
 * Some accesses that nothing orders are right all the same, for the program looks at what it got
 * and tries again: a poll of a flag, a loop around atomicCAS. That does not show in what one run
 * does, where the first try may be enough; so the code is asked. Values are followed in one
 * function, through registers and through its variables in local memory.
 */
#ifndef EMU_RACE_USES_H
#define EMU_RACE_USES_H

#include "common/emu/machine/machine.h"

/* Does what the access at index `place` of the kernel's code reads decide whether memory is read
 * again? After an atomic that is the same word: by itself, or by another access that names it by
 * the same register; after a load any, by a strong access. Yes, too, if that cannot be told: the
 * value goes to another function, or there is no memory. */
bool uses_tries_again(const struct emu_kernel *, size_t place);
/* Is it compared with anything, so that the code may go by it? */
bool uses_compares(const struct emu_kernel *, size_t place);
/* Does what the load at `from` reads go into what the store at `to` stores? And does it decide
 * whether that store is carried out? No, if they are in different functions: that cannot be
 * told. */
bool uses_feeds(const struct emu_kernel *, size_t from, size_t to);
bool uses_decides(const struct emu_kernel *, size_t from, size_t to);
/* Is what the load at `place` reads only a guess, which an atomicCAS compares, and corrects until
 * it is right? */
bool uses_swaps(const struct emu_kernel *, size_t place);

/* A branch that a load, or an atomic, stands before, and the instructions between that make its
 * guard out of what is read: bit k is the k-th behind the load. */
struct decision {
    uint32_t parts;
    uint32_t branch; /* 0: the value does not serve for one branch, and for nothing else */
    const struct ptx_function *function; /* whose registers they use */
};
struct decision uses_decision(const struct emu_kernel *, size_t place);

#endif
