/*
 * source_line.h — turns a file and line, as -lineinfo records them, into a short path and the text
 * of that line.
 */
#ifndef SOURCE_LINE_H
#define SOURCE_LINE_H

#include <stddef.h>

/* The file's path without the folder that this program lies in: "steps/03-work-efficient/scan.cu".
 * The tree may have been moved since it was built. */
const char *source_name(const char *file);

/* The text of that line without indentation; "" if the file cannot be read here. */
void source_text(const char *file, unsigned line, char *text, size_t size);

#endif
