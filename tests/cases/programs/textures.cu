/* textures.cu — textures, and boxes of tensors that are copied by tensor maps. */
#include "check.cuh"
#include <cooperative_groups.h>
#include <cstring>
#include <cuda.h>
#include <cuda/ptx>

/* An image turned by an angle: each thread reads the place in the original of its pixel through a
 * texture, which filters between pixels and is black outside. It also writes the pixel to a
 * surface. */
namespace texture_turn
{
static const int WIDTH = 96, HEIGHT = 64;

/* Where a pixel of the result comes from, in pixels of the original. */
static __global__ void places(float2 *from, float cosine, float sine)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= WIDTH || y >= HEIGHT) return;
    float u = x + 0.5f - WIDTH / 2, v = y + 0.5f - HEIGHT / 2;
    from[y * WIDTH + x] =
        make_float2(u * cosine - v * sine + WIDTH / 2, u * sine + v * cosine + HEIGHT / 2);
}

static __global__ void turn(cudaTextureObject_t image, const float2 *from, float *out,
                            cudaSurfaceObject_t copy)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= WIDTH || y >= HEIGHT) return;
    float2 place = from[y * WIDTH + x];
    float pixel = tex2D<float>(image, place.x, place.y);
    out[y * WIDTH + x] = pixel;
    surf2Dwrite(pixel, copy, x * (int)sizeof(float), y);
}

/* A pixel of the original, from 0 to 1; black outside. */
static double pixel(const std::vector<unsigned char> &image, int x, int y)
{
    bool outside = x < 0 || y < 0 || x >= WIDTH || y >= HEIGHT;
    return outside ? 0 : image[y * WIDTH + x] / 255.0;
}

/* The filter of the CUDA C++ Programming Guide, with weights in 256ths. */
static double filtered(const std::vector<unsigned char> &image, double u, double v)
{
    double left = floor(u - 0.5), top = floor(v - 0.5);
    double a = floor((u - 0.5 - left) * 256 + 0.5) / 256,
           b = floor((v - 0.5 - top) * 256 + 0.5) / 256;
    int x = (int)left, y = (int)top;
    return (1 - a) * (1 - b) * pixel(image, x, y) + a * (1 - b) * pixel(image, x + 1, y) +
           (1 - a) * b * pixel(image, x, y + 1) + a * b * pixel(image, x + 1, y + 1);
}

static cudaTextureObject_t texture_of(cudaArray_t array, cudaTextureReadMode read)
{
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc description = {};
    description.addressMode[0] = description.addressMode[1] = cudaAddressModeBorder;
    description.filterMode = cudaFilterModeLinear;
    description.readMode = read;
    cudaTextureObject_t texture;
    CUDA(cudaCreateTextureObject(&texture, &resource, &description, NULL));
    return texture;
}

static int run()
{
    const float ANGLE = 0.4f;
    std::vector<unsigned char> image = random_values<unsigned char>(WIDTH * HEIGHT, 256);
    cudaChannelFormatDesc bytes = cudaCreateChannelDesc<unsigned char>();
    cudaChannelFormatDesc floats = cudaCreateChannelDesc<float>();
    cudaArray_t array, copy;
    CUDA(cudaMallocArray(&array, &bytes, WIDTH, HEIGHT));
    CUDA(cudaMallocArray(&copy, &floats, WIDTH, HEIGHT, cudaArraySurfaceLoadStore));
    CUDA(cudaMemcpy2DToArray(array, 0, 0, image.data(), WIDTH, WIDTH, HEIGHT,
                             cudaMemcpyHostToDevice));
    cudaTextureObject_t texture = texture_of(array, cudaReadModeNormalizedFloat);
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = copy;
    cudaSurfaceObject_t surface;
    CUDA(cudaCreateSurfaceObject(&surface, &resource));

    float2 *from;
    float *out;
    CUDA(cudaMalloc((void **)&from, WIDTH * HEIGHT * sizeof *from));
    CUDA(cudaMalloc((void **)&out, WIDTH * HEIGHT * sizeof *out));
    dim3 block(16, 8), grid(blocks_for(WIDTH, 16), blocks_for(HEIGHT, 8));
    places<<<grid, block>>>(from, cosf(ANGLE), sinf(ANGLE));
    turn<<<grid, block>>>(texture, from, out, surface);
    CUDA_LAUNCHED();

    std::vector<float2> place(WIDTH * HEIGHT);
    std::vector<float> turned(WIDTH * HEIGHT), written(WIDTH * HEIGHT), expected(WIDTH * HEIGHT);
    CUDA(cudaMemcpy(place.data(), from, place.size() * sizeof(float2), cudaMemcpyDeviceToHost));
    CUDA(cudaMemcpy(turned.data(), out, turned.size() * sizeof(float), cudaMemcpyDeviceToHost));
    CUDA(cudaMemcpy2DFromArray(written.data(), WIDTH * sizeof(float), copy, 0, 0,
                               WIDTH * sizeof(float), HEIGHT, cudaMemcpyDeviceToHost));
    for (int i = 0; i < WIDTH * HEIGHT; i++)
        expected[i] = (float)filtered(image, place[i].x, place[i].y);
    /* A weight that is rounded the other way changes a pixel by up to a 256th in each axis. */
    expect_same("turned", turned.data(), expected.data(), turned.size(), 2.0 / 256);
    expect_same("written", written.data(), turned.data(), written.size());
    CUDA(cudaDestroyTextureObject(texture));
    CUDA(cudaDestroySurfaceObject(surface));
    CUDA(cudaFreeArray(array));
    CUDA(cudaFreeArray(copy));
    CUDA(cudaFree(from));
    CUDA(cudaFree(out));
    return right("an image turned through a texture");
}
} // namespace texture_turn

