"""test_request.py -- requests of the page (page/face/face.h), read by its native program:
the values of buffers, headers, what is in several pieces, programs, and what is wrong."""
import json
import unittest

from own import TOP, answer

PTX = """ptx
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p) { ret; }
"""
# A buffer's type, number of elements and fill; and the values that it then has.
BUFFERS = {
    "s32 3 values 5 -6 7": "5 -6 7",
    "u64 1 values 18446744073709551615": "18446744073709551615",
    "f32 3 values 0.5 -2 1e10": "0.5 -2 1e+10",
    "u32 3 zero": "0 0 0",
    "f64 2 one": "1 1",
    "u8 260 ramp": " ".join(str(k % 256) for k in range(260)),
    "f32 12 digits": "6 0 6 5 2 6 4 0 0 3 3 0",
}
WRONG = {
    "buffer b f32 3 values 1 2": "buffer b has 3 elements, and 2 values are given",
    "buffer b f32 2 values 1 " + "2" * 64: "a word of the request is too long",
    "buffer b f32 1 values 1x": '"1x" is not a number',
    "buffer b u8 1 values 256": '"256" does not fit into the type u8',
    "buffer b s8 1 values -129": '"-129" does not fit into the type s8',
    "buffer b u32 1 values -1": '"-1" does not fit into the type u32',
    "buffer b f32 4 ones": 'buffer b cannot be filled with "ones"',
    "buffer b f16 4 one": 'buffer b has the unknown type "f16"',
    "buffer b f32 0 one": "buffer b has no elements",
    "buffer b f32 x one": 'the number of elements must be a whole number, and is "x"',
    "launch k 1,1 1,1,1 0": 'the grid must be three numbers with commas between them, and is "1,1"',
    "launch k 1,1,1 1,1,1 0 @none": 'there is no buffer "none"',
    "launch k 1,1,1 1,1,1 0 7": 'the argument "7" is neither @BUFFER nor TYPE:NUMBER',
    "gpu none": '"none" is not the name of a GPU',
    "wrong": 'a line begins with the unknown word "wrong"',
}

# What a program of steps/first-kernel prints.
PRINTED = {**{f"first{k}": f"all {n} numbers are right\n"
              for k, n in ((1, 1024), (2, 1000), (3, 256), (4, 960), (5, 1000))},
           "neighbours": "0 1 3 5 ... 1997, 0 wrong\n", "sums": "3 4 11 11 15 16 22 25\n",
           "indices": "".join(f"block {b}, thread {32 * w + i:2}: warp {w}, lane {i}\n"
                              for b in (0, 1) for w in (0, 1) for i in (0, 1))}
PROGRAM = """__global__ void add(int *a, int n) { a[blockIdx.y * gridDim.x * 8 + blockIdx.x * 8 +
    threadIdx.x] += n; }
__host__ __device__ int twice(int n) { return 2 * n; }
static int calls = 3;
int text(const char *what, cudaError_t error)
{ return printf("%s %d: %s\\n", what, ++calls, cudaGetErrorString(error)); }
int main(int argc, char **argv) {
    int *h = (int *)malloc(twice(32 * sizeof(int))), *d, n = argc > 1 ? atoi(argv[1]) : 32;
    dim3 grid(2, 2), block = dim3(8), other = grid;
    size_t bytes = n * sizeof(int);
"""
# Its next lines, which begin in line 11: what they print, and what is found, by line.
RUNS = {
    "cudaMalloc(&d, bytes); cudaMemset(d, 0, bytes); add<<<grid, block>>>(d, 5);\n"
    "add<<<other, 8, 0, 0>>>(d, 2); cudaMemcpy(h, d, bytes, cudaMemcpyDeviceToHost);"
    "printf(\"%d %4zu\\n\", h[31], bytes);": ("7  128\n", {}),
    "cudaMalloc(&d, bytes);\n"
    "text(\"copy\", cudaMemcpy(d, h, bytes, cudaMemcpyDeviceToHost));":
        ("copy 4: invalid argument\n", {12: "cudaMemcpy returns error 1: the direction does not "
                                            "fit the two pointers"}),
    "cudaMalloc(&d, bytes);\nh[0] = d[0];": ("", {12: "Invalid __global__ read of size 4 bytes"}),
    "h[64] = 1;": ("", {11: "Invalid __global__ write of size 4 bytes"}),
    "add<<<1, 8>>>(h, 1);\ntext(\"now\", cudaGetLastError());"
    "text(\"then\", cudaDeviceSynchronize()); exit(3);\nh[64] = 1;":
        ("now 4: no error\nthen 5: an illegal memory access was encountered\n",
         {1: "Invalid __global__ read of size 4 bytes"}),
}
NVCC = ": nvcc accepts this, the page's compiler does not"
REFUSED = {
    "cudaMallocManaged(&d, 4);": "the function cudaMallocManaged" + NVCC,
    "std::vector<int> v;": "the C++ library" + NVCC,
    "other.x = 1;": "a member of a dim3" + NVCC,
    "n = threadIdx.x;": "`threadIdx` is for kernels only",
    "add<<<1, 8>>>(d);": "the kernel `add` takes 2 arguments, and gets 1",
    "main(0, 0);": "`main` calls itself here" + NVCC,
}


