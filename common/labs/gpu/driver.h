/*
 * driver.h — the few functions of the CUDA driver that gpu-lab calls, found when it runs. So it is
 * built, and starts, without a GPU and without a driver.
 */
#ifndef LAB_GPU_DRIVER_H
#define LAB_GPU_DRIVER_H

#include <stdbool.h>
#include <stddef.h>

typedef unsigned long long gpu_address;

/* Members are named after the driver's functions. Handles are pointers, and each function returns 0
 * or an error. */
struct driver {
    int (*init)(unsigned);
    int (*device_count)(int *);
    int (*device_get)(int *, int);
    int (*device_name)(char *, int, int);
    int (*context_retain)(void **, int);
    int (*context_set)(void *);
    int (*synchronize)(void);
    int (*error_text)(int, const char **);
    int (*module_load)(void **, const void *);
    int (*function_get)(void **, void *, const char *);
    int (*alloc)(gpu_address *, size_t);
    int (*free_memory)(gpu_address);
    int (*fill)(gpu_address, unsigned char, size_t);
    int (*write)(gpu_address, const void *, size_t);
    int (*read)(void *, gpu_address, size_t);
    int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                  void *, void **, void **);
    int (*event_create)(void **, unsigned);
    int (*event_record)(void *, void *);
    int (*event_wait)(void *);
    int (*event_elapsed)(float *, void *, void *);
};

/* Finds the driver and opens the first GPU. False: there is no GPU, and `why` says in one sentence
 * what is missing; it is empty without a driver. `name` becomes the GPU's. */
bool driver_open(struct driver *, char *name, size_t name_size, char *why, size_t why_size);

/* What an error means, in the driver's words. */
const char *driver_error(const struct driver *, int error);

#endif
