#define _GNU_SOURCE
#include "format.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct text format_count(uint64_t count)
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)count);
    struct text text;
    if (length < 5) {
        snprintf(text.s, sizeof text.s, "%s", digits);
        return text;
    }
    char *to = text.s;
    for (int i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0) *to++ = ' ';
        *to++ = digits[i];
    }
    *to = '\0';
    return text;
}

const char *plural(uint64_t count) { return count == 1 ? "" : "s"; }

struct text format_bytes(uint64_t bytes)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    struct text text;
    size_t unit = 0;
    uint64_t scale = 1;
    while (unit + 1 < sizeof units / sizeof *units && bytes / scale >= 1024) {
        scale *= 1024;
        unit++;
    }
    int decimals = bytes % scale ? 1 : 0;
    snprintf(text.s, sizeof text.s, "%.*f %s", decimals, (double)bytes / (double)scale,
             units[unit]);
    return text;
}

/* Three significant digits. */
static int decimals_of(double value) { return value < 10 ? 2 : value < 100 ? 1 : 0; }

struct text format_seconds(double seconds)
{
    static const struct {
        double factor;
        const char *unit;
    } units[] = {{1e9, "ns"}, {1e6, "µs"}, {1e3, "ms"}, {1, "s"}};
    size_t unit = 0;
    while (unit + 1 < sizeof units / sizeof *units && seconds * units[unit].factor >= 1000) unit++;
    double value = seconds * units[unit].factor;
    struct text text;
    snprintf(text.s, sizeof text.s, "%.*f %s", decimals_of(value), value, units[unit].unit);
    return text;
}

struct text format_duration(double seconds)
{
    enum { MINUTE = 60, HOUR = 3600 };
    struct text text;
    long whole = (long)(seconds + 0.5);
    if (whole >= HOUR)
        snprintf(text.s, sizeof text.s, "%ld h %ld min", whole / HOUR, whole % HOUR / MINUTE);
    else if (whole >= 2 * MINUTE)
        snprintf(text.s, sizeof text.s, "%ld min", (whole + MINUTE / 2) / MINUTE);
    else
        snprintf(text.s, sizeof text.s, "%ld s", whole);
    return text;
}

struct text format_rate(double bytes_per_second)
{
    struct text text;
    double rate = bytes_per_second / 1e9;
    snprintf(text.s, sizeof text.s, "%.*f GB/s", decimals_of(rate), rate);
    return text;
}

struct text format_percent(double fraction)
{
    struct text text;
    double percent = 100 * fraction;
    snprintf(text.s, sizeof text.s, "%.*f %%", percent < 99.95 && percent > 0 ? 1 : 0, percent);
    return text;
}

struct style style_of(FILE *file)
{
    static const struct style plain = {"", "", "", "", ""};
    static const struct style colour = {"\033[1m", "\033[2m", "\033[32m", "\033[31;1m", "\033[0m"};
    const char *no_color = getenv("NO_COLOR"), *terminal = getenv("TERM");
    bool wanted = isatty(fileno(file)) && !(no_color && *no_color) &&
                  !(terminal && strcmp(terminal, "dumb") == 0);
    return wanted ? colour : plain;
}
