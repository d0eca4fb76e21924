/*
 * module.h — code that a program loads while it runs, as the driver API's modules and libraries.
 *
 * It is a struct program like code that is compiled in, so all functions of the runtime take its
 * kernels: a CUfunction or CUkernel is a pointer to a struct kernel, as a cudaKernel_t is.
 */
#ifndef CUDART_MODULE_H
#define CUDART_MODULE_H

#include "registered.h"

struct module_source {
    const struct context *context; /* that owns it; NULL: it is a library, and all may use it */
    struct fatbin_wrapper wrapper; /* of a fat binary */
    struct emu_ptx *texts;         /* or the PTX texts, owned; NULL: it is a fat binary */
    size_t count;                  /* of texts */
    unsigned registers;            /* the most that a thread may have; 0: any number */
    void *data;                    /* the copy that wrapper or texts point into, owned */
};

/*
 * Loads what an image holds for the calling thread's device: PTX text with a NUL behind it, a fat
 * binary with PTX, of which at most `limit` bytes are read (SIZE_MAX: its own length is right), or
 * what cudart_pack_texts() has made. Errors are written into the message: what has no PTX is
 * cudaErrorNoKernelImageForDevice, what is none of these cudaErrorInvalidKernelImage, and what uses
 * a name that it does not define cudaErrorSymbolNotFound. `name` stands for the image in messages.
 */
cudaError_t cudart_load_module(const void *image, size_t limit, const char *name,
                               const struct context *, struct program **,
                               char message[LOAD_MESSAGE]);
/* Ends a module. False: there is no such module. Its handle and those of its kernels stay invalid.
 */
bool cudart_unload_module(struct program *);
/* Finds the module of a handle; NULL: it is no module's. */
struct program *cudart_find_module(const void *handle);

/* PTX texts, and the most registers of a thread, as one image. cudart_load_module() links the texts
 * when it loads them. Memory for the caller to free; NULL: out of memory. */
void *cudart_pack_texts(const struct emu_ptx *, size_t count, unsigned registers, size_t *bytes);
/* Is this PTX text, rather than something else that a driver can load? */
bool cudart_is_ptx(const void *image);

/* The kernel of a module by its name; cudaErrorSymbolNotFound: it has no such kernel. Any other
 * error says why the kernel cannot run; it has been printed. */
cudaError_t cudart_module_kernel(struct program *, const char *name, struct kernel **);
/* The name of the kernel with this index; NULL: there are fewer. */
const char *cudart_module_kernel_name(struct program *, size_t index);
cudaError_t cudart_module_variable(struct program *, const char *name, emu_addr *, size_t *bytes);
/* The program whose kernel this is; NULL: it is none. */
struct program *cudart_program_of(const void *kernel);

#endif
