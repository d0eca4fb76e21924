/* driver_memory.cu — the driver API: memory of devices and of the host, pools, copies, fills, and
 * what is known of pointers. */
#include "driver.cuh"

enum { WIDTH = 12, HEIGHT = 5 };

static void check_fills(CUdeviceptr p)
{
    CU(cuMemsetD8(p, 1, 64));
    CU(cuMemsetD16Async(p, 0x0202, 8, NULL));
    CU(cuMemsetD32(p + 32, 0x03030303, 2));
    CU(cuMemsetD2D32(p, 32, 7, 1, 2));
    std::vector<int> got = host_ints(p, 16);
    const int expected[16] = {
        7, 0x02020202, 0x02020202, 0x02020202, 0x01010101, 0x01010101, 0x01010101, 0x01010101,
        7, 0x03030303, 0x01010101, 0x01010101, 0x01010101, 0x01010101, 0x01010101, 0x01010101};
    expect_same("fill", got.data(), expected, 16);
}

/* A picture in pitched memory, to it by rows and back as one copy in three dimensions. */
static void check_rows(void)
{
    CUdeviceptr p;
    size_t pitch;
    std::vector<int> in = random_values<int>(WIDTH * HEIGHT, 1000), out(WIDTH * HEIGHT);
    CU(cuMemAllocPitch(&p, &pitch, WIDTH * sizeof(int), HEIGHT, 4));
    EXPECT(pitch >= WIDTH * sizeof(int));
    CUDA_MEMCPY2D rows;
    memset(&rows, 0, sizeof rows);
    rows.srcMemoryType = CU_MEMORYTYPE_HOST;
    rows.srcHost = in.data();
    rows.srcPitch = WIDTH * sizeof(int);
    rows.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    rows.dstDevice = p;
    rows.dstPitch = pitch;
    rows.WidthInBytes = WIDTH * sizeof(int);
    rows.Height = HEIGHT;
    CU(cuMemcpy2D(&rows));
    CUDA_MEMCPY3D box;
    memset(&box, 0, sizeof box);
    box.srcMemoryType = CU_MEMORYTYPE_UNIFIED;
    box.srcDevice = p;
    box.srcPitch = pitch;
    box.srcHeight = HEIGHT;
    box.srcXInBytes = sizeof(int);
    box.srcY = 1;
    box.dstMemoryType = CU_MEMORYTYPE_HOST;
    box.dstHost = out.data();
    box.dstPitch = WIDTH * sizeof(int);
    box.dstHeight = HEIGHT;
    box.WidthInBytes = (WIDTH - 1) * sizeof(int);
    box.Height = HEIGHT - 1;
    box.Depth = 1;
    CU(cuMemcpy3D(&box));
    for (int y = 0; y < HEIGHT - 1; y++)
        for (int x = 0; x < WIDTH - 1; x++)
            EXPECT(out[y * WIDTH + x] == in[(y + 1) * WIDTH + x + 1]);
    CU(cuMemFree(p));
}

static unsigned type_of(CUdeviceptr p)
{
    unsigned type = 0;
    CU(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p));
    return type;
}

static void check_pointers(const Driver &driver, CUdeviceptr p)
{
    CUdeviceptr begin, host_on_device, managed;
    CUcontext context;
    size_t size;
    unsigned is_managed = 0, type = 9;
    int ordinal = 9;
    void *pinned;
    int on_stack = 0;
    CU(cuMemGetAddressRange(&begin, &size, p + 8));
    EXPECT(begin == p && size == 4096);
    CU(cuPointerGetAttribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, p + 8));
    EXPECT(context == driver.context && type_of(p) == CU_MEMORYTYPE_DEVICE);
    CU(cuMemHostAlloc(&pinned, 64, CU_MEMHOSTALLOC_DEVICEMAP));
    CU(cuMemHostGetDevicePointer(&host_on_device, pinned, 0));
    EXPECT(type_of(host_on_device) == CU_MEMORYTYPE_HOST);
    CU(cuMemAllocManaged(&managed, 64, CU_MEM_ATTACH_GLOBAL));
    *(int *)managed = 5;
    CU(cuPointerGetAttribute(&is_managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, managed));
    EXPECT(is_managed && type_of(managed) == CU_MEMORYTYPE_DEVICE);
    CU(cuMemcpy(p, managed, sizeof(int)));
    EXPECT(host_ints(p, 1)[0] == 5);

    CUpointer_attribute asked[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                   CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
    void *answers[] = {&type, &ordinal};
    CU(cuPointerGetAttributes(2, asked, answers, (CUdeviceptr)&on_stack));
    EXPECT(type == 0 && ordinal == -2);
    CU(cuMemFree(managed));
    CU(cuMemFreeHost(pinned));
}

static void check_pools(const Driver &driver)
{
    CUmemPoolProps properties;
    CUmemoryPool pool;
    CUdeviceptr p, q;
    cuuint64_t used;
    memset(&properties, 0, sizeof properties);
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    properties.location.id = driver.device;
    CU(cuMemPoolCreate(&pool, &properties));
    CU(cuMemAllocFromPoolAsync(&p, 1000, pool, NULL));
    CU(cuMemAllocAsync(&q, 1000, NULL));
    CU(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
    EXPECT(used >= 1000);
    CU(cuMemFreeAsync(p, NULL));
    CU(cuMemFreeAsync(q, NULL));
    CU(cuStreamSynchronize(NULL));
    CU(cuMemPoolDestroy(pool));
}

int main()
{
    Driver driver;
    CUdeviceptr p;
    size_t left, total;
    CU(cuMemAlloc(&p, 4096));
    CU(cuMemGetInfo(&left, &total));
    EXPECT(left < total);
    check_fills(p);
    check_rows();
    check_pointers(driver, p);
    check_pools(driver);
    CU(cuMemFree(p));
    CU(cuCtxDestroy(driver.context));
    return right("driver: memory, pools, copies, fills, pointers");
}
