/* textures: texture and surface objects over arrays, linear memory and pitched memory (runtime.h). */
#define _GNU_SOURCE
#include "runtime.h"

#include <string.h>

static uint32_t object_count;

API cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind f) {
    cudaChannelFormatDesc desc;
    desc.x = x, desc.y = y, desc.z = z, desc.w = w, desc.f = f;
    return desc;
}
API cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc *desc, cudaArray_const_t array) {
    if (!desc || !array) return cudaErrorInvalidValue;
    *desc = array->desc;
    return cudaSuccess;
}

/* Type and number of a texel's channels. Returns 0, or -1: the machine has no such texels. */
static int read_channels(const cudaChannelFormatDesc *desc, lanes_texture *to) {
    static const uint8_t types[3][3] = {
        {TYPE_S8, TYPE_S16, TYPE_S32}, {TYPE_U8, TYPE_U16, TYPE_U32}, {TYPE_COUNT, TYPE_COUNT, TYPE_F32}};
    const int size = desc->x == 8 ? 0 : desc->x == 16 ? 1 : desc->x == 32 ? 2 : -1;
    if (size < 0 || desc->f > cudaChannelFormatKindFloat) return -1;
    to->type = types[desc->f][size];
    to->channels = (uint8_t)((desc->x != 0) + (desc->y != 0) + (desc->z != 0) + (desc->w != 0));
    return to->type == TYPE_COUNT || to->channels == 3 ? -1 : 0;
}

static uint32_t texel_bytes(const cudaChannelFormatDesc *desc) {
    return (uint32_t)(desc->x + desc->y + desc->z + desc->w) / 8;
}

static cudaError_t read_resource(const cudaResourceDesc *r, lanes_texture *to) {
    const cudaChannelFormatDesc *desc;
    memset(to, 0, sizeof *to);
    switch (r->resType) {
    case cudaResourceTypeArray:
        if (!r->res.array.array) return cudaErrorInvalidResourceHandle;
        desc = &r->res.array.array->desc;
        to->address = r->res.array.array->address;
        to->width = (uint32_t)r->res.array.array->width;
        to->height = (uint32_t)r->res.array.array->height;
        to->depth = (uint32_t)r->res.array.array->depth;
        to->row_bytes = r->res.array.array->width * texel_bytes(desc);
        break;
    case cudaResourceTypeLinear:
        desc = &r->res.linear.desc;
        if (!texel_bytes(desc)) return cudaErrorInvalidChannelDescriptor;
        to->address = address_of(r->res.linear.devPtr);
        to->width = (uint32_t)(r->res.linear.sizeInBytes / texel_bytes(desc));
        to->row_bytes = r->res.linear.sizeInBytes;
        break;
    case cudaResourceTypePitch2D:
        desc = &r->res.pitch2D.desc;
        to->address = address_of(r->res.pitch2D.devPtr);
        to->width = (uint32_t)r->res.pitch2D.width;
        to->height = (uint32_t)r->res.pitch2D.height;
        to->row_bytes = r->res.pitch2D.pitchInBytes;
        break;
    default: runtime_say("mipmapped textures are not there"); return cudaErrorNotSupported;
    }
    if (!device_find(cudart.device, to->address, NULL, NULL)) return cudaErrorInvalidValue;
    if (!read_channels(desc, to)) return cudaSuccess;
    runtime_say("textures have 1, 2 or 4 channels of 8, 16 or 32 bits, or of float");
    return cudaErrorNotSupported;
}

static cudaError_t make_object(unsigned long long *object, const lanes_texture *texture) {
    if (device_set_texture(cudart.device, object_count, texture)) return cudaErrorMemoryAllocation;
    *object = DEVICE_TEXTURE_HANDLE + object_count++;
    return cudaSuccess;
}

static void set_reading(lanes_texture *texture, const cudaTextureDesc *how) {
    static const uint8_t addressing[] = {TEXTURE_WRAP, TEXTURE_CLAMP, TEXTURE_MIRROR, TEXTURE_BORDER};
    int i;
    texture->linear = how->filterMode == cudaFilterModeLinear;
    texture->normalized = how->normalizedCoords != 0;
    texture->as_float = how->readMode == cudaReadModeNormalizedFloat;
    for (i = 0; i < 3; i++) texture->addressing[i] = addressing[how->addressMode[i] & 3];
}

