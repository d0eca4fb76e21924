/* fatbin.c — PTX and machine code from the container in a program, decompressed. */
#define _GNU_SOURCE /* memmem */
#include "binary.h"
#include "common/tools/emu/emu.h"
#include <string.h>
#include <zstd.h>

/* ---- LZ4 ------------------------------------------------------------------------------------- */

/* A block is a row of sequences. Each is a token byte, literals to copy from the input, and a
 * match: bytes to copy from `offset` bytes back in the output. The last sequence ends after its
 * literals. */

enum {
    NIBBLE_FULL = 15, /* a length of 15 in the token continues in the bytes that follow */
    BYTE_FULL = 255,  /* after a length byte of 255 another one follows */
    MIN_MATCH = 4,    /* a match is longer than its length field by this many bytes */
};

struct input {
    const unsigned char *at, *end;
};

/* Adds the bytes that continue a length. False at the end of the input or if the sum overflows. */
static bool read_long_length(struct input *in, size_t *length)
{
    unsigned char byte;
    do {
        if (in->at == in->end) return false;
        byte = *in->at++;
        if (*length > SIZE_MAX - MIN_MATCH - byte) return false;
        *length += byte;
    } while (byte == BYTE_FULL);
    return true;
}

bool lz4_decode(unsigned char *to, size_t to_size, const unsigned char *from, size_t from_size)
{
    struct input in = {from, from + from_size};
    size_t done = 0; /* bytes written to `to` */

    while (in.at < in.end) {
        unsigned char token = *in.at++;

        size_t literals = token >> 4;
        if (literals == NIBBLE_FULL && !read_long_length(&in, &literals)) return false;
        if (literals > (size_t)(in.end - in.at) || literals > to_size - done) return false;
        memcpy(to + done, in.at, literals);
        in.at += literals;
        done += literals;
        if (in.at == in.end) break;

        if (in.end - in.at < 2) return false;
        size_t offset = in.at[0] | (size_t)in.at[1] << 8;
        in.at += 2;
        size_t match = token & NIBBLE_FULL;
        if (match == NIBBLE_FULL && !read_long_length(&in, &match)) return false;
        match += MIN_MATCH;
        if (offset == 0 || offset > done || match > to_size - done) return false;
        /* Byte by byte, because a match may overlap its own output, which then repeats a
         * pattern. */
        for (; match > 0; match--, done++) to[done] = to[done - offset];
    }
    return done == to_size;
}

/* ---- the container --------------------------------------------------------------------------- */

/*
 * NVIDIA does not document the container; the layout below is what nvcc 13.0 writes. All numbers
 * are little-endian. They are read byte by byte, so the data may have any alignment.
 *
 *   container   u32 magic, u16 version, u16 header size, u64 size of the entries that follow
 *   entry       a header of `header_size` bytes, then a payload of `payload_size` bytes
 */

enum {
    CONTAINER_MAGIC = 0xBA55ED50,
    CONTAINER_HEADER = 16, /* bytes, at least */
    ENTRY_HEADER = 64,     /* bytes, at least */

    KIND_PTX = 1,
    KIND_CUBIN = 2,
    KIND_LTO = 8, /* the compiler's intermediate code, for nvcc -dlto */

    FLAG_LZ4 = 0x2000,
    FLAG_ZSTD = 0x8000,
    FLAG_THIS_ARCH_ONLY = 0x100000,   /* compute_90a */
    FLAG_THIS_FAMILY_ONLY = 0x200000, /* compute_100f */

    NO_KERNEL_IMAGE = 209, /* cudaErrorNoKernelImageForDevice */
};

/* A limit for the size of a text. A larger length field is damaged and must not be allocated. */
#define TEXT_LIMIT ((uint64_t)1 << 30)
/* The most bytes that one compressed byte can become: in LZ4 a byte of a length field, in zstd a
 * block of 128 KiB made of 3 bytes. */
enum { LZ4_RATIO = 255, ZSTD_RATIO = (128 << 10) / 3 };

struct entry {
    unsigned kind, arch;
    uint64_t flags;
    const unsigned char *payload;
    uint64_t payload_size;    /* padded with zeros to a multiple of 8 */
    uint64_t compressed_size; /* 0: the payload is the text itself */
    uint64_t text_size;       /* of the text after decompression */
    bool never_fuses;         /* as that of struct fatbin_ptx */
};

/* What is left to read. */
struct cursor {
    const unsigned char *at;
    uint64_t left;
};

