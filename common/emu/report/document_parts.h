/* document_parts.h — pieces, of which document_parts.c makes one document of several programs. */
#ifndef EMU_DOCUMENT_PARTS_H
#define EMU_DOCUMENT_PARTS_H

#include "document.h"

void json_write_part(FILE *, const struct document *);
void sarif_write_part(FILE *, const struct document *);
void html_write_part(FILE *, const struct document *);

/* What stands before the first part and behind the last one. */
void sarif_begin(FILE *, const char *title);
void sarif_end(FILE *);
void html_begin(FILE *, const char *title);
void html_end(FILE *);

#endif
