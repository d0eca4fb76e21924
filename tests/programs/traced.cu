/*
 * traced.cu — programs whose trace is to be kept, for test_files.c. Each kernel makes one store.
 *
 *   traced fork    a child, which exits, between two kernels
 *   traced fault   a kernel that stores to a null pointer, after one that does not
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

__global__ void set(int *value) { *value = 1; }

static void fork_a_child()
{
    pid_t child = fork();
    if (child == 0) exit(0);
    waitpid(child, NULL, 0);
}

int main(int argc, char **argv)
{
    int *memory;
    bool fault = argc > 1 && strcmp(argv[1], "fault") == 0;
    cudaMalloc(&memory, sizeof *memory);
    set<<<1, 1>>>(memory);
    if (!fault) fork_a_child();
    set<<<1, 1>>>(fault ? NULL : memory);
    cudaError_t error = cudaDeviceSynchronize();
    printf("%s\n", cudaGetErrorName(error));
    return error != cudaSuccess;
}