API cudaError_t cudaCreateTextureObject(cudaTextureObject_t *object, const cudaResourceDesc *resource,
                                        const cudaTextureDesc *how, const cudaResourceViewDesc *view) {
    lanes_texture texture;
    cudaError_t error;
    (void)view;
    ENTER();
    if (!object || !resource || !how) return runtime_leave(cudaErrorInvalidValue);
    if ((error = read_resource(resource, &texture))) return runtime_leave(error);
    set_reading(&texture, how);
    return runtime_leave(make_object(object, &texture));
}
API cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object) {
    (void)object; /* its handle is not given again */
    return cudaSuccess;
}
API cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *object, const cudaResourceDesc *resource) {
    lanes_texture texture;
    cudaError_t error;
    ENTER();
    if (!object || !resource) return runtime_leave(cudaErrorInvalidValue);
    if ((error = read_resource(resource, &texture))) return runtime_leave(error);
    return runtime_leave(make_object(object, &texture));
}
API cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object) {
    (void)object;
    return cudaSuccess;
}

/* ---- texture references ---- */

static cudaError_t bind(const struct textureReference *reference, const cudaResourceDesc *resource) {
    cudaTextureDesc how;
    lanes_texture texture;
    uint32_t module;
    const char *name;
    cudaError_t error;
    memset(&how, 0, sizeof how);
    memcpy(how.addressMode, reference->addressMode, sizeof how.addressMode);
    how.filterMode = reference->filterMode;
    how.normalizedCoords = reference->normalized;
    if ((error = read_resource(resource, &texture))) return error;
    if ((error = modules_texture(reference, &module, &name, &how.readMode))) return error;
    set_reading(&texture, &how);
    if ((error = streams_run())) return error; /* kernels that were launched before read what was bound before */
    return device_bind_texture(cudart.device, module, name, &texture) ? cudaErrorMemoryAllocation : cudaSuccess;
}
/* The bytes from a pointer to the end of its allocation, when that is less than what the caller names. */
static size_t bytes_there(const void *pointer, size_t bytes) {
    uint64_t start, length;
    if (!device_find(cudart.device, address_of(pointer), &start, &length)) return bytes;
    length -= address_of(pointer) - start;
    return bytes < length ? bytes : (size_t)length;
}
API cudaError_t cudaBindTexture(size_t *offset, const struct textureReference *reference, const void *pointer,
                                const cudaChannelFormatDesc *desc, size_t bytes) {
    cudaResourceDesc resource;
    if (!reference || !pointer || !desc) return cudaErrorInvalidValue;
    if (offset) *offset = 0;
    memset(&resource, 0, sizeof resource);
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = (void *)(uintptr_t)pointer;
    resource.res.linear.desc = *desc;
    ENTER();
    resource.res.linear.sizeInBytes = bytes_there(pointer, bytes);
    return runtime_leave(bind(reference, &resource));
}
API cudaError_t cudaBindTexture2D(size_t *offset, const struct textureReference *reference, const void *pointer,
                                  const cudaChannelFormatDesc *desc, size_t width, size_t height, size_t pitch) {
    cudaResourceDesc resource;
    if (!reference || !pointer || !desc) return cudaErrorInvalidValue;
    if (offset) *offset = 0;
    memset(&resource, 0, sizeof resource);
    resource.resType = cudaResourceTypePitch2D;
    resource.res.pitch2D.devPtr = (void *)(uintptr_t)pointer;
    resource.res.pitch2D.desc = *desc;
    resource.res.pitch2D.width = width;
    resource.res.pitch2D.height = height;
    resource.res.pitch2D.pitchInBytes = pitch;
    ENTER();
    return runtime_leave(bind(reference, &resource));
}
API cudaError_t cudaBindTextureToArray(const struct textureReference *reference, cudaArray_const_t array,
                                       const cudaChannelFormatDesc *desc) {
    cudaResourceDesc resource;
    (void)desc;
    if (!reference || !array) return cudaErrorInvalidValue;
    memset(&resource, 0, sizeof resource);
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = (cudaArray_t)(uintptr_t)array;
    ENTER();
    return runtime_leave(bind(reference, &resource));
}
API cudaError_t cudaUnbindTexture(const struct textureReference *reference) {
    return reference ? cudaSuccess : cudaErrorInvalidTexture;
}
API cudaError_t cudaGetTextureAlignmentOffset(size_t *offset, const struct textureReference *reference) {
    if (!offset || !reference) return cudaErrorInvalidValue;
    *offset = 0;
    return cudaSuccess;
}
