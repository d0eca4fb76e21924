/*
 * ipc.h — device memory that several processes share (cudaIpcGetMemHandle).
 *
 * The bytes of an exported allocation move into a file in memory, which takes the place of the same
 * pages of the store: their addresses stay. A handle says which process has which file open, and
 * has a random key, which the file has as well. An importing process opens that file through /proc
 * and maps it into its own store, at device addresses of its own.
 */
#ifndef EMU_IPC_H
#define EMU_IPC_H

#include "memory.h"

/* Moves the bytes of an exported range back: other processes keep what they have imported. The
 * content of the pages is lost. */
void ipc_withdraw(struct memory *, const struct range *);
/* Forgets all of them, before the memory is closed. */
void ipc_close_all(struct memory *);

#endif
