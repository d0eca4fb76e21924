/* fault.h — describes a failure: an exit code and one sentence.
 *
 * A function that can fail takes a `struct fault *`. It returns 0, or the exit code that it has
 * stored there, and prints nothing. fault_say() prints the sentence once, at the end. The sentence
 * says what was wrong, where, and what to do. */
#ifndef FAULT_H
#define FAULT_H

#ifdef __cplusplus
extern "C" {
#endif

/* Exit codes of ./stepN. */
enum exit_code {
    EXIT_RIGHT = 0,
    EXIT_WRONG = 1,  /* the scan's result is wrong */
    EXIT_USAGE = 2,  /* options, input or output */
    EXIT_DEVICE = 3, /* the GPU, its driver, or the emulator */
};

#define FAULT_TEXT 600

struct fault {
    int code;
    char text[FAULT_TEXT]; /* one sentence, without the program's name and a newline */
};

/* Fills the fault and returns its code, so that a function can `return fail(…)`. Control characters
 * in the name of a file, and bytes that are not UTF-8, are made visible (visible.h). */
int fail(struct fault *, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Prints "step3: sentence" to stderr and returns the code. */
int fault_say(const struct fault *);

/* As common/files/allocated.h has it. */
void *allocated(void *memory);

#ifdef __cplusplus
}
#endif

#endif
