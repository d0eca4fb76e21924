/* texture_turn.cu — an image turned by an angle: each thread reads the place in the original of its
 * pixel through a texture, which filters between pixels and is black outside. It also writes the
 * pixel to a surface. */
#include "check.cuh"

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

int main()
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
