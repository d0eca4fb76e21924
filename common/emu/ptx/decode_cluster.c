/* decode_cluster.c — decodes the instructions for blocks of a cluster. */
#include "warp_ops.h"
#include "decode_words.h"
#include "operations.h"
#include <string.h>

/* barrier.cluster.arrive{.release|.relaxed}{.aligned}; barrier.cluster.wait{.acquire}{.aligned} */
void decode_cluster_barrier(struct decoder *d, const struct ptx_instruction *source, struct insn *i)
{
    static const char *const dropped[] = {"cluster", "aligned", "release",
                                          "relaxed", "acquire", NULL};
    struct words words = all_words(source);
    drop_words(&words, dropped);
    bool arrive = take_word(&words, "arrive"), wait = take_word(&words, "wait");
    refuse_rest(d, &words);
    need_operands(d, source, 0, 0);
    if (arrive == wait)
        decode_fail(d, EMU_INVALID_PTX, "a barrier.cluster is either .arrive or .wait");
    i->tally = TALLY_BARRIER;
    if (arrive) {
        i->order = has_word(source, "relaxed") ? 0 : ORDER_RELEASE;
        i->fn = op_cluster_arrive;
        return;
    }
    i->control = CONTROL_WAIT_CLUSTER;
}

/* mapa{.shared::cluster}.type d, address, rank; getctarank{.shared::cluster}.type d, address; */
void decode_cluster_address(struct decoder *d, const struct ptx_instruction *source, struct insn *i)
{
    static const char *const dropped[] = {"shared::cluster", NULL};
    struct words words = all_words(source);
    bool map = !strcmp(source->words[0], "mapa");
    drop_words(&words, dropped);
    enum ptx_type type = take_type(&words);
    refuse_rest(d, &words);
    need_operands(d, source, map ? 3 : 2, map ? 3 : 2);
    if (type != PTX_U32 && type != PTX_U64)
        decode_fail(d, EMU_INVALID_PTX, "it is for .u32 and .u64");
    i->lane_bytes = (uint8_t)ptx_type_size(type);
    i->d = destination_slot(d, &source->operands[0], map ? i->lane_bytes : 4);
    i->a = source_slot(d, &source->operands[1], i->lane_bytes);
    if (map) i->b = source_slot(d, &source->operands[2], 4);
    i->fn = map ? op_mapa : op_getctarank;
}
