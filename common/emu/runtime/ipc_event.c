/*
 * ipc_event.c — events that several processes use (cudaIpcGetEventHandle).
 *
 * Work is carried out when it is submitted. When an event is recorded, the work before it is done,
 * unless a kernel before the event is suspended. Then a word in device memory, which the processes
 * share, has the number of that kernel's process; otherwise the word is 0. The memory is exported
 * as that of cudaIpcGetMemHandle (ipc.c).
 */
#define _POSIX_C_SOURCE 200809L /* nanosleep, readlink */
#include "ipc_event.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

_Static_assert(sizeof(cudaIpcEventHandle_t) == EMU_HANDLE_BYTES, "the size of a handle");

static struct emu *emu_of(const struct object *event)
{
    return cudart_device_at(event->device)->emu;
}

/* One bit tells the handles of events from those of memory: neither opens as the other. */
static void flip(cudaIpcEventHandle_t *handle) { handle->reserved[0] ^= 1; }

static bool open_word(struct object *event)
{
    const struct emu_rows word = {.bytes = sizeof *event->word, .rows = 1, .slices = 1};
    event->word = emu_view(emu_of(event), event->shared, &word, false, true, NULL);
    return event->word != NULL;
}

/* ---- handles --------------------------------------------------------------------------------- */

static int share(struct object *event)
{
    int error = emu_alloc(emu_of(event), sizeof *event->word, &event->shared);
    if (error) return error;
    if (!open_word(event)) return EMU_OUT_OF_MEMORY;
    *event->word = event->is_behind ? getpid() : 0;
    return EMU_OK;
}

cudaError_t CUDARTAPI cudaIpcGetEventHandle(cudaIpcEventHandle_t *handle, cudaEvent_t event)
{
    RETURN_IF_FAULTY();
    struct object *object = cudart_find(event, EVENT);
    if (handle == NULL) return cudart_done(cudaErrorInvalidValue);
    if (object == NULL || !(object->flags & cudaEventInterprocess) || object->is_imported)
        return cudart_done(cudaErrorInvalidResourceHandle);
    bool is_first = object->word == NULL;
    int error = is_first ? share(object) : EMU_OK;
    if (!is_first) emu_hide(emu_of(object), object->shared, false);
    if (error == EMU_OK) error = emu_export(emu_of(object), object->shared, handle);
    if (error == EMU_OK) emu_hide(emu_of(object), object->shared, true); /* it is no leak */
    if (error == EMU_OK) flip(handle);
    return cudart_done(error);
}

cudaError_t CUDARTAPI cudaIpcOpenEventHandle(cudaEvent_t *event, cudaIpcEventHandle_t handle)
{
    RETURN_IF_FAULTY();
    emu_addr address;
    if (event == NULL) return cudart_done(cudaErrorInvalidValue);
    flip(&handle);
    int error = emu_import(emu_runtime(), &handle, &address);
    if (error != EMU_OK) return cudart_done(error);
    error = cudart_create(event, EVENT, cudaEventInterprocess | cudaEventDisableTiming, 0);
    if (error != cudaSuccess) {
        emu_close_import(emu_runtime(), address);
        return cudart_done(error);
    }
    struct object *object = cudart_find(*event, EVENT);
    object->is_imported = true;
    object->shared = address;
    open_word(object);
    return cudaSuccess;
}

/* ---- recording and waiting ------------------------------------------------------------------- */

void cudart_ipc_record(struct object *event)
{
    if (event->word != NULL) *event->word = event->is_behind ? getpid() : 0;
}

static void end_word(struct object *event)
{
    int own = getpid();
    if (event->word == NULL || event->device != cudart_device()->number) return;
    atomic_compare_exchange_strong(event->word, &own, 0);
}

void cudart_ipc_kernel_ended(void) { cudart_each(EVENT, end_word); }

/* A process that has ended, but that its parent has not waited for, has a number, but no file. */
static bool lives(int process)
{
    char path[sizeof "/proc/-2147483648/exe"], target;
    snprintf(path, sizeof path, "/proc/%d/exe", process);
    return readlink(path, &target, 1) >= 0 || errno != ENOENT;
}

/* On a GPU the kernel would go on meanwhile. */
static void explain_the_wait(int process, int seconds)
{
    char sentence[300];
    snprintf(sentence, sizeof sentence,
             "this process has waited %d seconds for an event: process %d has recorded it after a "
             "kernel, which the emulator lets go on only while that process waits in a call of "
             "CUDA (EMU_TIMEOUT=SECONDS says so later)",
             seconds, process);
    cudart_print(sentence);
}

/* A kernel of this process counts as done: event.c waits for it. */
bool cudart_ipc_is_done(const struct object *event, bool waits)
{
    const struct timespec moment = {.tv_nsec = 200000};
    time_t begin = time(NULL), patience = setting_number(SETTING_TIMEOUT);
    bool is_explained = false;
    for (;;) {
        int process = event->word != NULL ? *event->word : 0;
        if (process == 0 || process == getpid() || !lives(process)) return true;
        if (!waits) return false;
        if (!is_explained && time(NULL) - begin > patience) {
            explain_the_wait(process, (int)patience);
            is_explained = true;
        }
        nanosleep(&moment, NULL);
    }
}
