/*
 * uses.h — what a kernel's code does with a value that it has read from memory.
 *
 * Some accesses without an order are right all the same, because the program looks at the value and
 * tries again: a poll of a flag, a loop around atomicCAS. One run does not show this, since its
 * first try may succeed. So the code is analysed. A value is followed within one function, through
 * registers and through the function's variables in local memory.
 */
#ifndef EMU_CODE_USES_H
#define EMU_CODE_USES_H

#include "common/emu/machine/machine.h"

/* Does the value that the access at index `place` reads decide whether memory is read again? After
 * an atomic: the same word, by the same instruction or by an access that names its address by the
 * same register. After a load: any word, by a strong access. The answer is also yes if it cannot be
 * found out: the value goes to another function, or memory has run out. */
bool uses_tries_again(const struct emu_kernel *, size_t place);
/* Is the value compared with anything, so that the code may act on it? Here it is followed through
 * shared memory, too: often one thread draws a ticket there for its block. */
bool uses_compares(const struct emu_kernel *, size_t place);
/* Does the value of the load at `from` go into the value that the store at `to` stores? And does it
 * decide whether this store is carried out? The answer is no if the two are in different functions:
 * values are not followed that far. */
bool uses_feeds(const struct emu_kernel *, size_t from, size_t to);
bool uses_decides(const struct emu_kernel *, size_t from, size_t to);
/* Does the value of the load at `from` decide whether the load at `to` is carried out, or whether a
 * branch is that decides it, and so on? */
bool uses_repeats(const struct emu_kernel *, size_t from, size_t to);
/* Is the value of the load at `place` only a guess, which an atomicCAS compares and the code
 * corrects until it is right? The guess itself is then stored nowhere. */
bool uses_swaps(const struct emu_kernel *, size_t place);

/* A branch near a load or an atomic, and the instructions between the two that compute the branch's
 * guard from the value: bit k of `parts` is the k-th instruction behind the load. */
struct decision {
    uint32_t parts;
    uint32_t branch;                     /* 0: the value has more uses than this one branch */
    const struct ptx_function *function; /* the function whose registers they use */
};
struct decision uses_decision(const struct emu_kernel *, size_t place);

#endif
