/* settings.h — the EMU_* variables, and the names of the checkers. */
#ifndef EMU_SETTINGS_H
#define EMU_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- the EMU_* variables --------------------------------------------------------------------- */

/* The EMU_* variables, by which a user asks for something, and the command emu for
 * what its options say. settings.inc is the table of all of them. */

#define SETTING(variable, ...)  SETTING_##variable,
#define VARIABLE(variable, ...) SETTING_##variable,
#define FOR_EMU(variable, ...)  SETTING_##variable,
#define OPTION_ALONE(...)
#define GAP()
enum setting_id {
#include "settings.inc"
    SETTINGS
};

/* BYTES: a NUMBER that K, M or G may follow, for 2^10, 2^20, 2^30. */
enum setting_kind { SETTING_IS_TEXT, SETTING_IS_NUMBER, SETTING_IS_BYTES, SETTING_IS_WORD };

struct setting {
    const char *variable;
    enum setting_kind kind;
    uint64_t least, most;
    const char *takes, *standard;
    const char *option; /* that sets it, with its dashes; NULL: none does */
    const char *meaning;
    bool is_for_emu;
};
extern const struct setting settings[SETTINGS];

/* Which values it takes, for people. */
void setting_takes(const struct setting *, char *text, size_t size);
/* Is it a value that the setting takes? A TEXT is. Of a NUMBER or BYTES stores the number. */
bool setting_accepts(const struct setting *, const char *value, uint64_t *number);

/* Reads all variables. Returns the first one that has a wrong value; NULL: none has. */
const struct setting *settings_read(void);

/* What was read. The text is NULL if the variable is not set or empty. */
const char *setting_text(enum setting_id);
/* Of one that is not set the standard, or 0 if that is no number. */
uint64_t setting_number(enum setting_id);
/* Does it have this value, or is it not set, and this its standard? */
bool setting_is(enum setting_id, const char *word);

/* ---- the checkers' names, for the command emu and for EMU_TOOL ------------------------------- */

/* The bits (enum emu_check) of "memcheck,racecheck"; 0 if one of the names is unknown. */
unsigned check_tools(const char *names);

/* ---- what the command emu is told ------------------------------------------------------------ */

/* What a program tells the command emu as soon as it happens (runtime/process.c): a byte each
 * in a file in memory. Its name in /proc is in EMU_OUTCOME for a program that emu has started, and
 * in EMU_SEEN for those that another command starts. */

enum outcome {
    OUTCOME_LOADED = '1',  /* it uses the emulator's library */
    OUTCOME_RUN = 'k',     /* a kernel, or a function of the emulator's libraries */
    OUTCOME_ERROR = 'e',   /* one that the exit code depends on */
    OUTCOME_EXCESS = 'x',  /* a limit of --budget or --baseline is exceeded */
    OUTCOME_FRESH = 'f',   /* a copy has taken to the host what nothing had been stored in */
};

#endif