static uint64_t little_endian(const unsigned char *p, int bytes)
{
    uint64_t value = 0;
    for (int i = bytes - 1; i >= 0; i--) value = value << 8 | p[i];
    return value;
}

static uint64_t u16(const unsigned char *p) { return little_endian(p, 2); }
static uint64_t u32(const unsigned char *p) { return little_endian(p, 4); }
static uint64_t u64(const unsigned char *p) { return little_endian(p, 8); }

static int malformed(char *message, size_t size, const char *what)
{
    snprintf(message, size, "the program's fat binary is damaged: %s", what);
    return EMU_INVALID_PTX;
}

/* Behind the fields that every header has: where in it the words for ptxas are, and how long. */
static bool never_fuses(const unsigned char *p, uint64_t header_size)
{
    static const char *const words[] = {"-O0 ", "--opt-level=0 ", "-fmad=false ", "--fmad false "};
    if (header_size < ENTRY_HEADER + 8) return false;
    uint64_t at = u32(p + ENTRY_HEADER), length = u32(p + ENTRY_HEADER + 4);
    if (at > header_size || length > header_size - at) return false;
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (memmem(p + at, (size_t)length, words[k], strlen(words[k])) != NULL) return true;
    return false;
}

/* Reads the next entry and moves the cursor behind it. Returns NULL, or what is wrong. */
static const char *next_entry(struct cursor *cursor, struct entry *entry)
{
    const unsigned char *p = cursor->at;
    if (cursor->left < ENTRY_HEADER) return "an entry's header is cut off";
    uint64_t header_size = u32(p + 4), payload_size = u64(p + 8);
    if (header_size < ENTRY_HEADER || header_size > cursor->left)
        return "an entry's header has an impossible size";
    if (payload_size > cursor->left - header_size) return "an entry goes beyond the end";

    *entry = (struct entry){
        .kind = (unsigned)u16(p),
        .arch = (unsigned)u32(p + 28),
        .flags = u64(p + 40),
        .payload = p + header_size,
        .payload_size = payload_size,
        .compressed_size = u32(p + 16),
        .text_size = u64(p + 56),
        .never_fuses = never_fuses(p, header_size),
    };
    if (entry->compressed_size > payload_size) return "an entry is larger than its room";
    cursor->at += header_size + payload_size;
    cursor->left -= header_size + payload_size;
    return NULL;
}

/* Can code for this entry's architecture run on max_arch? (Machine code of an older architecture
 * cannot run, but it can be compared with PTX.) */
static bool suits(const struct entry *entry, unsigned kind, unsigned max_arch)
{
    if (entry->kind != kind) return false;
    if (entry->flags & FLAG_THIS_ARCH_ONLY) return entry->arch == max_arch;
    if (entry->flags & FLAG_THIS_FAMILY_ONLY && entry->arch / 10 != max_arch / 10) return false;
    return entry->arch <= max_arch;
}

static const char *decompress(const struct entry *entry, char *to)
{
    size_t text_size = (size_t)entry->text_size;
    if (entry->flags & FLAG_ZSTD) {
        size_t got = ZSTD_decompress(to, text_size, entry->payload, entry->compressed_size);
        if (ZSTD_isError(got)) return "its PTX does not decompress (zstd)";
        return got == text_size ? NULL : "its PTX decompresses to another size than it says (zstd)";
    }
    if (entry->flags & FLAG_LZ4)
        return lz4_decode((unsigned char *)to, text_size, entry->payload, entry->compressed_size)
                   ? NULL
                   : "its PTX does not decompress (LZ4)";
    return "its PTX is compressed in an unknown way";
}

/* Decompresses the text or the machine code of an entry into malloc'ed memory, with a NUL behind
 * it. */
static int unpack(const struct entry *entry, char **bytes, size_t *length, char *message,
                  size_t size)
{
    bool stored = entry->compressed_size == 0;
    uint64_t count = stored ? entry->payload_size : entry->text_size;
    uint64_t ratio = entry->flags & FLAG_ZSTD ? ZSTD_RATIO : LZ4_RATIO;
    if (count > TEXT_LIMIT || (!stored && count / ratio > entry->compressed_size))
        return malformed(message, size, "its PTX has an impossible size");

    char *text = allocated(malloc((size_t)count + 1));
    const char *problem = NULL;
    if (stored)
        memcpy(text, entry->payload, (size_t)count);
    else
        problem = decompress(entry, text);
    if (problem != NULL) {
        free(text);
        return malformed(message, size, problem);
    }
    text[count] = '\0';
    *bytes = text;
    *length = (size_t)count;
    return EMU_OK;
}

