/* device_printf.cu — printf in kernels. The program catches its own output and compares it; lines
 * of different threads may come in any order. */
#include "check.cuh"
#include <algorithm>
#include <cstring>
#include <string>
#include <unistd.h>

static __global__ void one_thread(const char *word)
{
    printf("no arguments, 100%%\n");
    printf("%d %5d|%-5d|%05d %+d %u\n", -42, 42, 42, 42, 42, 4000000000u);
    printf("%x %X %#x %o %c %s\n", 255u, 255u, 255u, 8u, 'c', "text");
    printf("%lld %llu %hd %ld\n", -5000000000ll, 18446744073709551615ull, (short)-7, 8l);
    printf("%f %.3f %8.2f %e %g %G\n", 1.5f, 2.0 / 3, 3.14159, 12345.678, 0.0001, 1e20);
    printf("%s %.2s %*d\n", word, "abcdef", 6, 7);
    int printed = printf("%d %d %d %d %d %d %d %d %d\n", 1, 2, 3, 4, 5, 6, 7, 8, 9);
    printf("%d\n", printed); /* the number of arguments, not of characters */
}

static __global__ void many_threads()
{
    if (threadIdx.x % 16 == 3) printf("block %d thread %d\n", blockIdx.x, threadIdx.x);
}

/* Calls a function with stdout going to a file, and returns the file. */
static std::string output_of(void (*run)())
{
    fflush(stdout);
    FILE *file = tmpfile();
    int kept = dup(STDOUT_FILENO);
    dup2(fileno(file), STDOUT_FILENO);
    run();
    fflush(stdout);
    dup2(kept, STDOUT_FILENO);
    close(kept);
    char text[4096];
    rewind(file);
    std::string output(text, fread(text, 1, sizeof text, file));
    fclose(file);
    return output;
}

static void run_one()
{
    const char word[] = "word";
    char *device = device_copy(std::vector<char>(word, word + sizeof word));
    one_thread<<<1, 1>>>(device);
    CUDA_LAUNCHED();
}

static void run_many()
{
    many_threads<<<2, 64>>>();
    CUDA_LAUNCHED();
}

int main()
{
    std::string one = output_of(run_one);
    const char *expected = "no arguments, 100%\n-42    42|42   |00042 +42 4000000000\n"
                           "ff FF 0xff 10 c text\n-5000000000 18446744073709551615 -7 8\n"
                           "1.500000 0.667     3.14 1.234568e+04 0.0001 1E+20\nword ab      7\n"
                           "1 2 3 4 5 6 7 8 9\n9\n";
    if (one != expected) {
        printf("printed:\n%s", one.c_str());
        return EXIT_WRONG;
    }
    std::string many = output_of(run_many);
    EXPECT(std::count(many.begin(), many.end(), '\n') == 8);
    for (int block = 0; block < 2; block++)
        for (int thread = 3; thread < 64; thread += 16) {
            char line[64];
            snprintf(line, sizeof line, "block %d thread %d\n", block, thread);
            EXPECT(many.find(line) != std::string::npos);
        }
    return right("printf of 16 lines");
}
