/*
 * run_device.h — where a step runs: on a GPU through NVIDIA's CUDA runtime, or on the CPU through
 * the emulator. The emulator takes the runtime's place when the program is started again.
 */
#ifndef DEVICE_H
#define DEVICE_H

#include "common/step/options.h"

#ifdef __cplusplus
extern "C" {
#endif

#define DEVICE_NAME 256

struct device {
    bool emulated;
    char name[DEVICE_NAME]; /* the GPU's, or the model's */
    char why[DEVICE_NAME];  /* emulated: because … (for the report); "" if it was asked for */
    int major, minor;       /* compute capability */
    int sms, threads_per_sm, warp_size;
    size_t l2;              /* bytes */
    size_t memory_free;     /* bytes, now */
};

/*
 * Chooses the device as options say; by default a GPU if there is a usable one. If the emulator is
 * needed and is not the runtime yet, this does not return: the program starts again with build/emu/
 * first in LD_LIBRARY_PATH. Returns 0, or EXIT_DEVICE and what is missing.
 */
int device_choose(const struct options *, struct device *, struct fault *);

/* The reason why CUDA cannot run, as a part of a sentence, or "" if it can. Its arguments are the
 * results of cudaGetDeviceCount (error and count), cudaDriverGetVersion (0: there is no driver) and
 * cudaRuntimeGetVersion. */
void device_problem(cudaError_t error, int count, int driver, int runtime, char *text, size_t size);

/* The processor's name, for steps that run on it. */
void device_cpu_name(char *name, size_t size);

#ifdef __cplusplus
}
#endif

#endif
