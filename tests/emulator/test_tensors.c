/*
 * test_tensors.c — bulk copies of tensors: what is said to programs that use them wrongly, and what
 * the checkers find. That the right bytes are copied is tested by programs/tensor_maps.cu.
 */
#include "tests/support/command.h"
#include "tests/support/cudart_check.h"

#include <cuda.h>
#include <stdio.h>
#include <string.h>

TestSuite(tensors, .init = command_init, .fini = command_fini, .timeout = 120);

/* Every form of a copy, checked by every tool. */
Test(tensors, right_programs_have_no_findings_slow)
{
    expect_status(0, "$emu --tool all --error-exitcode 9 $p/../emulator/programs/O3/tensor_maps "
                     "2>&1");
    expect("ERROR SUMMARY: 0 errors\n");
    expect(": right\n");
    expect_status(0, "$emu --tool all --error-exitcode 9 $p/tensors right 2>&1");
    expect("ERROR SUMMARY: 0 errors\n");
    expect("right: cudaSuccess, 1\n");
    expect_status(0, "$emu --tool all --error-exitcode 9 $p/tensors before 2>&1");
    expect("ERROR SUMMARY: 0 errors\n");
    expect("before: cudaSuccess, 1\n");
    expect_status(0, "$emu $p/tensors right 2>&1");
    expect("; approximate for bulk copies of tensors (sm_90)\n");
}

#define BETWEEN                                                                                    \
    "the box of a tensor begins at coordinate 2 of dimension 0, which is not a multiple of 16 "    \
    "bytes; begin boxes at multiples of 4 elements, at "
#define BEFORE                                                                                     \
    "a bulk copy to a tensor begins at coordinate -1 of dimension 1, and only loads may begin "    \
    "below 0; begin at 0, by a map with a smaller box if need be, at "
static const struct {
    const char *way, *error, *says;
} wrong[] = {
    {"unaligned", "MisalignedAddress", "shared address 0x10 is not a multiple of 128"},
    {"large", "IllegalAddress", "2048 bytes at shared address 0x0 are out of bounds"},
    {"zeros", "IllegalInstruction", "are no tensor map that cuTensorMapEncodeTiled has made"},
    {"unwritten", "IllegalInstruction", "are no tensor map that cuTensorMapEncodeTiled has made"},
    {"local", "IllegalAddress", "a tensor map is in .local memory; it can be a "},
    {"rank", "IllegalInstruction", "is for 2 dimensions, and the instruction for 1"},
    {"outside", "IllegalAddress", "a bulk copy of a tensor accesses global address 0x"},
    {"narrow", "IllegalAddress", "); stores and reductions write whole units of 16 bytes"},
    {"between", "IllegalInstruction", BETWEEN},
    {"stored-between", "IllegalInstruction", BETWEEN},
    {"added-between", "IllegalInstruction", BETWEEN},
    {"stored-before", "IllegalInstruction", BEFORE},
    {"added-before", "IllegalInstruction", BEFORE},
    {"ahead-between", "IllegalInstruction", BETWEEN},
};

Test(tensors, wrong_copies_are_told)
{
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        char line[100];
        expect_status(0, "$emu --log-file /dev/null $p/tensors %s 2>&1", wrong[k].way);
        snprintf(line, sizeof line, "%s: cudaError%s, 0\n", wrong[k].way, wrong[k].error);
        expect(line);
        expect(wrong[k].says);
        expect("in kernel add");
    }
}

static void finds(const char *tool, const char *way, const char *says)
{
    expect_status(9, "$emu --tool %s --error-exitcode 9 $p/tensors %s 2>&1", tool, way);
    expect(says);
}

Test(tensors, the_checkers_see_the_elements_of_a_box)
{
    finds("memcheck", "narrow", "stores and reductions write whole units of 16 bytes");
    finds("initcheck", "fresh", "Uninitialized __global__ memory read of size 16 bytes");
    finds("initcheck", "unwritten", "Uninitialized __global__ memory read of size 16 bytes");
    finds("racecheck", "early", "No wait for that copy");
    finds("racecheck", "unfenced", "is a fence.proxy.async missing between");
}

/* ---- encoding -------------------------------------------------------------------------------- */