# Whole texts that are refused.
REFUSED_TEXTS = {
    "void f(int n) {}\nint main() { f(1); } void f(float x) {}":
        "overloading, a second function `f` with other parameters" + NVCC,
    "__device__ int g = 5;\nint main() { return g; }":
        "a __device__ or __constant__ variable in code of the host" + NVCC,
    "int main(int n, char **a, char **b) { return 0; }":
        "main with more than two parameters" + NVCC,
    "#ifdef __CUDA_ARCH__\n#endif\nint main() { return 0; }":
        "main in a file with __CUDA_ARCH__" + NVCC,
}


def run_program(source):
    compiled = answer("program\ncompile own.cu\n" + source)
    if not compiled["ptx"]:
        return compiled
    return answer("program\ncheck 15\nmemory 16777216\nptx\n" + compiled["ptx"])


def found(reply):
    return {one["place"]["line"]: one["title"] for one in
            json.loads(reply["document"])["findings"]}


class Programs(unittest.TestCase):
    def test_the_programs_of_the_first_chapter_print_the_same(self):
        for name, printed in PRINTED.items():
            with self.subTest(name):
                reply = run_program((TOP / f"steps/first-kernel/{name}.cu").read_text())
                self.assertEqual((reply["message"], reply["printed"]), ("", printed))
                self.assertEqual(sorted(found(reply)), [8, 9] if name == "sums" else [])

    def test_what_main_does_is_done_and_checked(self):
        for lines, wanted in RUNS.items():
            with self.subTest(lines):
                reply = run_program(f"{PROGRAM}{lines}}}\n")
                self.assertEqual((reply["printed"], found(reply)), wanted)

    def test_what_is_outside_of_the_subset_is_refused_at_its_line(self):
        for line, said in REFUSED.items():
            with self.subTest(line):
                reply = run_program(f"{PROGRAM}{line}}}\n")
                self.assertEqual([(one["line"], one["text"]) for one in reply["diagnostics"]],
                                 [(11, said)])
        for text, said in REFUSED_TEXTS.items():
            with self.subTest(text):
                self.assertEqual([one["text"] for one in run_program(text)["diagnostics"]], [said])


class Requests(unittest.TestCase):
    def test_buffers_have_the_values_that_are_asked_for(self):
        lines = [f"buffer b{k} {fill}" for k, fill in enumerate(BUFFERS)]
        reply = answer("\n".join([*lines, "launch k 1,1,1 1,1,1 0 @b0", PTX]))
        self.assertEqual(reply["message"], "")
        self.assertEqual([b["values"] for b in reply["buffers"]], list(BUFFERS.values()))

    def test_a_request_of_several_pieces_is_read_wholly(self):
        values = " ".join(map(str, range(30000)))
        reply = answer(f"buffer b s32 30000 values {values}\nlaunch k 1,1,1 1,1,1 0 @b\n{PTX}")
        self.assertEqual(reply["buffers"][0]["values"], values)

    def test_headers_are_found_by_their_paths(self):
        reply = answer("header a.h 2\n#define A 4\n\nheader parts/b.h 1\n#define B 5\n"
                       "compile k.cu\n#include \"a.h\"\n#include \"parts/b.h\"\n"
                       "__global__ void k(int *o) { o[0] = 100 * A + B; }\n")
        self.assertEqual((reply["error"], reply["diagnostics"]), (0, []))
        self.assertIn("405;", reply["ptx"])

    def test_what_is_wrong_is_said_and_nothing_runs(self):
        for line, message in WRONG.items():
            with self.subTest(line):
                reply = answer(f"{line}\n{PTX}")
                self.assertEqual((reply["error"], reply["message"]), (1, message))
                self.assertEqual(reply["buffers"], [])


if __name__ == "__main__":
    unittest.main()
