/*
 * face.h — runs PTX, or compiles CUDA C, as a text asks for it, and answers in JSON: what the
 * page's worker calls.
 *
 * A request is lines of words. After the line "ptx", the rest of the request is PTX. After the line
 * "compile NAME" it is CUDA C, and nothing runs. After the line "lab LAB NAME" it is CUDA C that is
 * judged as a lab, an exercise ("exercise4") or a first puzzle ("first1") is.
 *
 *   gpu KEY, rules KEY                models of emu.h
 *   check N                           checkers, as bits of enum emu_check
 *   schedule SEED                     a random but reproducible order
 *   limit N                           warp instructions, after which a grid is ended
 *   memory BYTES                      of the device
 *   program                           compile main, too; or run it: it launches the kernels
 *   trace [MOST]                      answer with a trace, with steps (watch/trace.h), or with at
 *                                     most this many events of it
 *   buffer NAME TYPE COUNT FILL       FILL: zero, one, ramp (0, 1, 2, …), digits (0 to 9, always
 *                                     the same), none, or values followed by numbers
 *   launch KERNEL GRID BLOCK SHARED ARGUMENT…
 *                                     GRID and BLOCK: x,y,z; SHARED: dynamic bytes; an argument is
 *                                     @NAME or @NAME+BYTES for an address in a buffer, or
 *                                     TYPE:NUMBER; KERNEL with + before its name is launched
 *                                     cooperatively
 *   header PATH LINES                 the next lines are a header, for a text that is compiled, or
 *                                     what a lab needs: solution.cu, weights.txt and hints.txt
 *
 * A type is u8, s8, u16, s16, u32, s32, u64, s64, f32 or f64.
 *
 * The answer has the fields "error" (of enum emu_error; 0: none), "message", "kernels" (with names
 * and parameters), "buffers" (with their values as text; "given" has the values before the run of a
 * buffer that the kernels have changed), "document" (as emu --json writes it), "trace" and
 * "events" (how many the whole trace has). An error in the request itself is EMU_INVALID_VALUE.
 *
 * When it compiles, the answer has "error" and "message", "ptx" (null: there are errors in the
 * text) and "diagnostics" (cc.h), with "severity" ("error" or "warning"), "file", "line",
 * "column", "length", "text" and "hint".
 *
 * When it judges, the answer has "error", "message" and "diagnostics", "text" (what check-lab
 * prints), "right" (are there full points?), and for a lab "verdict" (as check-lab --json prints
 * it) and "hints" (three texts). Meanwhile it calls face_progress (request.h).
 */
#ifndef PAGE_FACE_H
#define PAGE_FACE_H

#include <stddef.h>

/* Runs a request, which ends with NUL. Returns JSON, which the caller frees; NULL: out of
 * memory. */
char *face_run(const char *request);

#endif
