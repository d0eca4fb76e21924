/* address_space.c — the addresses of a device's memory. */
#define _GNU_SOURCE /* mincore, MAP_ANONYMOUS, MAP_NORESERVE, MAP_FIXED_NOREPLACE, memfd_create */
#include "device.h"

/* Every run gets these addresses if they are free, so that traces repeat. */
#define PREFERRED_BASE UINT64_C(0x300000000000)
#define PER_DEVICE     UINT64_C(0x010000000000)

#ifdef __wasm__

#include <stdlib.h>
#include <string.h>

bool address_space_open(struct address_space *space, uint64_t bytes, unsigned number, size_t spare)
{
    (void)spare; /* the memory grows, and the browser says when it cannot */
    uint8_t *store = bytes <= SIZE_MAX ? aligned_alloc(RANGES_GAP, (size_t)bytes) : NULL;
    if (!store) return false;
    memset(store, 0, (size_t)bytes);
    *space = (struct address_space){PREFERRED_BASE + number * PER_DEVICE, store, bytes};
    return true;
}

void address_space_close(struct address_space *space)
{
    free(space->store);
    *space = (struct address_space){0};
}

void address_space_discard(void *first_page, size_t bytes) { (void)first_page, (void)bytes; }
bool address_space_host_has(uint64_t address) { return address <= SIZE_MAX; }

/* There is one process. */
int address_space_file(uint64_t bytes)
{
    (void)bytes;
    return -1;
}
bool address_space_label(int file, const void *label, size_t size)
{
    (void)file, (void)label, (void)size;
    return false;
}
int address_space_borrow(int process, int file, void *label, size_t size)
{
    (void)process, (void)file, (void)label, (void)size;
    return -1;
}
void address_space_close_file(int file) { (void)file; }
bool address_space_share(void *first_page, uint64_t bytes, int file, bool keep)
{
    (void)first_page, (void)bytes, (void)file, (void)keep;
    return false;
}
void address_space_unshare(void *first_page, uint64_t bytes) { (void)first_page, (void)bytes; }
int address_space_process(void) { return 0; }
bool address_space_random(void *bytes, size_t size)
{
    (void)bytes, (void)size;
    return false;
}

#else

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

enum { RESERVED = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE };

/* Reserves addresses for device memory and for its bytes, at the preferred place if it is free. */
static bool reserve(struct address_space *space, uint64_t bytes, unsigned number)
{
    void *preferred = (void *)(uintptr_t)(PREFERRED_BASE + number * PER_DEVICE);
    void *addresses = mmap(preferred, bytes, PROT_NONE, RESERVED | MAP_FIXED_NOREPLACE, -1, 0);
    if (addresses == MAP_FAILED) addresses = mmap(NULL, bytes, PROT_NONE, RESERVED, -1, 0);
    if (addresses == MAP_FAILED) return false;
    void *store = mmap(NULL, bytes, PROT_READ | PROT_WRITE, RESERVED, -1, 0);
    if (store == MAP_FAILED) {
        munmap(addresses, bytes);
        return false;
    }
    *space = (struct address_space){(uint64_t)(uintptr_t)addresses, store, bytes};
    return true;
}

/* Does the host have this many bytes of addresses left? */
static bool has_spare(size_t bytes)
{
    void *spare = bytes ? mmap(NULL, bytes, PROT_NONE, RESERVED, -1, 0) : NULL;
    if (spare == MAP_FAILED) return false;
    if (spare) munmap(spare, bytes);
    return true;
}

bool address_space_open(struct address_space *space, uint64_t bytes, unsigned number, size_t spare)
{
    if (!reserve(space, bytes, number)) return false;
    if (has_spare(spare)) return true;
    address_space_close(space);
    return false;
}

void address_space_close(struct address_space *space)
{
    munmap((void *)(uintptr_t)space->base, space->bytes);
    munmap(space->store, space->bytes);
    *space = (struct address_space){0};
}

void address_space_discard(void *first_page, size_t bytes)
{
    madvise(first_page, bytes, MADV_DONTNEED);
}

bool address_space_host_has(uint64_t address)
{
    unsigned char is_resident;
    return mincore((void *)(uintptr_t)(address & ~(uint64_t)(RANGES_GAP - 1)), 1, &is_resident) ==
           0;
}

/* ---- memory that processes share ------------------------------------------------------------- */

enum { LABEL_BYTES = RANGES_GAP }; /* a page, so that the content can be mapped */

/* Programs may rely on low descriptors being free. */
static int move_up(int file)
{
    enum { HIGH = 512 };
    int high = file >= 0 ? fcntl(file, F_DUPFD_CLOEXEC, HIGH) : -1;
    if (high < 0) return file;
    close(file);
    return high;
}

int address_space_file(uint64_t bytes)
{
    int file = move_up(memfd_create("emu-device-memory", MFD_CLOEXEC));
    if (file < 0 || ftruncate(file, (off_t)(LABEL_BYTES + bytes)) == 0) return file;
    close(file);
    return -1;
}

bool address_space_label(int file, const void *label, size_t size)
{
    return pwrite(file, label, size, 0) == (ssize_t)size;
}

int address_space_borrow(int process, int file, void *label, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", process, file);
    int borrowed = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (borrowed >= 0 && pread(borrowed, label, size, 0) != (ssize_t)size) memset(label, 0, size);
    return borrowed;
}

void address_space_close_file(int file) { close(file); }

/* Pages of zeros take no memory in the file. */
static bool write_pages(int file, const uint8_t *first_page, uint64_t bytes)
{
    static const uint8_t zeros[RANGES_GAP];
    for (uint64_t k = 0; k < bytes; k += sizeof zeros)
        if (memcmp(first_page + k, zeros, sizeof zeros) != 0 &&
            pwrite(file, first_page + k, sizeof zeros, (off_t)(LABEL_BYTES + k)) != sizeof zeros)
            return false;
    return true;
}

bool address_space_share(void *first_page, uint64_t bytes, int file, bool keep)
{
    if (keep && !write_pages(file, first_page, bytes)) return false;
    return mmap(first_page, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE,
                file, LABEL_BYTES) != MAP_FAILED;
}

void address_space_unshare(void *first_page, uint64_t bytes)
{
    mmap(first_page, bytes, PROT_READ | PROT_WRITE, RESERVED | MAP_FIXED, -1, 0);
}

int address_space_process(void) { return (int)getpid(); }

bool address_space_random(void *bytes, size_t size)
{
    return getrandom(bytes, size, 0) == (ssize_t)size;
}

#endif
