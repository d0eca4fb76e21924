"""test_request.py -- requests of the page (common/page/face/face.h), read by its native program:
the values of buffers, headers, what is in several pieces, and what is wrong."""
import unittest

from own import answer

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