/* One thread has the box of a tensor copied into shared memory and back, by a tensor map: in 1 to 5
 * dimensions, across the tensor's edges, with each swizzle, to the blocks of a cluster, and
 * reductions. Boxes begin at multiples of 16 bytes, and those that are stored not below 0. Compute
 * capability 9.0. */
namespace tensor_maps
{
static const int THREADS = 128, MOST = 5, CLUSTER = 2;

/* The tensor, and the box that is copied; in shared memory each row has swizzle * 16 bytes, or any
 * number without a swizzle. */
struct shape {
    int rank, swizzle;
    int size[MOST], box[MOST], step[MOST], at[MOST];
    bool nan = false; /* what the load fills in, instead of 0 */
};
struct place {
    int at[MOST];
};
enum move { STORE, ADD, MAXIMUM, EXCLUSIVE_OR };

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
namespace ptx = cuda::ptx;
namespace cg = cooperative_groups;

extern __shared__ __align__(1024) unsigned char box[];

template <int R> struct coordinates {
    int32_t at[R];
    __device__ coordinates(const place &p)
    {
        for (int d = 0; d < R; d++) at[d] = p.at[d];
    }
};

static __device__ void multicast(void *to, const CUtensorMap *map, place p, uint64_t *full)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                 ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(
                     (unsigned)__cvta_generic_to_shared(to)),
                 "l"(map), "r"(p.at[0]), "r"(p.at[1]),
                 "r"((unsigned)__cvta_generic_to_shared(full)),
                 "h"((unsigned short)((1 << CLUSTER) - 1))
                 : "memory");
}

/* Copies a box into shared memory, and its bytes as they are there to `out`. R = 0: a box of two
 * dimensions, by the first block for its whole cluster. */
template <int R>
static __global__ void load(const __grid_constant__ CUtensorMap map, place p, unsigned bytes,
                            unsigned char *out)
{
    __shared__ uint64_t full;
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&full, 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
        asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
    }
    if constexpr (R == 0)
        cg::this_cluster().sync();
    else
        __syncthreads();
    if (threadIdx.x == 0) {
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full,
                                       bytes);
        if constexpr (R > 0)
            ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, box, &map,
                                      coordinates<R>(p).at, &full);
        else if (cg::this_cluster().block_rank() == 0)
            multicast(box, &map, p, &full);
    }
    while (!ptx::mbarrier_try_wait_parity(&full, 0)) continue;
    for (unsigned i = threadIdx.x; i < bytes; i += THREADS) out[blockIdx.x * bytes + i] = box[i];
}

/* Copies or reduces the bytes of `in` to the box. */
template <int R>
static __global__ void store(const __grid_constant__ CUtensorMap map, place p, unsigned bytes,
                             const unsigned char *in, move how)
{
    for (unsigned i = threadIdx.x; i < bytes; i += THREADS) box[i] = in[i];
    ptx::fence_proxy_async(ptx::space_shared); /* our writes before the copy's reads */
    __syncthreads();
    if (threadIdx.x != 0) return;
    coordinates<R> c(p);
    if (how == STORE)
        ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &map, c.at, box);
    else if (how == ADD)
        ptx::cp_reduce_async_bulk_tensor(ptx::space_global, ptx::space_shared, ptx::op_add, &map,
                                         c.at, box);
    else if (how == MAXIMUM)
        ptx::cp_reduce_async_bulk_tensor(ptx::space_global, ptx::space_shared, ptx::op_max, &map,
                                         c.at, box);
    else
        ptx::cp_reduce_async_bulk_tensor(ptx::space_global, ptx::space_shared, ptx::op_xor_op, &map,
                                         c.at, box);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
    for (unsigned i = 0; i < bytes; i++) box[i] = 0; /* the copy has read it */
}
#else
template <int R>
static __global__ void load(const __grid_constant__ CUtensorMap, place, unsigned, unsigned char *)
{
}
template <int R>
static __global__ void store(const __grid_constant__ CUtensorMap, place, unsigned,
                             const unsigned char *, move)
{
}
#endif

