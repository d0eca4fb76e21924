/*
 * one-wins: several threads write the same word.
 *
 * What it shows: afterwards the word holds one of the written values, unmixed; which one is not
 * defined. The lanes of a warp, the warps of a block and the blocks of a grid write their number,
 * 100 times, and the program counts whose number remained. The result depends on the machine.
 * From: lecture (CS 380, lecture 25), "If multiple threads in a warp write to the same address".
 * How to run it: make experiment-00-one-wins
 *                build/emu/emu --schedule 7 build/experiments/00-one-wins   (another order)
 */
#include "common/experiment/experiment.h"

#define WARP    32
#define WRITERS 32
#define TRIES   100

static __global__ void lanes(int *word) { *word = threadIdx.x; }

static __global__ void warps(int *word)
{
    if (threadIdx.x % WARP == 0) *word = threadIdx.x / WARP;
}

static __global__ void blocks(int *word) { *word = blockIdx.x; }

static const struct {
    const char *name;
    void (*run)(int *);
    int grid, block;
} groups[] = {{"lanes", lanes, 1, WRITERS},
              {"warps", warps, 1, WRITERS *WARP},
              {"blocks", blocks, WRITERS, 1}};

static int run(struct experiment *e, struct fault *fault)
{
    e->lesson = "one of the written values remains, whole; another schedule picks another one.";
    int *word;
    CUDA_CHECK(fault, cudaMalloc(&word, sizeof *word));
    for (auto &group : groups) {
        int wins[WRITERS] = {}, different = 0, often = 0;
        for (int i = 0; i < TRIES; i++) {
            int winner;
            CUDA_CHECK(fault, cudaMemset(word, 0xff, sizeof *word));
            group.run<<<group.grid, group.block>>>(word);
            CUDA_CHECK(fault, cudaGetLastError());
            CUDA_CHECK(fault, cudaMemcpy(&winner, word, sizeof winner, cudaMemcpyDeviceToHost));
            if (winner < 0 || winner >= WRITERS)
                return fail(fault, EXIT_WRONG, "%s: %d is there, which no lane wrote.", group.name,
                            winner);
            wins[winner]++;
        }
        for (int i = 0; i < WRITERS; i++) {
            different += wins[i] > 0;
            if (wins[i] > wins[often]) often = i;
        }
        experiment_at(e, group.name, "%d", WRITERS);
        experiment_value(e, "different_winners", different, "");
        experiment_value(e, "most_often", often, "");
        experiment_value(e, "wins_of_that", wins[often], "");
    }
    CUDA_CHECK(fault, cudaFree(word));
    return 0;
}

int main(int argc, char **argv)
{
    return experiment_main("00-one-wins", "Several threads write one word: which value remains?",
                           run, argc, argv);
}
