/* textures.cu — what a GPU's texture unit reads, as raw bits, where no documentation says it: how
 * weights and sums of filters are rounded, how integers become fractions, and what stands where the
 * guide leaves a gap. A row has the name of a case and the words of all its reads, hexadecimal.
 * fidelity.py records the table. */
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

enum { MOST = 2048 };
enum kind { ONE, TWO, THREE, LAYERS, CUBE, FETCH, GATHER, CLAMP, ZERO };

#define CUDA(call)                                                                                 \
    do {                                                                                           \
        cudaError_t error_ = (call);                                                               \
        if (error_ == cudaSuccess) break;                                                          \
        fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorName(error_));                      \
        exit(1);                                                                                   \
    } while (0)

static __global__ void read(unsigned long long object, kind how, const float4 *in, float4 *out)
{
    float4 at = in[threadIdx.x + blockIdx.x * blockDim.x], value = {};
    switch (how) {
    case ONE: value = tex1D<float4>(object, at.x); break;
    case TWO: value = tex2D<float4>(object, at.x, at.y); break;
    case THREE: value = tex3D<float4>(object, at.x, at.y, at.z); break;
    case LAYERS: value = tex2DLayered<float4>(object, at.x, at.y, (int)at.z); break;
    case CUBE: value = texCubemap<float4>(object, at.x, at.y, at.z); break;
    case FETCH: value = tex1Dfetch<float4>(object, (int)at.x); break;
    case GATHER: value = tex2Dgather<float4>(object, at.x, at.y, 0); break;
    case CLAMP: surf2Dread(&value.x, object, (int)at.x, (int)at.y, cudaBoundaryModeClamp); break;
    case ZERO: surf2Dread(&value.x, object, (int)at.x, (int)at.y, cudaBoundaryModeZero); break;
    }
    out[threadIdx.x + blockIdx.x * blockDim.x] = value;
}

/* Reads `count` places and prints what stands there, in this number of words each. */
static void show(const char *name, unsigned long long object, kind how, const float4 *in, int count,
                 int words = 1)
{
    static float4 *coordinates, *values;
    static uint32_t out[MOST][4];
    if (coordinates == NULL) CUDA(cudaMalloc((void **)&coordinates, sizeof out));
    if (values == NULL) CUDA(cudaMalloc((void **)&values, sizeof out));
    CUDA(cudaMemset(coordinates, 0, sizeof out));
    CUDA(cudaMemcpy(coordinates, in, count * sizeof *in, cudaMemcpyHostToDevice));
    read<<<(count + 31) / 32, 32>>>(object, how, coordinates, values);
    CUDA(cudaGetLastError());
    CUDA(cudaMemcpy(out, values, count * sizeof *out, cudaMemcpyDeviceToHost));
    printf("%s", name);
    for (int i = 0; i < count; i++)
        for (int k = 0; k < words; k++) printf("%c%08x", i || k ? ' ' : ',', out[i][k]);
    printf("\n");
}

/* An array of these bytes, one after the other. */
static cudaResourceDesc array_of(const void *data, cudaChannelFormatDesc format, cudaExtent extent,
                                 unsigned flags)
{
    cudaResourceDesc resource = {};
    cudaMemcpy3DParms copy = {};
    size_t element = (format.x + format.y + format.z + format.w) / 8;
    size_t height = extent.height ? extent.height : 1, depth = extent.depth ? extent.depth : 1;
    resource.resType = cudaResourceTypeArray;
    CUDA(cudaMalloc3DArray(&resource.res.array.array, &format, extent, flags));
    copy.srcPtr = make_cudaPitchedPtr((void *)data, extent.width * element, extent.width, height);
    copy.dstArray = resource.res.array.array;
    copy.extent = make_cudaExtent(extent.width, height, depth);
    copy.kind = cudaMemcpyHostToDevice;
    CUDA(cudaMemcpy3D(&copy));
    return resource;
}

static cudaTextureObject_t texture_of(cudaResourceDesc resource, bool filters, bool normalized,
                                      cudaTextureAddressMode outside = cudaAddressModeClamp,
                                      bool fractions = false)
{
    cudaTextureObject_t texture;
    cudaTextureDesc d = {};
    for (int k = 0; k < 3; k++) d.addressMode[k] = outside;
    for (int k = 0; k < 4; k++) d.borderColor[k] = k + 0.25f;
    d.filterMode = filters ? cudaFilterModeLinear : cudaFilterModePoint;
    d.readMode = fractions ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
    d.normalizedCoords = normalized;
    CUDA(cudaCreateTextureObject(&texture, &resource, &d, NULL));
    return texture;
}

static float random_float(float from, float to)
{
    static uint64_t state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return from + (to - from) * (float)(state >> 40) / (1 << 24);
}