/* The arguments of cuTensorMapEncodeTiled. */
struct request {
    CUtensorMap map[2];
    size_t shift; /* of the map's address */
    int type;
    cuuint32_t rank;
    char *address;
    cuuint64_t size[5], stride[4];
    cuuint32_t box[5], step[5];
    int interleave, swizzle, promotion, fill;
};

static CUresult encode(struct request *r)
{
    return cuTensorMapEncodeTiled((CUtensorMap *)((char *)r->map + r->shift), r->type, r->rank,
                                  r->address, r->size, r->stride, r->box, r->step, r->interleave,
                                  r->swizzle, r->promotion, r->fill);
}

/* Changes a right request, which must give this error. */
#define REQUEST(change, error)                                                                     \
    do {                                                                                           \
        struct request r = good;                                                                   \
        change;                                                                                    \
        CUresult got = encode(&r);                                                                 \
        cr_expect(got == CUDA_##error, "%s: error %d", #change, (int)got);                         \
    } while (0)

/* cuda.h's contract, and what the emulator leaves out. */
Test(tensors, wrong_maps_are_refused)
{
    static struct request good = {.type = CU_TENSOR_MAP_DATA_TYPE_INT32,
                                  .rank = 2,
                                  .size = {32, 8},
                                  .stride = {128},
                                  .box = {32, 8},
                                  .step = {1, 1},
                                  .swizzle = CU_TENSOR_MAP_SWIZZLE_128B};
    good.address = device_memory(1024);
    cr_redirect_stderr();
    REQUEST((void)r, SUCCESS);
    REQUEST(r.size[1] = 1ull << 32, SUCCESS);
    REQUEST(r.step[0] = 9, SUCCESS);
    REQUEST(r.shift = 16, ERROR_INVALID_VALUE);
    REQUEST(r.type = 99, ERROR_INVALID_VALUE);
    REQUEST(r.rank = 0, ERROR_INVALID_VALUE);
    REQUEST(r.rank = 6, ERROR_INVALID_VALUE);
    REQUEST(r.address += 8, ERROR_INVALID_VALUE);
    REQUEST(r.size[1] = 0, ERROR_INVALID_VALUE);
    REQUEST(r.size[1] = (1ull << 32) + 1, ERROR_INVALID_VALUE);
    REQUEST(r.stride[0] += 8, ERROR_INVALID_VALUE);
    REQUEST(r.stride[0] = 1ull << 40, ERROR_INVALID_VALUE);
    REQUEST(r.box[1] = 0, ERROR_INVALID_VALUE);
    REQUEST(r.box[1] = 257, ERROR_INVALID_VALUE);
    REQUEST(r.box[0] = 3, ERROR_INVALID_VALUE);
    REQUEST(r.step[1] = 0, ERROR_INVALID_VALUE);
    REQUEST(r.step[1] = 9, ERROR_INVALID_VALUE);
    REQUEST(r.interleave = 3, ERROR_INVALID_VALUE);
    REQUEST(r.swizzle = CU_TENSOR_MAP_SWIZZLE_64B, ERROR_INVALID_VALUE);
    REQUEST(r.swizzle = 7, ERROR_INVALID_VALUE);
    REQUEST(r.promotion = 4, ERROR_INVALID_VALUE);
    REQUEST(r.fill = 1, ERROR_INVALID_VALUE);
    REQUEST(r.interleave = CU_TENSOR_MAP_INTERLEAVE_16B, ERROR_NOT_SUPPORTED);
    REQUEST(r.swizzle = CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B, ERROR_NOT_SUPPORTED);
    REQUEST(r.type = CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B, ERROR_NOT_SUPPORTED);
    cr_expect(cuTensorMapReplaceAddress(good.map, good.address) == CUDA_ERROR_INVALID_VALUE);
    cr_expect(encode(&good) == CUDA_SUCCESS);
    cr_expect(cuTensorMapReplaceAddress(good.map, good.address + 8) == CUDA_ERROR_INVALID_VALUE);
    cr_expect(cuTensorMapReplaceAddress(good.map, good.address + 16) == CUDA_SUCCESS);
    const char *text = read_stderr();
    cr_expect(strstr(text, "emu: a tensor map: boxDim[1] is 257; it can be 1 to 256\n"));
    cr_expect(strstr(text, "makes rows of 128 bytes, and the swizzle is for up to 64\n"));
    cr_expect(strstr(text, "emu: a tensor map with an interleaved layout is not supported"));
}
