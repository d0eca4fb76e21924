/*
 * cudart_module.h — the code that the program brings along, as its constructors register it.
 *
 * cudart_register.c writes down what they say; cudart_module.c loads it, each device its own copy,
 * when a kernel or a variable is first used.
 */
#ifndef CUDART_MODULE_H
#define CUDART_MODULE_H

#include "cudart.h"
#include "common/emu/binary/fatbin.h"

/* What __cudaRegisterFatBinary is given (fatbinary_section.h). */
struct fatbin_wrapper {
    int magic, version;
    const void *data;
    /* Version 2, made by nvcc -rdc=true: `data` is the linked machine code, without PTX, and this
     * is a NULL-terminated array of the object files' own fat binaries. */
    const void *const *objects;
};

enum { WRAPPER_MAGIC = 0x466243B1, WRAPPER_WITH_OBJECTS = 2 };

/* A program's code on one device. */
struct image {
    bool loaded;
    cudaError_t error; /* of loading */
    unsigned ptx_arch;
    struct emu_module *module; /* NULL: not loaded, or in vain */
    struct fatbin_code code;   /* the machine code that belongs to it; data NULL: none */
};

/* A fat binary, or all those that -rdc=true linked together. */
struct program {
    const struct fatbin_wrapper *wrapper;
    struct image on[MAX_DEVICES];
    struct program *next;
};

/* A kernel as registered. The program's cudaKernel_t is a pointer to it. */
struct kernel {
    const void *host; /* the address of its stub, by which the program knows it */
    const char *name; /* mangled */
    struct program *program;
    struct function on[MAX_DEVICES];
    struct kernel *next;
};

struct variable {
    const void *host; /* of a __managed__ one: the address of the host's pointer to it */
    const char *name;
    struct program *program;
    bool is_managed;
    void *managed; /* where it is, on the host and on every device; NULL until first used */
    size_t bytes;
    struct variable *next;
};

/* All that has been registered, newest first. Nothing is ever taken out. */
struct registered {
    struct program *programs;
    struct kernel *kernels;
    struct variable *variables;
    pthread_mutex_t mutex;
};
extern struct registered cudart_registered;

/* Loads a program for the thread's device unless it has been tried before. What goes wrong is
 * printed, once. The mutex is held. */
cudaError_t cudart_load(struct program *);
/* The kernel of a stub's address, or of a cudaKernel_t, loaded or not. The mutex is held. */
struct kernel *cudart_find_kernel(const void *host);

#endif
