/*
 * error.c — the last error of a thread, and the faults of devices.
 */
#define _GNU_SOURCE /* flockfile */
#include "process.h"
#include "common/files/visible.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static _Thread_local cudaError_t last_error;

void cudart_set_fault(cudaError_t error)
{
    struct device *device = cudart_device();
    device->fault_known = false;
    device->fault = error;
}

cudaError_t cudart_refusal(void)
{
    if (cudart_is_forked_too_late()) return cudart_done(cudaErrorInitializationError);
    if (cudart_in_host_function()) return cudart_done(cudaErrorNotPermitted);
    cudart_bind_context();
    cudart_go_on(false);
    struct device *device = cudart_device();
    cudaError_t fault = (cudaError_t)device->fault;
    if (fault == cudaSuccess) return cudaSuccess;
    device->fault_known = true;
    return cudart_done(fault);
}

bool cudart_is_faulty(void) { return cudart_device()->fault != cudaSuccess; }

void cudart_clear_fault(void)
{
    struct device *device = cudart_device();
    device->fault = cudaSuccess;
    device->fault_known = false;
}

cudaError_t cudart_done_free(int error, const void *pointer)
{
    if (error == cudaSuccess) return cudaSuccess;
    if (!cudart_in_driver) last_error = (cudaError_t)error;
    cudart_check_api((cudaError_t)error, pointer);
    return (cudaError_t)error;
}

cudaError_t cudart_done(int error) { return cudart_done_free(error, NULL); }

_Noreturn void cudart_exit(int code)
{
    cudart_parent_note_end();
    cudart_end_trace(code);
    if (!cudart_thread_waits()) fflush(NULL);
    cudart_leave(code);
}

void cudart_print(const char *sentences)
{
    flockfile(stderr);
    while (*sentences != '\0') {
        size_t length = strcspn(sentences, "\n");
        fputs("emu: ", stderr);
        visible_print(stderr, sentences, length);
        fputc('\n', stderr);
        sentences += length;
        if (*sentences == '\n') sentences++;
    }
    funlockfile(stderr);
}

cudaError_t CUDARTAPI cudaPeekAtLastError(void) { return last_error; }

cudaError_t CUDARTAPI cudaGetLastError(void)
{
    cudaError_t error = cudaPeekAtLastError();
    last_error = cudaSuccess;
    return error;
}

const char *CUDARTAPI cudaGetErrorName(cudaError_t error)
{
    switch (error) {
#define ERROR(name, text)                                                                          \
    case name:                                                                                     \
        return #name;
#include "errors.h"
#undef ERROR
    default: return "unrecognized error code";
    }
}

const char *CUDARTAPI cudaGetErrorString(cudaError_t error)
{
    switch (error) {
#define ERROR(name, text)                                                                          \
    case name:                                                                                     \
        return text;
#include "errors.h"
#undef ERROR
    default: return "unrecognized error code";
    }
}
