#include "tools.h"
#include "common/emu/emu.h"
#include <string.h>

static const struct {
    const char *name;
    unsigned checks;
} tools[] = {
    {"memcheck", EMU_CHECK_MEMORY}, {"racecheck", EMU_CHECK_RACE}, {"initcheck", EMU_CHECK_INIT},
    {"synccheck", EMU_CHECK_SYNC},  {"all", EMU_CHECK_ALL},
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
