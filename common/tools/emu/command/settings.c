/* settings.c — reads the EMU_* variables as their table says, and names of checkers. */
#include "settings.h"
#include "common/tools/emu/emu.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- reads the EMU_* variables as their table says ------------------------------------------- */

/* clang-format off */
#define SETTING(variable, kind, least, most, takes, standard, option, letter, argument, set, \
                meaning) \
    {"EMU_" #variable, SETTING_IS_##kind, least, most, takes, standard, "--" option, meaning, \
     false},
#define VARIABLE(variable, kind, least, most, takes, standard, meaning) \
    {"EMU_" #variable, SETTING_IS_##kind, least, most, takes, standard, NULL, meaning, false},
#define FOR_EMU(variable, meaning) \
    {"EMU_" #variable, SETTING_IS_TEXT, 0, 0, NULL, NULL, NULL, meaning, true},
#define OPTION_ALONE(...)
#define GAP()
/* clang-format on */
const struct setting settings[SETTINGS] = {
#include "settings.inc"
};

static struct {
    const char *text;
    uint64_t number;
} values[SETTINGS];

/* ---- values ---------------------------------------------------------------------------------- */

void setting_takes(const struct setting *s, char *text, size_t size)
{
    if (s->takes != NULL)
        snprintf(text, size, "%s", s->takes);
    else
        snprintf(text, size, "%" PRIu64 " to %" PRIu64, s->least, s->most);
}

/* Is it one of the words of "0, 1 or lines"? */
static bool is_among(const char *words, const char *value)
{
    for (size_t length; *words != '\0'; words += length + strspn(words + length, ", ")) {
        length = strcspn(words, ", ");
        if (strlen(value) == length && strncmp(words, value, length) == 0)
            return strcmp(value, "or") != 0;
    }
    return false;
}

static bool read_number(const struct setting *s, const char *value, uint64_t *number)
{
    static const char units[] = "KMG";
    char *end;
    errno = 0;
    *number = strtoull(value, &end, 10);
    const char *unit = s->kind == SETTING_IS_BYTES && *end != '\0' ? strchr(units, *end) : NULL;
    int shift = unit != NULL ? 10 * (int)(unit - units + 1) : 0;
    if (value[0] < '0' || value[0] > '9' || end[unit != NULL] != '\0' || errno != 0 ||
        *number < s->least || *number > s->most >> shift)
        return false;
    *number <<= shift;
    return true;
}

bool setting_accepts(const struct setting *s, const char *value, uint64_t *number)
{
    if (s->kind == SETTING_IS_TEXT) return true;
    return s->kind == SETTING_IS_WORD ? is_among(s->takes, value) : read_number(s, value, number);
}

/* ---- what was read --------------------------------------------------------------------------- */

const struct setting *settings_read(void)
{
    const struct setting *wrong = NULL;
    for (size_t i = SETTINGS; i-- > 0;) {
        const struct setting *s = &settings[i];
        const char *text = getenv(s->variable);
        values[i].text = text != NULL && *text != '\0' ? text : NULL;
        values[i].number = s->standard != NULL ? strtoull(s->standard, NULL, 10) : 0;
        if (values[i].text != NULL && !setting_accepts(s, text, &values[i].number)) wrong = s;
    }
    return wrong;
}

const char *setting_text(enum setting_id id) { return values[id].text; }

uint64_t setting_number(enum setting_id id) { return values[id].number; }

bool setting_is(enum setting_id id, const char *word)
{
    const char *value = values[id].text != NULL ? values[id].text : settings[id].standard;
    return value != NULL && strcmp(value, word) == 0;
}

/* ---- the names of checkers ------------------------------------------------------------------- */

static const struct {
    const char *name;
    unsigned checks;
} tools[] = {
    {"memcheck", EMU_CHECK_MEMORY}, {"racecheck", EMU_CHECK_RACE}, {"initcheck", EMU_CHECK_INIT},
    {"synccheck", EMU_CHECK_SYNC},  {"all", EMU_CHECK_ALL},
    {"order", EMU_CHECK_ORDER | EMU_CHECK_RACE},
};

static unsigned one_tool(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++)
        if (strlen(tools[i].name) == length && !strncmp(name, tools[i].name, length))
            return tools[i].checks;
    return 0;
}

unsigned check_tools(const char *names)
{
    unsigned checks = 0;
    for (;;) {
        size_t length = strcspn(names, ",");
        unsigned tool = one_tool(names, length);
        if (!tool) return 0;
        checks |= tool;
        if (!names[length]) return checks;
        names += length + 1;
    }
}
