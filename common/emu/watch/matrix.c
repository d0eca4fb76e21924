/*
 * matrix.c — racecheck: rows that ldmatrix, stmatrix or wmma move are accessed by the lanes whose
 * registers hold the elements, and not by the lanes that give the rows' addresses.
 */
#include "common/emu/ptx/matrix.h"
#include "common/emu/ptx/warp_ops.h"
#include "access.h"

enum { ROWS = 8, LANES_OF_ROW = 4, WORD_BYTES = 4, PARTS = 2, MATRICES = WARP / ROWS };

/* The lanes' accesses of one matrix: lane 8 * matrix + r gives the address of its row r. A lane
 * holds two elements that are neighbours in a row, which is one access; or, if the matrix is
 * transposed, in a column, which is two, and `part` says which of them. */
static struct access of_lanes(const struct access *rows, unsigned matrix, bool is_transposed,
                              unsigned part)
{
    struct access a = *rows;
    a.mask = 0;
    a.bytes = a.checked = is_transposed ? WORD_BYTES / PARTS : WORD_BYTES;
    for (unsigned l = 0; l < WARP; l++) {
        unsigned outer = l / LANES_OF_ROW, inner = l % LANES_OF_ROW;
        unsigned from = matrix * ROWS + (is_transposed ? inner * PARTS + part : outer);
        a.address[l] = rows->address[from] + (is_transposed ? outer : inner) * a.bytes;
        a.mask |= (rows->mask >> from & 1) << l;
    }
    return a;
}

void race_matrix_access(struct warp *w, const struct insn *i, const struct access *rows)
{
    unsigned parts = i->matrix->is_transposed ? PARTS : 1;
    for (unsigned k = 0; k < MATRICES * parts; k++) {
        struct access a = of_lanes(rows, k / parts, i->matrix->is_transposed, k % parts);
        if (!a.mask) continue;
        const char *values = slot_at(w, i->matrix->d.slot[k / parts]);
        if (i->matrix->stores)
            a.stored = (struct stored_values){values + k % parts * a.bytes, WORD_BYTES};
        race_threads_access(w, i, &a);
    }
}
