/* process.h — the processes that a program forks, and what processes put together. */
#ifndef CUDART_PROCESS_H
#define CUDART_PROCESS_H

#include "cudart.h"

/* ---- one process (process_fork.c) ------------------------------------------------------------ */

/* Does this process write reports: the one that began, or a forked one that has opened devices? */
bool cudart_is_owner(void);
/* Was this process forked by the one that began? */
bool cudart_is_forked(void);
/* This process opens devices. */
void cudart_fork_claim(void);
bool cudart_has_devices(void);
/* Was this process forked after its parent had opened devices? Says so once. */
bool cudart_is_forked_too_late(void);

/* ---- what forked processes give to the first one (process_fork.c) ---------------------------- */

void cudart_fork_add(unsigned long errors, unsigned long excesses);
/* The first process writes its reports from now on, and takes nothing later. */
void cudart_fork_end(void);
unsigned long cudart_fork_errors(void);
unsigned long cudart_fork_excesses(void);
/* Have forked processes opened devices? */
bool cudart_has_forked(void);

/* The parts of documents that processes put together. */
enum cudart_part { CUDART_REPORT, CUDART_SARIF, CUDART_HTML, CUDART_KERNELS, CUDART_PARTS };
/* The path of the file that takes a part of this forked process; NULL: nothing takes it. */
enum { CUDART_FORK_PATH = 40 };
const char *cudart_fork_path(enum cudart_part, char path[CUDART_FORK_PATH]);
/* What forked processes have added, in memory that the caller frees; NULL: nothing. */
char *cudart_fork_take(enum cudart_part, size_t *length);

/* ---- what takes parts: a command of emu, or the first process (parent.c) --------------------- */

/* Tells a command of emu that a program which uses this library has run. */
void cudart_parent_tell(void);
/* Has emu started a script, or another command, that has started this program? */
bool cudart_has_parent(void);
/* Does a command of emu take such parts? */
bool cudart_parent_takes(enum cudart_part);
/* Opens the file that takes a part, for this process alone; -1: nothing takes it. `has_path`: the
 * program has its own file for it, so only the process that forked this one takes it. Is this the
 * first part in the file? */
int cudart_parent_open(enum cudart_part, bool has_path, bool *is_first);
/* Adds a part and closes the file. Returns 0 or an errno. */
int cudart_parent_write(int file, const char *text, size_t length);

/* ---- the end of a program (process_end.c, end.c, parent.c) ----------------------------------- */

/* From now on signals that end the program first write the reports, unless the program handles or
 * ignores them. */
void cudart_observe_end(void);
/* Writes the reports of a program that ends without its destructors. */
void cudart_write_before_end(void);
/* The program goes on after all. It has no more reports. */
void cudart_end_has_failed(void);
/* Does a thread wait for the reports, perhaps within a function of the C library? */
bool cudart_thread_waits(void);
/* Ends the process as the C library does in _exit: without reports. */
_Noreturn void cudart_leave(int code);
/* The exit code with which the program ends, once that is known. */
int cudart_end_status(void);
void cudart_end_with(int code);
/* From now on the exit code given to exit is noted. exit() calls first what was registered last,
 * and this library's destructors were registered when the program began. */
void cudart_observe_status(void);
/* If a signal has ended the program, another thread ends the process: waits for that. */
void cudart_leave_end_to_finish(void);
/* Does another program take this one's place by exec? Then the exit code is that one's. */
bool cudart_is_replaced(void);
/* Tells the command emu of errors at once, and that there is no report to wait for. */
void cudart_parent_add(unsigned long errors);
void cudart_parent_note_end(void);
/* Tells it that a kernel runs. */
void cudart_parent_note_run(void);
/* Tells it that a copy has taken to the host what nothing had been stored in. */
void cudart_parent_note_fresh(void);

#endif