int main()
{
    printf("case,words\n");
    static float data[512];
    static uint16_t integers[256];
    static unsigned char bytes[256];
    static float4 in[MOST];
    const cudaChannelFormatDesc f32 = cudaCreateChannelDesc<float>();
    for (int i = 0; i < 512; i++) data[i] = random_float(-1, 1);
    for (int i = 0; i < 256; i++) integers[i] = 257 * i, bytes[i] = i;

    /* Between 0 and 256 the sum is the weight; the steps are an eighth of a weight's. */
    const float ramp[] = {0, 256, 256, 256};
    for (int i = 0; i < MOST; i++) in[i] = make_float4(0.5f + i / 2048.0f, 0, 0, 0);
    show("weight", texture_of(array_of(ramp, f32, {4, 0, 0}, 0), true, false), ONE, in, MOST);

    for (int i = 0; i < 256; i++)
        in[i] = make_float4(random_float(-2, 10), random_float(-2, 10), random_float(-2, 10), 0);
    cudaResourceDesc plane = array_of(data, f32, {8, 8, 0}, cudaArrayTextureGather);
    show("1d", texture_of(array_of(data, f32, {8, 0, 0}, 0), true, false), ONE, in, 256);
    show("2d", texture_of(plane, true, false), TWO, in, 256);
    show("2d border", texture_of(plane, true, false, cudaAddressModeBorder), TWO, in, 256);
    show("3d", texture_of(array_of(data, f32, {8, 8, 8}, 0), true, false), THREE, in, 256);
    show("layers", texture_of(array_of(data, f32, {8, 8, 4}, cudaArrayLayered), true, false),
         LAYERS, in, 256);
    show("gather", texture_of(plane, false, false), GATHER, in, 64, 4);

    for (int i = 0; i < 256; i++) in[i].x = i + 0.5f;
    cudaChannelFormatDesc u8 = cudaCreateChannelDesc<unsigned char>();
    cudaChannelFormatDesc s8 = cudaCreateChannelDesc<signed char>();
    cudaChannelFormatDesc u16 = cudaCreateChannelDesc<unsigned short>();
    for (int filters = 0; filters < 2; filters++) {
        const cudaChannelFormatDesc formats[] = {u8, s8, u16};
        const char *const names[][2] = {
            {"u8", "u8 filter"}, {"s8", "s8 filter"}, {"u16", "u16 filter"}};
        for (int k = 0; k < 3; k++)
            show(names[k][filters],
                 texture_of(array_of(k == 2 ? (void *)integers : bytes, formats[k], {256, 0, 0}, 0),
                            filters, false, cudaAddressModeClamp, true),
                 ONE, in, 256);
        for (int i = 0; i < 256; i++) in[i].x = i + 0.625f;
    }

    /* Places that wrap, those near the edges of elements, and those that are none. */
    for (int i = 0; i < 256; i++) in[i].x = in[i].y = random_float(-2, 3);
    for (int i = 0; i < 64; i++) in[i].x = nextafterf(i / 8.0f - 4, i % 2 ? 9 : -9);
    const float odd[] = {NAN, INFINITY, -INFINITY, 1e9f, -1e9f, 3e38f, -0.0f, 1e-40f};
    for (int i = 0; i < 8; i++) in[64 + i] = make_float4(odd[i], odd[i], odd[i], 0);
    show("wrap", texture_of(plane, false, true, cudaAddressModeWrap), TWO, in, 256);
    show("mirror", texture_of(plane, false, true, cudaAddressModeMirror), TWO, in, 256);
    show("wrap filter", texture_of(plane, true, true, cudaAddressModeWrap), TWO, in, 256);
    show("mirror filter", texture_of(plane, true, true, cudaAddressModeMirror), TWO, in, 256);

    for (int i = 0; i < 256; i++)
        in[i] = make_float4(i % 5 - 2, i / 5 % 5 - 2, i / 25 % 5 - 2.0f + (i > 125) * 0.125f, 0);
    cudaResourceDesc cube = array_of(data, f32, {8, 8, 6}, cudaArrayCubemap);
    show("cube", texture_of(cube, false, true), CUBE, in, 256);
    show("cube filter", texture_of(cube, true, true), CUBE, in, 256);

    /* Filters of other formats and values, at random places. */
    static uint32_t random_bits[512];
    const cudaChannelFormatDesc formats[] = {
        u8, s8, u16, cudaCreateChannelDesc<short>(), cudaCreateChannelDescHalf(), f32};
    const char *const names[] = {"u8 line",  "s8 line",  "u16 line",
                                 "s16 line", "f16 line", "f32 line"};
    for (int i = 0; i < 512; i++) random_bits[i] = (uint32_t)(random_float(0, 65536) * 65536);
    for (int i = 0; i < MOST; i++)
        in[i] = make_float4(random_float(0, 128), random_float(0, 8), random_float(0, 8), 0);
    for (int k = 0; k < 6; k++)
        show(names[k],
             texture_of(array_of(random_bits, formats[k], {128, 0, 0}, 0), true, false,
                        cudaAddressModeClamp, k < 4),
             ONE, in, 512);
    for (int i = 0; i < MOST; i++) in[i].x /= 16;
    show("u8 image",
         texture_of(array_of(random_bits, cudaCreateChannelDesc<uchar4>(), {8, 8, 0}, 0), true,
                    false, cudaAddressModeClamp, true),
         TWO, in, 512, 4);
    show("s8 solid",
         texture_of(array_of(random_bits, s8, {8, 8, 8}, 0), true, false, cudaAddressModeClamp,
                    true),
         THREE, in, 512);
    cudaResourceDesc solid = array_of(data, f32, {8, 8, 8}, 0);
    for (int i = 0; i < 512; i++) in[i].x = in[i].x * 3 - 8, in[i].y = in[i].y * 3 - 8;
    show("solid border", texture_of(solid, true, false, cudaAddressModeBorder), THREE, in, 512);
    for (int i = 0; i < 512; i++) in[i].x /= 8, in[i].y /= 8, in[i].z /= 8;
    show("solid mirror", texture_of(solid, true, true, cudaAddressModeMirror), THREE, in, 512);
    for (int i = 0; i < 512; i++) in[i].x += 0.5f, in[i].y += 0.5f, in[i].z -= 0.5f;
    show("directions", texture_of(cube, true, true), CUBE, in, 512);
    const float special[] = {1, NAN, 2, INFINITY, 4, -INFINITY, 8, 1e-45f};
    for (int i = 0; i < 64; i++) in[i].x = i / 8.0f;
    show("special", texture_of(array_of(special, f32, {8, 0, 0}, 0), true, false), ONE, in, 64);

    float *memory;
    cudaResourceDesc linear = {};
    CUDA(cudaMalloc((void **)&memory, 4096));
    CUDA(cudaMemcpy(memory, data, 2048, cudaMemcpyHostToDevice));
    linear.resType = cudaResourceTypeLinear;
    linear.res.linear.devPtr = memory;
    linear.res.linear.desc = f32;
    linear.res.linear.sizeInBytes = 1000;
    const float edges[] = {0, 249, 250, 251, -1, 1e9f};
    for (int i = 0; i < 6; i++) in[i].x = edges[i];
    show("fetch", texture_of(linear, false, false), FETCH, in, 6);

    cudaSurfaceObject_t surface;
    cudaResourceDesc drawn = array_of(data, f32, {8, 8, 0}, cudaArraySurfaceLoadStore);
    CUDA(cudaCreateSurfaceObject(&surface, &drawn));
    const float outside[][2] = {{-4, 0}, {32, 1}, {28, 9}, {8, -1}};
    for (int i = 0; i < 4; i++) in[i] = make_float4(outside[i][0], outside[i][1], 0, 0);
    show("surface clamp", surface, CLAMP, in, 4);
    show("surface zero", surface, ZERO, in, 4);

    /* Address modes at the edges of faces, and of a second axis that a line does not have. */
    const cudaTextureAddressMode wraps = cudaAddressModeWrap, borders = cudaAddressModeBorder;
    for (int i = 0; i < 512; i++)
        in[i] = make_float4(random_float(-1, 1), random_float(-1, 1), random_float(-1, 1), 0);
    show("cube wrap", texture_of(cube, true, true, wraps), CUBE, in, 256);
    show("cube mirror", texture_of(cube, true, true, cudaAddressModeMirror), CUBE, in, 256);
    show("cube border", texture_of(cube, true, true, borders), CUBE, in, 256);
    for (int i = 0; i < 512; i++) in[i].x = 6 * in[i].x + 4;
    show("line border", texture_of(array_of(data, f32, {8, 0, 0}, 0), true, false, borders), ONE,
         in, 256);

    /* What is gathered near the edges of elements, and from other formats. */
    show("gather wrap", texture_of(plane, false, true, wraps), GATHER, in, 64, 4);
    for (int i = 0; i < 256; i++)
        in[i] = make_float4(1 + (i % 32 - 16) / 4096.0f, 2.5f + i / 32 / 1024.0f, 0, 0);
    show("gather edges", texture_of(plane, false, false), GATHER, in, 256, 4);
    for (int i = 0; i < 256; i++) in[i] = make_float4(i % 16 + 1, i / 16 + 1, 0, 0);
    const char *const gathered[] = {"u8 gather",  "s8 gather",  "u16 gather",
                                    "s16 gather", "f16 gather", "f32 gather"};
    for (int k = 0; k < 6; k++)
        show(gathered[k],
             texture_of(array_of(k < 2 ? (void *)bytes : random_bits, formats[k], {16, 16, 0},
                                 cudaArrayTextureGather),
                        false, false, cudaAddressModeClamp, k < 4),
             GATHER, in, 256, 4);

    /* Infinities and NaNs, whose weights may be rounded to 0. */
    for (int i = 0; i < 64; i++) data[7 * i] = special[i % 8];
    for (int i = 0; i < 1024; i++)
        in[i] = make_float4(2.5f + i % 8 / 256.0f, i / 8 % 8 / 256.0f, i / 64 / 256.0f, 0);
    for (int i = 0; i < 1024; i++) in[i].y += i % 7 + 0.5f, in[i].z += i % 6 + 0.5f;
    show("special image", texture_of(array_of(data, f32, {8, 8, 0}, 0), true, false), TWO, in,
         512);
    show("special solid", texture_of(array_of(data, f32, {8, 8, 8}, 0), true, false), THREE, in,
         1024);
    return 0;
}
