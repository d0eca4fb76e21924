/*
 * peer.c — several devices: access to each other's memory, and copies between them.
 *
 * Addresses are unified: each device has its own range, and host memory has the same address
 * everywhere. Kernels need permission to access another device's memory; copies do not.
 */
#include "arrays.h"

static bool is_device(int number) { return number >= 0 && number < cudart_device_count(); }

cudaError_t CUDARTAPI cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
    if (can == NULL) return cudart_done(cudaErrorInvalidValue);
    if (!is_device(device) || !is_device(peer)) return cudart_done(cudaErrorInvalidDevice);
    *can = device != peer;
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaDeviceGetP2PAttribute(int *value, enum cudaDeviceP2PAttr attribute,
                                                int from, int to)
{
    if (value == NULL) return cudart_done(cudaErrorInvalidValue);
    if (!is_device(from) || !is_device(to) || from == to)
        return cudart_done(cudaErrorInvalidDevice);
    switch (attribute) {
    case cudaDevP2PAttrPerformanceRank: *value = 0; break; /* all links are alike */
    case cudaDevP2PAttrAccessSupported: *value = 1; break;
    case cudaDevP2PAttrNativeAtomicSupported: *value = 1; break;
    case cudaDevP2PAttrCudaArrayAccessSupported: *value = 0; break;
    case cudaDevP2PAttrOnlyPartialNativeAtomicSupported: *value = 0; break;
    default: return cudart_done(cudaErrorInvalidValue);
    }
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
    RETURN_IF_FAULTY();
    struct device *device = cudart_device();
    if (flags != 0) return cudart_done(cudaErrorInvalidValue);
    if (!is_device(peer)) return cudart_done(cudaErrorInvalidDevice);
    if (peer == device->number) return cudart_done(cudaErrorPeerAccessUnsupported);
    if (device->peer_enabled[peer]) return cudart_done(cudaErrorPeerAccessAlreadyEnabled);
    device->peer_enabled[peer] = true;
    return cudart_done(emu_set_peer(device->emu, cudart_device_at(peer)->emu, true));
}

cudaError_t CUDARTAPI cudaDeviceDisablePeerAccess(int peer)
{
    RETURN_IF_FAULTY();
    struct device *device = cudart_device();
    if (!is_device(peer)) return cudart_done(cudaErrorInvalidDevice);
    if (!device->peer_enabled[peer]) return cudart_done(cudaErrorPeerAccessNotEnabled);
    device->peer_enabled[peer] = false;
    return cudart_done(emu_set_peer(device->emu, cudart_device_at(peer)->emu, false));
}

void cudart_drop_peers(void)
{
    struct device *device = cudart_device();
    for (int i = 0; i < cudart_device_count(); i++) {
        if (!device->peer_enabled[i]) continue;
        device->peer_enabled[i] = false;
        emu_set_peer(device->emu, cudart_device_at(i)->emu, false);
    }
}

/* ---- copies ---------------------------------------------------------------------------------- */

/* Is it memory of that device, or mapped host memory? */
static bool lies_on(const void *pointer, int device)
{
    const struct device *owner = cudart_owner(pointer);
    return owner == NULL || owner->number == device;
}

static cudaError_t check_peers(const void *to, int to_device, const void *from, int from_device)
{
    RETURN_IF_FAULTY();
    if (!is_device(to_device) || !is_device(from_device)) return cudaErrorInvalidDevice;
    if (!lies_on(to, to_device) || !lies_on(from, from_device)) return cudaErrorInvalidValue;
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device,
                                     size_t bytes)
{
    cudaError_t error = check_peers(to, to_device, from, from_device);
    if (error != cudaSuccess) return cudart_done(error);
    return cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToDevice);
}

cudaError_t CUDARTAPI cudaMemcpyPeerAsync(void *to, int to_device, const void *from,
                                          int from_device, size_t bytes, cudaStream_t stream)
{
    cudaError_t error = check_peers(to, to_device, from, from_device);
    if (error != cudaSuccess) return cudart_done(error);
    return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream);
}

static cudaError_t check_3d(const struct cudaMemcpy3DPeerParms *p, struct cudaMemcpy3DParms *copy)
{
    if (p == NULL) return cudaErrorInvalidValue;
    *copy = (struct cudaMemcpy3DParms){.srcArray = p->srcArray,
                                       .srcPos = p->srcPos,
                                       .srcPtr = p->srcPtr,
                                       .dstArray = p->dstArray,
                                       .dstPos = p->dstPos,
                                       .dstPtr = p->dstPtr,
                                       .extent = p->extent,
                                       .kind = cudaMemcpyDeviceToDevice};
    cudaError_t error = cudart_flatten_copy(copy, copy);
    if (error != cudaSuccess) return error;
    return check_peers(copy->dstPtr.ptr, p->dstDevice, copy->srcPtr.ptr, p->srcDevice);
}

cudaError_t CUDARTAPI cudaMemcpy3DPeer(const struct cudaMemcpy3DPeerParms *params)
{
    struct cudaMemcpy3DParms copy;
    cudaError_t error = check_3d(params, &copy);
    return error != cudaSuccess ? cudart_done(error) : cudaMemcpy3D(&copy);
}

cudaError_t CUDARTAPI cudaMemcpy3DPeerAsync(const struct cudaMemcpy3DPeerParms *params,
                                            cudaStream_t stream)
{
    struct cudaMemcpy3DParms copy;
    cudaError_t error = check_3d(params, &copy);
    return error != cudaSuccess ? cudart_done(error) : cudaMemcpy3DAsync(&copy, stream);
}

ALSO_PTDS(cudaMemcpy3DPeer);
ALSO_PTSZ(cudaMemcpy3DPeerAsync);
