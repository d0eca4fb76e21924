/* votes.cu — votes of a warp's lanes: any, all, ballot, match; also of the lanes that remain active
 * when others take another branch. */
#include "check.cuh"

static const unsigned ALL = 0xffffffff;

struct answers {
    int any, all;
    unsigned ballot, match_any, match_all, active, among_odd;
    int count_before, all_same;
};

static __global__ void ask(answers *out, const int *value)
{
    int lane = threadIdx.x % 32;
    int mine = value[threadIdx.x];
    answers a;
    a.any = __any_sync(ALL, mine > 90);
    a.all = __all_sync(ALL, mine < 90);
    a.ballot = __ballot_sync(ALL, mine % 3 == 0);
    a.match_any = __match_any_sync(ALL, mine % 5);
    a.match_all = __match_all_sync(ALL, mine / 100, &a.all_same);
    a.count_before = __popc(a.ballot & ((1u << lane) - 1));
    a.active = ALL;
    a.among_odd = 0;
    if (lane & 1) {
        a.active = __activemask();
        a.among_odd = __ballot_sync(0xaaaaaaaa, mine > 50);
    }
    out[threadIdx.x] = a;
}

int main()
{
    const int N = 256;
    std::vector<int> value = random_values<int>(N, 100);
    value[40] = 100; /* one warp does not agree */
    answers *device = device_array<answers>(N);
    ask<<<1, N>>>(device, device_copy(value));
    CUDA_LAUNCHED();
    std::vector<answers> got = host_copy(device, N);

    for (int i = 0; i < N; i++) {
        answers e = {0, 1, 0, 0, ALL, 0, 0, 0, 1};
        for (int lane = 0, first = i / 32 * 32; lane < 32; lane++) {
            int v = value[first + lane];
            e.any |= v > 90;
            e.all &= v < 90;
            e.ballot |= (v % 3 == 0 ? 1u : 0) << lane;
            e.match_any |= (v % 5 == value[i] % 5 ? 1u : 0) << lane;
            e.all_same &= v / 100 == value[first] / 100;
            e.among_odd |= (i & lane & 1 && v > 50 ? 1u : 0) << lane;
        }
        for (int lane = 0; lane < i % 32; lane++) e.count_before += e.ballot >> lane & 1;
        EXPECT(!got[i].any == !e.any && !got[i].all == !e.all);
        EXPECT(got[i].ballot == e.ballot && got[i].count_before == e.count_before);
        EXPECT(got[i].match_any == e.match_any);
        EXPECT(!got[i].all_same == !e.all_same);
        EXPECT(got[i].match_all == (e.all_same ? ALL : 0));
        EXPECT(got[i].among_odd == e.among_odd);
        EXPECT(got[i].active >> i % 32 & 1); /* the other active lanes are not defined */
    }
    return right("votes of %d lanes", N);
}
