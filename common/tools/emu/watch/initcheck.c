/* initcheck.c — initcheck: which bytes are written, and reads of others. */
#include "check.h"
#include "common/tools/emu/machine/events.h"
#include <inttypes.h>

/* ---- which bytes are written ----------------------------------------------------------------- */

enum {
    WORD = 64,          /* bytes whose bits are in one word */
    MAX_ALIGNMENT = 16, /* of a member that may have padding before it */
    VECTORS = 8,        /* in `widths`: bit k is for elements of 2^k bytes, bit 8 + k for vectors */
};

static void written_open(struct written *w)
{
    *w = (struct written){.pages.bytes = PAGE_BYTES / 8};
}

/* One piece, with addresses from 0 on. */
static void written_open_piece(struct written *w, size_t bytes)
{
    *w = (struct written){.words = (bytes + WORD - 1) / WORD};
    w->bits = allocated(calloc(w->words + 1, sizeof *w->bits));
}

static void written_close(struct written *w)
{
    pages_close(&w->pages);
    free(w->bits);
}

/* ---- bits ------------------------------------------------------------------------------------ */

/* The word with an address's bit. NULL: no byte near it is written. */
static uint64_t *word_at(struct written *w, uint64_t address)
{
    if (w->bits) return address / WORD < w->words ? &w->bits[address / WORD] : NULL;
    struct page *page = pages_find(&w->pages, address >> PAGE_BITS);
    return page ? &page->content[address % PAGE_BYTES / WORD] : NULL;
}

/* That word, in a page that is made if necessary. NULL: beyond the piece. *widths: the page's. */
static uint64_t *word_for(struct written *w, uint64_t address, uint64_t **widths)
{
    *widths = &w->widths;
    if (w->bits) return word_at(w, address);
    struct page *page = pages_touch(&w->pages, address >> PAGE_BITS);
    *widths = &page->stamp;
    return &page->content[address % PAGE_BYTES / WORD];
}

/* How many bytes from `at` on are in the same word, at most `left`. */
static unsigned in_word(uint64_t at, uint64_t left)
{
    unsigned room = WORD - (unsigned)(at % WORD);
    return left < room ? (unsigned)left : room;
}

static uint64_t bits_from(uint64_t at, unsigned count)
{
    uint64_t ones = count == WORD ? UINT64_MAX : (UINT64_C(1) << count) - 1;
    return ones << at % WORD;
}

static void set(struct written *w, uint64_t address, uint64_t bytes, uint64_t stored)
{
    for (uint64_t at = address, end = address + bytes; at < end;) {
        unsigned count = in_word(at, end - at);
        uint64_t *widths, *word = word_for(w, at, &widths);
        if (!word) return;
        *word |= bits_from(at, count);
        *widths |= stored;
        at += count;
    }
}

static void written_set(struct written *w, uint64_t address, uint64_t bytes)
{
    set(w, address, bytes, 0);
}

static void written_store(struct written *w, uint64_t address, unsigned bytes, unsigned element)
{
    set(w, address, bytes,
        UINT64_C(1) << __builtin_ctz(element) | UINT64_C(1) << (VECTORS + __builtin_ctz(bytes)));
}

/* Forgets bytes in one page. */
static void forget_some(struct written *w, uint64_t address, uint64_t bytes)
{
    for (uint64_t at = address, end = address + bytes; at < end;) {
        unsigned count = in_word(at, end - at);
        uint64_t *word = word_at(w, at);
        if (!word) return;
        *word &= ~bits_from(at, count);
        at += count;
    }
}

