/*
 * buffer.h — memory that shows writes to the wrong place. It has guards before and behind the
 * data, and is filled with a poison that no correct scan leaves in place. It lies on the device,
 * or on the host for steps on the CPU.
 *
 * A guard shows a write only if the written value is still there and differs from the poison.
 * Under the emulator's memcheck there are no guards. There the allocation ends where the data
 * ends, and memcheck reports any access beyond it.
 */
#ifndef BUFFER_H
#define BUFFER_H

#include "common/command/fault.h"

#include <cuda_runtime.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A guard is as long as the data, within these limits (in bytes). On a GPU it is always as long as
 * possible: the memory around a small array is mapped there, so that a write to it would be no
 * error. A guard keeps the data's alignment. */
#define BUFFER_GUARD_LEAST ((size_t)64 << 10)
#define BUFFER_GUARD_MOST  ((size_t)1 << 20)

/* Every byte of a poisoned buffer and of the guards: a NaN in float and double (so a value read
 * from beyond the end shows in the sums), -1 in integers. */
#define BUFFER_POISON 0xFF /* VERIFY_POISON of verify.h */

struct buffer {
    unsigned char *base; /* the allocation: guard, displacement, data, guard */
    void *data;          /* what a scan is given */
    size_t bytes;        /* of data */
    size_t front;        /* bytes before data: the guard and the displacement */
    size_t whole;        /* of the allocation; a multiple of 4 where there are guards */
    bool on_host;
};

/* Allocates `bytes` displaced by `offset` bytes from a 256-byte boundary; data and guards are
 * poisoned. `what` names it in the sentence. Returns 0, EXIT_USAGE if it does not fit, or
 * EXIT_DEVICE. */
int buffer_make(struct buffer *, size_t bytes, size_t offset, bool on_host, const char *what,
                struct fault *);
void buffer_free(struct buffer *);

/* The most bytes that are allocated for data of `bytes` bytes that begins `offset` bytes late. */
size_t buffer_room(size_t bytes, size_t offset);

/* Fills the whole allocation with the poison, as it was made. Waits. */
cudaError_t buffer_renew(const struct buffer *);

/* Fills the data with the poison; on the stream where the buffer is on the device. */
cudaError_t buffer_poison(const struct buffer *, cudaStream_t);

/* Copies between the buffer, from byte `at` on, and host memory; waits. */
cudaError_t buffer_upload(const struct buffer *, size_t at, const void *from, size_t bytes);
cudaError_t buffer_download(const struct buffer *, size_t at, void *to, size_t bytes);

/* Looks at the guards. Returns 0 if they are untouched; otherwise how far from the data the nearest
 * damaged byte is: -1 is the byte before the first, +1 the byte behind the last. */
long buffer_damage(const struct buffer *, cudaError_t *error);

#ifdef __cplusplus
}
#endif

#endif
