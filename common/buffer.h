/*
 * buffer.h — memory that notices what should not have been written: guard words before and behind
 * it, and a poison that no correct scan leaves in place. On the device, or on the host for steps on
 * the CPU.
 */
#ifndef BUFFER_H
#define BUFFER_H

#include "fault.h"

#include <cuda_runtime.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Guards are this long on either side, in bytes; they keep the data's alignment. */
#define BUFFER_GUARD 4096

/* Every byte of a poisoned buffer and of the guards: a NaN in float and double (so a value read
 * from beyond the end shows in the sums), -1 in integers. */
#define BUFFER_POISON 0xFF /* VERIFY_POISON of verify.h */

struct buffer {
    unsigned char *base; /* the allocation: guard, displacement, data, guard */
    void *data;          /* what a scan is given */
    size_t bytes;        /* of data */
    size_t front;        /* bytes before data: BUFFER_GUARD and the displacement */
    bool on_host;
};

/* Allocates `bytes` displaced by `offset` bytes from a 256-byte boundary; data and guards are
 * poisoned. `what` names it in the sentence. Returns 0, EXIT_USAGE if it does not fit, or
 * EXIT_DEVICE. */
int buffer_make(struct buffer *, size_t bytes, size_t offset, bool on_host, const char *what,
                struct fault *);
void buffer_free(struct buffer *);

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
