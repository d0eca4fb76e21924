#define _GNU_SOURCE /* flockfile */
#include "stand_in.h"

#include <cuda_runtime_api.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

void stand_in_say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    flockfile(stderr);
    fputs("emu: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    funlockfile(stderr);
    va_end(arguments);
}

bool stand_in_introduce(const char *library)
{
    static atomic_flag is_said = ATOMIC_FLAG_INIT;
    bool is_emulated = emu_library_work != NULL;
    if (!atomic_flag_test_and_set(&is_said))
        stand_in_say(is_emulated
                         ? "this %s is the emulator's, not NVIDIA's: it computes on the CPU, its "
                           "results may differ in the last bits, and its work is in no counter"
                         : "this %s is the emulator's, not NVIDIA's, and works on the emulator "
                           "alone: run the program by emu, or take the folder of this library out "
                           "of LD_LIBRARY_PATH",
                     library);
    return is_emulated;
}

bool stand_in_is_device(const void *address)
{
    struct cudaPointerAttributes attributes;
    return cudaPointerGetAttributes(&attributes, address) == cudaSuccess &&
           attributes.type == cudaMemoryTypeDevice;
}
