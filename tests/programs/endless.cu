/*
 * endless.cu — what does not end by itself, for test_endless.c:
 *
 *   endless count     a kernel that writes for ever
 *   endless flag      one that waits for a flag, which the host would set after the launch
 *   endless streams   two in two streams, the first of which waits for the second
 *   endless blocks    so many short blocks that nobody lives to see the last
 *   endless host      no kernel: the host sleeps
 *   endless handler   the first, with a handler of the program's own that exits with 7
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

__global__ void twice(int *value) { *value *= 2; }

__global__ void count(int *counter)
{
    for (;;) atomicAdd(counter, 1); /* for ever */
}

__global__ void wait_for(const volatile int *flag)
{
    while (*flag == 0) continue; /* a spin */
}

__global__ void set(int *flag) { *flag = 1; }

static void handler(int) { _exit(7); }

static int spin(const char *how, int *memory)
{
    cudaStream_t one, two;
    cudaStreamCreate(&one);
    cudaStreamCreate(&two);
    if (strcmp(how, "handler") == 0) signal(SIGINT, handler);
    while (strcmp(how, "host") == 0) pause(); // which a signal ends
    if (strcmp(how, "count") == 0 || strcmp(how, "handler") == 0) count<<<1, 1>>>(memory);
    if (strcmp(how, "blocks") == 0) twice<<<2147483647, 1>>>(memory);
    if (strcmp(how, "flag") == 0) {
        int *flag;
        cudaMallocHost(&flag, sizeof *flag);
        *flag = 0;
        wait_for<<<1, 1>>>(flag);
        *(volatile int *)flag = 1;
    }
    if (strcmp(how, "streams") == 0) {
        cudaMemset(memory, 0, sizeof *memory);
        wait_for<<<1, 1, 0, one>>>(memory);
        set<<<1, 1, 0, two>>>(memory);
    }
    cudaError_t error = cudaDeviceSynchronize();
    printf("%s\n", cudaGetErrorName(error));
    return error != cudaSuccess;
}

int main(int count, char **words)
{
    int *memory;
    cudaMalloc(&memory, sizeof *memory);
    twice<<<1, 1>>>(memory);
    printf("begun\n");
    return spin(count > 1 ? words[1] : "count", memory);
}