template <typename T> static CUtensorMapDataType type_of();
template <> CUtensorMapDataType type_of<unsigned char>() { return CU_TENSOR_MAP_DATA_TYPE_UINT8; }
template <> CUtensorMapDataType type_of<short>() { return CU_TENSOR_MAP_DATA_TYPE_UINT16; }
template <> CUtensorMapDataType type_of<int>() { return CU_TENSOR_MAP_DATA_TYPE_INT32; }
template <> CUtensorMapDataType type_of<float>() { return CU_TENSOR_MAP_DATA_TYPE_FLOAT32; }
template <> CUtensorMapDataType type_of<double>() { return CU_TENSOR_MAP_DATA_TYPE_FLOAT64; }

/* A tensor in device memory and in host memory: its rows begin at multiples of 16 bytes. */
template <typename T> struct tensor {
    shape s;
    cuuint64_t stride[MOST]; /* elements */
    size_t elements = 1;     /* with the ends of rows */
    int count[MOST], box_elements = 1;
    std::vector<T> values;
    T *device;
    CUtensorMap map;

    tensor(const shape &s) : s(s)
    {
        for (int d = 0; d < s.rank; d++) {
            stride[d] = elements;
            elements *= s.size[d];
            if (d == 0) elements = (elements * sizeof(T) + 15) / 16 * 16 / sizeof(T);
            count[d] = (s.box[d] + s.step[d] - 1) / s.step[d];
            box_elements *= count[d];
        }
        values = random_values<T>(elements, 100);
        device = device_copy(values);
        encode();
    }

    void encode()
    {
        cuuint64_t size[MOST], bytes[MOST];
        cuuint32_t box[MOST], step[MOST];
        for (int d = 0; d < s.rank; d++) {
            size[d] = s.size[d], box[d] = s.box[d], step[d] = s.step[d];
            if (d > 0) bytes[d - 1] = stride[d] * sizeof(T);
        }
        decltype(&cuTensorMapEncodeTiled) function;
        cudaDriverEntryPointQueryResult result;
        CUDA(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", (void **)&function, 12000,
                                              cudaEnableDefault, &result));
        EXPECT(result == cudaDriverEntryPointSuccess);
        int swizzle = s.swizzle == 0 ? 0 : s.swizzle == 2 ? 1 : s.swizzle == 4 ? 2 : 3;
        EXPECT(function(&map, type_of<T>(), s.rank, device, size, bytes, box, step,
                        CU_TENSOR_MAP_INTERLEAVE_NONE, (CUtensorMapSwizzle)swizzle,
                        CU_TENSOR_MAP_L2_PROMOTION_NONE,
                        (CUtensorMapFloatOOBfill)s.nan) == CUDA_SUCCESS);
    }

    /* Where the k-th element of the box is in the tensor; -1: it is outside. What is stored
     * reaches to the end of a row's last 16 bytes. */
    long long place_of(int k, bool stored) const
    {
        const int per_unit = 16 / sizeof(T);
        long long place = 0;
        for (int d = 0; d < s.rank; k /= count[d++]) {
            int index = s.at[d] + k % count[d] * s.step[d], end = s.size[d];
            if (d == 0 && stored) end = (end + per_unit - 1) / per_unit * per_unit;
            if (index < 0 || index >= end) return -1;
            place += index * (long long)stride[d];
        }
        return place;
    }

    /* Where it is in shared memory. Units of 16 bytes change places with others of their row, or
     * of the rows that share 128 bytes. */
    int shared_place_of(int k) const
    {
        int per_unit = 16 / sizeof(T), unit = k / per_unit;
        if (s.swizzle == 0) return k;
        int row = unit / s.swizzle, rows_a_line = 8 / s.swizzle;
        unit ^= row / rows_a_line % s.swizzle;
        return unit * per_unit + k % per_unit;
    }
};

