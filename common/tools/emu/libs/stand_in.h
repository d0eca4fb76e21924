/* stand_in.h — what the libraries in this folder share. Each takes the place of one of NVIDIA's in
 * programs that `emu` starts, and computes on the CPU. */
#ifndef EMU_STAND_IN_H
#define EMU_STAND_IN_H

#include "common/tools/emu/emu.h"

/* The emulator's runtime has these two, and NVIDIA's has not: programs are linked with either. */
#pragma weak emu_library_work
#pragma weak emu_library_refuse

/* Prints "emu: ", a sentence by a format, and a newline on stderr. */
__attribute__((format(printf, 1, 2))) void stand_in_say(const char *format, ...);
/* Says, once, that this library is not NVIDIA's. False: the program cannot use it, because it does
 * not run on the emulator's libcudart.so.13. */
bool stand_in_introduce(const char *library);
/* Is it an address of a device's own memory, which the host can neither read nor write? */
bool stand_in_is_device(const void *);

/* What a program gets from a library, such as a cublasHandle_t, begins with this. All of them are
 * in a list, so that other pointers are noticed. */
struct stand_in_handle {
    struct stand_in_handle *next;
};
void stand_in_add(struct stand_in_handle *);
bool stand_in_has(const void *);
/* Takes one out of the list. False: it is not there. */
bool stand_in_remove(const void *);

#endif