/* Appends " compute_75" or " sm_90" to the list of the container's entries, if it fits. */
static void note_entry(char *list, size_t size, const struct entry *entry)
{
    const char *prefix = entry->kind == KIND_PTX     ? "compute"
                         : entry->kind == KIND_CUBIN ? "sm"
                         : entry->kind == KIND_LTO   ? "lto"
                                                     : "other";
    const char *suffix = entry->flags & FLAG_THIS_ARCH_ONLY     ? "a"
                         : entry->flags & FLAG_THIS_FAMILY_ONLY ? "f"
                                                                : "";
    size_t used = strlen(list);
    snprintf(list + used, size - used, " %s_%u%s", prefix, entry->arch, suffix);
}

/* Finds the entries of a container. Returns NULL, or what is wrong. */
static const char *open_container(const void *data, size_t limit, struct cursor *cursor)
{
    const unsigned char *p = data;
    if (limit < CONTAINER_HEADER || u32(p) != CONTAINER_MAGIC) return "it does not begin as one";
    uint64_t header_size = u16(p + 6), entries_size = u64(p + 8);
    if (header_size < CONTAINER_HEADER || header_size > limit || entries_size > limit - header_size)
        return "it goes beyond its end";
    *cursor = (struct cursor){p + header_size, entries_size};
    return NULL;
}

/* Finds the entry of a kind with the highest architecture that suits; its payload is NULL if no
 * entry suits. Lists all entries in found[size]. Returns NULL, or what is wrong. */
static const char *best_entry(const void *data, size_t limit, unsigned kind, unsigned max_arch,
                              struct entry *best, char *found, size_t size)
{
    struct cursor cursor;
    struct entry entry;
    *best = (struct entry){0};
    const char *problem = open_container(data, limit, &cursor);
    while (problem == NULL && cursor.left > 0) {
        problem = next_entry(&cursor, &entry);
        if (problem != NULL) break;
        note_entry(found, size, &entry);
        if (suits(&entry, kind, max_arch) && (best->payload == NULL || entry.arch > best->arch))
            *best = entry;
    }
    return problem;
}

size_t fatbin_size(const void *data, size_t limit)
{
    struct cursor cursor;
    if (open_container(data, limit, &cursor) != NULL) return 0;
    return (size_t)(cursor.at + cursor.left - (const unsigned char *)data);
}

bool fatbin_machine_code(const void *data, size_t limit, unsigned max_arch, struct fatbin_code *out)
{
    struct entry entry;
    char message[200] = "", *unpacked;
    *out = (struct fatbin_code){0};
    if (best_entry(data, limit, KIND_CUBIN, max_arch, &entry, message, sizeof message) != NULL ||
        entry.payload == NULL)
        return false;
    *out = (struct fatbin_code){
        .data = entry.payload, .size = (size_t)entry.payload_size, .arch = entry.arch};
    if (entry.compressed_size == 0) return true;
    if (unpack(&entry, &unpacked, &out->size, message, sizeof message) != EMU_OK) return false;
    out->data = out->allocated = unpacked;
    return true;
}

int fatbin_extract(const void *data, size_t limit, unsigned max_arch, struct fatbin_ptx *out,
                   char *message, size_t size)
{
    struct entry best;
    char found[200] = "";
    const char *problem = best_entry(data, limit, KIND_PTX, max_arch, &best, found, sizeof found);
    if (problem != NULL) return malformed(message, size, problem);
    if (best.payload == NULL) {
        snprintf(message, size,
                 "the program holds no PTX for sm_%u, but:%s (sm_NN is machine code, which the "
                 "emulator does not execute); compile it %swith "
                 "-gencode arch=compute_%u,code=compute_%u, or choose another model with EMU_GPU",
                 max_arch, found[0] != '\0' ? found : " no code",
                 strstr(found, " lto") != NULL ? "without -dlto, " : "", max_arch, max_arch);
        return NO_KERNEL_IMAGE;
    }
    *out = (struct fatbin_ptx){.arch = best.arch, .never_fuses = best.never_fuses};
    int error = unpack(&best, &out->text, &out->length, message, size);
    if (error != EMU_OK) return error;
    while (out->length > 0 && out->text[out->length - 1] == '\0') out->length--; /* padding */
    return EMU_OK;
}
