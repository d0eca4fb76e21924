/*
 * library.c — work of the libraries that take the place of NVIDIA's (libs/), in a stream.
 */
#include "process.h"
#include "place.h"
#include "capture.h"
#include "order.h"

/* The emulator that looks memory up: of the device that has it, if this one may access it. */
static struct emu *emu_of(const void *address)
{
    const struct device *owner = cudart_owner(address), *own = cudart_device();
    bool is_open = owner != NULL && (owner == own || own->peer_enabled[owner->number]);
    return is_open ? owner->emu : own->emu;
}

static cudaError_t area_fault(const char *name, const struct emu_area *area)
{
    char sentence[1024];
    snprintf(sentence, sizeof sentence, "%s %s memory that is not there: %s", name,
             area->writes ? "writes" : "reads", emu_message(emu_of(area->address)));
    cudart_check_library(sentence);
    cudart_set_fault(cudaErrorIllegalAddress);
    return cudaErrorIllegalAddress;
}

/* All reads come before the writes: an area may be read and written, and areas may overlap. */
static cudaError_t open_areas(const char *name, struct emu_area *areas, size_t count)
{
    for (int writes = 0; writes <= 1; writes++)
        for (struct emu_area *a = areas; a < areas + count; a++) {
            if (!(writes ? a->writes : a->reads)) continue;
            a->host =
                emu_view(emu_of(a->address), (emu_addr)a->address, &a->rows, !writes, writes, name);
            if (a->host == NULL) return area_fault(name, a);
            cudart_order_access(a->address, &a->rows, writes);
        }
    cudart_check_print();
    return cudaSuccess;
}

static cudaError_t begin(cudaStream_t stream, const char *name, struct emu_area *areas,
                         size_t count)
{
    RETURN_IF_FAULTY();
    if (!cudart_is_stream(stream)) return cudart_done(cudaErrorInvalidResourceHandle);
    if (cudart_is_capturing(stream)) {
        cudart_not_supported(name, "the emulator's libraries are not captured into graphs; call "
                                   "it outside of the capture");
        return cudart_done(cudaErrorStreamCaptureUnsupported);
    }
    cudart_parent_note_run();
    int was = cudart_use_device(cudart_stream_device(stream));
    cudart_go_on_for(stream, true);
    cudart_order_library(stream, name);
    cudaError_t error = (cudaError_t)cudart_device()->fault; /* a kernel has ended until now */
    if (error == cudaSuccess) error = open_areas(name, areas, count);
    cudart_use_device(was);
    return error;
}

/* While the library is known, places are those of the program that has called it. */
int emu_library_work(void *stream, const char *name, struct emu_area *areas, size_t count)
{
    cudart_place_library(__builtin_return_address(0));
    cudaError_t error = begin(stream, name, areas, count);
    cudart_place_library(NULL);
    return error;
}

void emu_library_refuse(const char *feature, const char *why)
{
    cudart_place_library(__builtin_return_address(0));
    cudart_not_supported(feature, why);
    cudart_place_library(NULL);
}