/* Marks bytes as unwritten; as written; as written by a store of elements of this size. */
static void written_forget(struct written *w, uint64_t address, uint64_t bytes)
{
    uint64_t end = address + bytes, first = (address + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES,
             last = end / PAGE_BYTES * PAGE_BYTES; /* from first to before last, pages are whole */
    if (first > last) {
        forget_some(w, address, bytes);
        return;
    }
    forget_some(w, address, first - address);
    if (first < last) pages_drop(&w->pages, first / PAGE_BYTES, last / PAGE_BYTES - 1);
    forget_some(w, last, end - last);
}

/* Marks a whole piece as unwritten. */
static void written_forget_all(struct written *w)
{
    memset(w->bits, 0, w->words * sizeof *w->bits);
    w->widths = 0;
}

/* ---- runs of bytes that are written, or are not ---------------------------------------------- */

static bool is_written(struct written *w, uint64_t address)
{
    const uint64_t *word = word_at(w, address);
    return word && *word >> address % WORD & 1;
}

/* Have all of these bytes been written? They must not cross a multiple of 64. */
static bool written_near(struct written *w, uint64_t address, unsigned bytes)
{
    const uint64_t *word = word_at(w, address);
    return word && !(~*word & bits_from(address, bytes));
}

/* The first byte from `at` on that is written (`sought` true) or unwritten (false); `end`: none
 * is. */
static uint64_t find(struct written *w, uint64_t at, uint64_t end, bool sought)
{
    while (at < end) {
        const uint64_t *word = word_at(w, at);
        uint64_t bits = (word ? sought ? *word : ~*word : sought ? 0 : UINT64_MAX) >> at % WORD;
        if (bits) {
            at += (unsigned)__builtin_ctzll(bits);
            return at < end ? at : end;
        }
        at = word || w->bits ? (at / WORD + 1) * WORD : (at / PAGE_BYTES + 1) * PAGE_BYTES;
    }
    return end;
}

static uint64_t *widths_at(struct written *w, uint64_t address)
{
    struct page *page = w->bits ? NULL : pages_find(&w->pages, address >> PAGE_BITS);
    return w->bits ? &w->widths : page ? &page->stamp : NULL;
}

/* Copies from the last byte to the first: the target overlaps the end of the source. */
static void copy_backwards(struct written *to, uint64_t to_address, struct written *from,
                           uint64_t from_address, uint64_t bytes)
{
    for (uint64_t k = bytes; k-- > 0;)
        if (is_written(from, from_address + k))
            written_set(to, to_address + k, 1);
        else
            written_forget(to, to_address + k, 1);
}

/* Copies the bits. `to` and `from` may be the same, and the ranges may overlap. */
static void written_copy(struct written *to, uint64_t to_address, struct written *from,
                         uint64_t from_address, uint64_t bytes)
{
    uint64_t end = from_address + bytes;
    if (to == from && to_address > from_address && to_address < end &&
        find(from, from_address, end, false) < end) {
        copy_backwards(to, to_address, from, from_address, bytes);
        return;
    }
    for (uint64_t at = from_address; at < end;) {
        uint64_t page_end = (at / PAGE_BYTES + 1) * PAGE_BYTES,
                 stop = end < page_end ? end : page_end, gap = find(from, at, stop, false),
                 next = gap < stop ? find(from, gap, end, true) : gap;
        const uint64_t *widths = widths_at(from, at);
        set(to, to_address + (at - from_address), gap - at, widths ? *widths : 0);
        written_forget(to, to_address + (gap - from_address), next - gap);
        at = next;
    }
}

/* ---- padding --------------------------------------------------------------------------------- */

/* Is [first, end) unwritten, between bytes that are written? */
static bool is_gap(struct written *w, uint64_t first, uint64_t end)
{
    return is_written(w, first - 1) && find(w, first, end, true) == end && is_written(w, end);
}

/* Does such a gap occur in another element of an array? */
static bool recurs(struct written *w, uint64_t first, uint64_t end)
{
    enum { ELEMENTS = 4 }; /* of MAX_ALIGNMENT bytes: as large as such an element may be */
    for (uint64_t away = MAX_ALIGNMENT; away <= ELEMENTS * MAX_ALIGNMENT; away += MAX_ALIGNMENT)
        if (is_gap(w, first + away, end + away) || is_gap(w, first - away, end - away)) return true;
    return false;
}

/* The widest alignment that widths, a bit 2^k for each, are evidence of. */
static unsigned widest(uint64_t widths)
{
    unsigned most = MAX_ALIGNMENT;
    while (most > 1 && widths < most) most /= 2;
    return most;
}

/* Where padding ends that begins at `first`, if something so aligned comes behind it, and no byte
 * before `end` is written; returns `first` if there is no padding. */
static uint64_t aligned_end(uint64_t first, uint64_t end, unsigned alignment)
{
    uint64_t next = (first + alignment - 1) / alignment * alignment, power = 1;
    if (end > next) return next; /* behind the last structure that is written */
    while (power <= end - first) power *= 2;
    return end % power ? first : end;
}

/* Where padding ends that begins at `first`, behind a byte that is written. */
static uint64_t padding_end(struct written *w, uint64_t first, uint64_t end)
{
    const uint64_t *widths = widths_at(w, first);
    if (!widths) return first;
    uint64_t next = aligned_end(first, end, widest(*widths % (1 << VECTORS)));
    if (next > first) return next;
    next = aligned_end(first, end, widest(*widths >> VECTORS));
    return next > first && recurs(w, first, next) ? next : first;
}

static void add(struct unwritten *found, uint64_t first, uint64_t end)
{
    if (first >= end) return;
    if (!found->bytes) found->first = first;
    found->bytes += end - first;
}

/* Those of a range, without a look at the bytes around it: the range does not begin with
 * padding. */
static struct unwritten written_look(struct written *w, uint64_t address, uint64_t bytes)
{
    struct unwritten found = {0};
    for (uint64_t at = address, end = address + bytes; at < end;) {
        uint64_t gap = find(w, at, end, false);
        at = find(w, gap, end, true);
        add(&found, gap > address ? padding_end(w, gap, at) : gap, at);
    }
    return found;
}

/* Those of an element, with a look at the unwritten bytes around it. `end`: of its allocation. */
static struct unwritten written_look_around(struct written *w, uint64_t address, unsigned bytes,
                                            uint64_t end)
{
    struct unwritten found = {0};
    for (uint64_t at = address, behind = address + bytes; at < behind;) {
        uint64_t gap = find(w, at, behind, false), first = gap, last;
        at = find(w, gap, behind, true);
        while (first && gap - first < MAX_ALIGNMENT && !is_written(w, first - 1)) first--;
        last = find(w, at, end - at < MAX_ALIGNMENT ? end : at + MAX_ALIGNMENT, true);
        uint64_t next = padding_end(w, first, last);
        add(&found, next > gap ? next : gap, at);
    }
    return found;
}

/* The width of the stores to an address's page, whole vectors; 0: there were none, or different
 * ones. */
static unsigned written_width(struct written *w, uint64_t address)
{
    const uint64_t *widths = widths_at(w, address);
    uint64_t vectors = widths ? *widths >> VECTORS : 0;
    return vectors && !(vectors & (vectors - 1)) ? (unsigned)vectors : 0;
}

/* ---- reads of others ------------------------------------------------------------------------- */

struct init {
    struct written written;
    bool *reported;  /* by instruction of the kernel that runs: it has a finding with text */
    uint32_t *first; /* by instruction: the first instruction of its line */
};

struct init_block {
    struct written shared;
};

struct init *init_open(void)
{
    struct init *init = allocated(calloc(1, sizeof *init));
    written_open(&init->written);
    return init;
}

void init_close(struct init *init)
{
    if (!init) return;
    written_close(&init->written);
    free(init->reported);
    free(init->first);
    free(init);
}

/* ---- what the host does ---------------------------------------------------------------------- */

void init_forget(struct init *init, uint64_t address, uint64_t bytes)
{
    written_forget(&init->written, address, bytes);
}

void init_write(struct init *init, uint64_t address, uint64_t bytes)
{
    written_set(&init->written, address, bytes);
}

void init_copy(struct init *to, uint64_t to_address, struct init *from, uint64_t from_address,
               uint64_t bytes)
{
    written_copy(&to->written, to_address, &from->written, from_address, bytes);
}

/* The unwritten bytes of rows. *first_row: the row of the first of them, counted through all
 * slices. */
static struct unwritten look_at_rows(struct init *init, uint64_t address,
                                     const struct emu_rows *rows, uint64_t *first_row)
{
    struct unwritten all = {0};
    for (uint64_t k = 0; k < rows->rows * rows->slices; k++) {
        uint64_t from =
            address + k / rows->rows * rows->from_slice + k % rows->rows * rows->from_row;
        struct unwritten row = written_look(&init->written, from, rows->bytes);
        if (row.bytes && !all.bytes) {
            all.first = row.first;
            *first_row = k;
        }
        all.bytes += row.bytes;
    }
    return all;
}

/* Appends where the first unwritten byte is: its offset from the beginning, or from the
 * beginning of its row if there are several; and its element, if all stores nearby had elements
 * of one size. */
static void append_first(struct emu *emu, const struct emu_rows *rows, uint64_t address,
                         uint64_t first, uint64_t row, char *text, size_t size)
{
    uint64_t from =
        address + row / rows->rows * rows->from_slice + row % rows->rows * rows->from_row;
    unsigned width = written_width(&emu->checkers->init->written, first);
    char nearest[300];
    if (!width && first > from) width = written_width(&emu->checkers->init->written, first - 1);
    device_append(text, size, "\n    The first is at offset %" PRIu64, first - from);
    if (rows->rows * rows->slices > 1) device_append(text, size, " of row %" PRIu64, row);
    if (width)
        device_append(text, size, ", in element %" PRIu64 " of %u bytes", (first - from) / width,
                      width);
    device_describe_address(emu, first, nearest, sizeof nearest);
    device_append(text, size, ": address 0x%" PRIx64 ", %s", first, nearest);
}

void init_read(struct emu *emu, uint64_t address, const struct emu_rows *rows, const char *reader)
{
    char title[CHECK_TEXT], detail[CHECK_TEXT] = "", by[100] = "A copy to the host";
    uint64_t row = 0, bytes = rows->bytes * rows->rows * rows->slices;
    struct emu_host_place place;
    struct unwritten unwritten = look_at_rows(emu->checkers->init, address, rows, &row);
    if (!unwritten.bytes) return;
    if (reader) snprintf(by, sizeof by, "%s reads", reader);
    snprintf(title, sizeof title,
             "Host API uninitialized memory access of size %" PRIu64 "\n    %s from 0x%" PRIx64
             ": %" PRIu64 " of its %" PRIu64 " bytes have not been written",
             bytes, by, address, unwritten.bytes, bytes);
    append_first(emu, rows, address, unwritten.first, row, title, sizeof title);
    check_host_place(emu, &place);
    check_append_host_place(emu, &place, reader ? "It was called at" : "The copy was made at",
                            detail, sizeof detail);
    check_report(
        emu, NULL,
        &(struct check_report){.tool = EMU_CHECK_INIT,
                               .severity = EMU_FINDING_ERROR,
                               .kind = reader ? "uninitialized-read" : "uninitialized-copy",
                               .title = title,
                               .has_address = true,
                               .space = PTX_GLOBAL,
                               .address = unwritten.first,
                               .detail = *detail ? detail + 1 : NULL});
}

/* ---- what a kernel reads --------------------------------------------------------------------- */

/* "Address 0x… (…) has not been written", or how many of the bytes read there have not. */
static void describe(const struct launch *launch, enum ptx_space space, uint64_t address,
                     unsigned bytes, const struct unwritten *unwritten, char *text, size_t size)
{
    char nearest[300];
    struct range range;
    snprintf(text, size, "    Address 0x%" PRIx64, address);
    if (space == PTX_GLOBAL) {
        device_describe_address(launch->emu, address, nearest, sizeof nearest);
        device_append(text, size, " (%s)", nearest);
        if (device_range(launch->emu, address, &range))
            device_append(text, size, ", element %" PRIu64 " of %u bytes",
                          (address - range.base) / bytes, bytes);
    }
    if (unwritten->bytes == bytes)
        device_append(text, size, "%s has not been written", space == PTX_GLOBAL ? "," : "");
    else
        device_append(text, size,
                      ": %" PRIu64 " of its %u bytes have not been written, the first at offset"
                      " %" PRIu64,
                      unwritten->bytes, bytes, unwritten->first - address);
}

/* All atomics do but an exchange, which may be how a program writes the word first. */
static bool stores_what_it_reads(const struct insn *i)
{
    return i->family == FAMILY_ATOMIC && i->atomic.operation != ATOMIC_EXCHANGE;
}

static void report(struct warp *w, const struct insn *i, int lane, enum ptx_space space,
                   uint64_t address, unsigned bytes, const struct unwritten *unwritten)
{
    const struct launch *launch = w->block->launch;
    const struct init *init = launch->emu->checkers->init;
    uint32_t first = init->first[i - launch->kernel->code];
    char title[100] = "", detail[CHECK_TEXT] = "";
    struct check_report report = {.tool = EMU_CHECK_INIT,
                                  .severity =
                                      space == PTX_SHARED ? EMU_FINDING_WARNING : EMU_FINDING_ERROR,
                                  .kind = "uninitialized-read",
                                  .title = title,
                                  .same = space == PTX_SHARED ? "shared" : "global",
                                  .has_address = true,
                                  .space = space,
                                  .address = address,
                                  .bytes = bytes,
                                  .unit = "reads",
                                  .detail = detail,
                                  .place = check_place(w, &launch->kernel->code[first], lane)};
    if (stores_what_it_reads(i)) report.severity = EMU_FINDING_ERROR;
    if (!init->reported[first]) {
        snprintf(title, sizeof title, "Uninitialized __%s__ memory read of size %u bytes",
                 report.same, bytes);
        describe(launch, space, address, bytes, unwritten, detail, sizeof detail);
        if (stores_what_it_reads(i))
            device_append(detail, sizeof detail, ", and the atomic stores what it makes of it");
    }
    init->reported[first] = true;
    check_report(launch->emu, launch, &report);
}

/* ---- a kernel's accesses --------------------------------------------------------------------- */

void init_begin(struct launch *launch)
{
    struct init *init = launch->emu->checkers->init;
    free(init->reported);
    free(init->first);
    init->reported = allocated(calloc(launch->kernel->code_count, sizeof *init->reported));
    init->first = check_first_of_lines(launch->kernel);
}

struct init_block *init_block_new(const struct block *block)
{
    struct init_block *init = allocated(malloc(sizeof *init));
    written_open_piece(&init->shared, block->shared_bytes);
    return init;
}

/* The system's shared memory counts as written. */
void init_block_start(struct block *block)
{
    struct written *shared = &block->initcheck->shared;
    size_t reserved = block->shared_bytes - block->reserved_offset;
    written_forget_all(shared);
    if (reserved) written_set(shared, block->reserved_offset, reserved);
}

void init_block_free(struct init_block *init)
{
    if (!init) return;
    written_close(&init->shared);
    free(init);
}

/* The state of the device that the memory belongs to; NULL: it is host memory. */
static struct init *owner_of(const struct emu *emu, uint64_t address)
{
    if (emu_is_device(emu, address)) return emu->checkers->init;
    for (unsigned i = 0; i < emu->peer_count; i++)
        if (emu_is_device(emu->peers[i].emu, address)) return emu->peers[i].emu->checkers->init;
    return NULL;
}

/* The end of the allocation that holds a global address; 0: none does (emu --lenient). Shared
 * memory has no end here. */
static uint64_t end_of(const struct emu *emu, enum ptx_space space, uint64_t address)
{
    struct range range;
    if (space == PTX_SHARED) return UINT64_MAX;
    return device_range(emu, address, &range) ? range.base + range.bytes : 0;
}

/* Checks each element that a lane reads. An access that is not a plain load reads `bytes` at once.
 * Elements are aligned, so each lies between two multiples of 64. */
static void read_lane(struct warp *w, const struct insn *i, int lane, enum ptx_space space,
                      struct written *written, uint64_t address, unsigned bytes)
{
    uint32_t used = check_used_bytes(i);
    unsigned step = i->tally == TALLY_LOAD ? i->element_bytes : bytes;
    if (used == UINT32_MAX && written_near(written, address, bytes)) return;
    for (unsigned k = 0; k < bytes; k += step, address += step) {
        if (!(used >> k & 1) || written_near(written, address, step)) continue;
        uint64_t end = end_of(w->block->launch->emu, space, address);
        if (!end) continue;
        struct unwritten unwritten = written_look_around(written, address, step, end);
        if (unwritten.bytes) report(w, i, lane, space, address, step, &unwritten);
    }
}

/* Only a store of registers shows how wide the elements are. */
static void write_lane(const struct insn *i, struct written *written, uint64_t address,
                       unsigned bytes)
{
    if (i->tally == TALLY_STORE)
        written_store(written, address, bytes, i->element_bytes);
    else
        written_set(written, address, bytes);
}

void init_access(struct warp *w, const struct insn *i, const struct access *access)
{
    const struct emu *emu = w->block->launch->emu;
    enum ptx_space space = access->space;
    const uint64_t *address = access->address;
    struct init *init =
        space == PTX_SHARED ? NULL : owner_of(emu, address[__builtin_ctz(access->mask)]);
    if (space != PTX_SHARED && !init) return;
    struct written *written = init ? &init->written : &access->owner->initcheck->shared;
    for (uint32_t left = access_reads(access) ? access->mask : 0; left; left &= left - 1) {
        int lane = __builtin_ctz(left);
        read_lane(w, i, lane, space, written, address[lane], access->bytes);
    }
    for (uint32_t left = access_writes(access) ? access->mask : 0; left; left &= left - 1)
        write_lane(i, written, address[__builtin_ctz(left)], access->bytes);
}