template <typename T, int R> static void check_load(const char *what, const shape &s)
{
    tensor<T> t(s);
    const int copies = R == 0 ? CLUSTER : 1, n = t.box_elements;
    T *out = device_array<T>(copies * n);
    place p;
    memcpy(p.at, s.at, sizeof p.at);
    cudaLaunchAttribute cluster;
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = copies, cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = copies, config.blockDim = THREADS, config.dynamicSmemBytes = n * sizeof(T);
    config.attrs = &cluster, config.numAttrs = 1;
    CUDA(cudaLaunchKernelEx(&config, load<R>, t.map, p, (unsigned)(n * sizeof(T)),
                            (unsigned char *)out));
    CUDA_LAUNCHED();
    std::vector<T> got = host_copy(out, copies * n);
    for (int k = 0; k < copies * n; k++) {
        long long from = t.place_of(k % n, false);
        T value = got[k / n * n + t.shared_place_of(k % n)];
        bool same = from >= 0 ? value == t.values[from] : s.nan ? value != value : value == T();
        if (same) continue;
        printf("%s: element %d of the box is %g\n", what, k, (double)value);
        exit(EXIT_WRONG);
    }
}

template <typename T, int R> static void check_store(const char *what, const shape &s, move how)
{
    tensor<T> t(s);
    std::vector<T> in = random_values<T>(t.box_elements, 100), expected = t.values;
    for (int k = 0; k < t.box_elements; k++) {
        long long to = t.place_of(k, true);
        if (to < 0) continue;
        T value = in[t.shared_place_of(k)], old = expected[to];
        expected[to] = how == STORE     ? value
                       : how == ADD     ? old + value
                       : how == MAXIMUM ? (value > old ? value : old)
                                        : (T)((long long)old ^ (long long)value);
    }
    place p;
    memcpy(p.at, s.at, sizeof p.at);
    unsigned bytes = t.box_elements * sizeof(T);
    store<R><<<1, THREADS, bytes>>>(t.map, p, bytes, (unsigned char *)device_copy(in), how);
    CUDA_LAUNCHED();
    expect_same(what, host_copy(t.device, t.elements), expected);
}

static int run()
{
    need_capability(9, 0);
    const shape line = {1, 0, {1000}, {256}, {1}, {800}};
    const shape corner = {2, 0, {37, 21}, {16, 8}, {1, 1}, {-4, -2}};
    const shape edge = {2, 0, {37, 21}, {16, 8}, {1, 1}, {28, 17}};
    const shape outside = {2, 0, {37, 21}, {16, 8}, {1, 1}, {40, 0}};
    const shape gaps = {3, 0, {20, 9, 7}, {8, 6, 5}, {1, 2, 3}, {16, 2, 1}};
    const shape four = {4, 0, {20, 5, 4, 3}, {8, 3, 2, 2}, {1, 1, 1, 1}, {16, -1, 3, 1}};
    const shape five = {5, 0, {12, 5, 4, 3, 3}, {4, 3, 2, 2, 2}, {1, 1, 1, 1, 1}, {4, 3, 1, 2, -1}};
    const shape last = {5, 0, {10, 5, 4, 3, 3}, {4, 3, 2, 2, 2}, {1, 1, 1, 1, 1}, {8, 3, 1, 2, 2}};
    const shape with_nan = {2, 0, {37, 21}, {16, 8}, {1, 1}, {28, 17}, true};
    check_load<unsigned char, 1>("a line", line);
    check_load<int, 2>("a corner", corner);
    check_load<double, 2>("an edge", edge);
    check_load<int, 2>("outside", outside);
    check_load<short, 3>("gaps", gaps);
    check_load<int, 4>("four", four);
    check_load<float, 5>("five", five);
    check_load<float, 2>("NaN", with_nan);
    for (int units = 2; units <= 8; units *= 2) {
        shape swizzled = {2, units, {70, 40}, {4 * units, 32}, {1, 1}, {4, 15}};
        check_load<int, 2>("a swizzle", swizzled);
        check_store<int, 2>("a swizzled store", swizzled, STORE);
        swizzled.at[0] = 64;
        check_load<int, 2>("a swizzle at the edge", swizzled);
    }
    check_load<int, 0>("a cluster", corner);
    check_store<unsigned char, 1>("a stored line", line, STORE);
    check_store<int, 2>("a stored edge", edge, STORE);
    check_store<int, 2>("nothing stored", outside, STORE);
    check_store<short, 3>("stored gaps", gaps, STORE);
    check_store<float, 5>("stored five", last, STORE);
    check_store<float, 2>("sums", edge, ADD);
    check_store<int, 2>("maxima", edge, MAXIMUM);
    check_store<int, 2>("parities", edge, EXCLUSIVE_OR);
    return right("boxes of tensors in 1 to 5 dimensions, in and out");
}
} // namespace tensor_maps

PROGRAMS({"texture_turn", texture_turn::run}, {"tensor_maps", tensor_maps::run})
