/*
 * registered.h — the program's code, as its constructors register it.
 *
 * register.c keeps what they register. registered.c loads the code for each device when a kernel or
 * a variable is first used there.
 */
#ifndef CUDART_REGISTERED_H
#define CUDART_REGISTERED_H

#include "cudart.h"
#include "common/emu/ptx/fatbin.h"

/* The argument of __cudaRegisterFatBinary (fatbinary_section.h). */
struct fatbin_wrapper {
    int magic, version;
    const void *data;
    /* In version 2, made by nvcc -rdc=true: a NULL-terminated array of the fat binaries of the
     * object files. `data` is then the linked machine code, without PTX. */
    const void *const *objects;
};

enum { WRAPPER_MAGIC = 0x466243B1, WRAPPER_WITH_OBJECTS = 2 };

/* A program's code on one device. */
struct image {
    bool loaded;
    cudaError_t error; /* of loading */
    unsigned ptx_arch;
    struct emu_module *module; /* NULL: not loaded, or loading failed */
    struct fatbin_code code;   /* its machine code; data = NULL: none */
};

/* A fat binary, or all fat binaries that -rdc=true has linked together; or what the program loads
 * while it runs (load_module.c), a fat binary or texts. */
struct program {
    const struct fatbin_wrapper *wrapper;
    struct image on[MAX_DEVICES];
    struct program *next;
    struct module_source *module; /* NULL: it is compiled into the program */
};

/* A kernel as registered. The program's cudaKernel_t is a pointer to it. */
struct kernel {
    const void *host; /* the address of its stub, by which the program names it */
    const char *name; /* mangled */
    struct program *program;
    struct function on[MAX_DEVICES];
    struct kernel *next;
};

struct variable {
    const void *host; /* of a __managed__ variable: the address of the host's pointer to it */
    const char *name;
    struct program *program;
    bool is_managed;
    void *managed; /* its address on the host and on all devices; NULL until first used */
    size_t bytes;
    struct variable *next;
};

/* Everything that has been registered, newest first. Only modules are removed. */
struct registered {
    struct program *programs;
    struct kernel *kernels;
    struct variable *variables;
    pthread_mutex_t mutex;
};
extern struct registered cudart_registered;

/* Loads a program for the thread's device, unless that has been tried before. An error is printed
 * once. The mutex is held. */
cudaError_t cudart_load(struct program *);
/* Does so and writes the error into the message instead. */
enum { LOAD_MESSAGE = 1024 };
cudaError_t cudart_load_quietly(struct program *, char message[LOAD_MESSAGE]);
/* Takes a program's code from the calling thread's device. The mutex is held. */
void cudart_unload_image(struct image *);
/* Ends the modules of a context. (load_module.c) */
void cudart_drop_modules(const struct context *);
/* The kernel of a stub's address, or of a cudaKernel_t, loaded or not. The mutex is held. */
struct kernel *cudart_find_kernel(const void *host);

#endif
