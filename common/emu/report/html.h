/* html.h — the parts of the page that html.c writes. */
#ifndef EMU_HTML_H
#define EMU_HTML_H

#include "document.h"

/* Writes a text with what HTML reads as a mark escaped, and what is not visible as C writes it. */
void html_text(FILE *, const char *text);

/* Pictures (html_banks.c, html_timeline.c): nothing if there is none. Their size is bounded by the
 * number of pictures that emu.h keeps. */
void html_banks(FILE *, const struct document *);
void html_timelines(FILE *, const struct document *);

#endif
