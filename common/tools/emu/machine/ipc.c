/* ipc.c — device memory that several processes share (cudaIpcGetMemHandle).
 *
 * The bytes of an exported allocation move into a file in memory, which takes the place of the same
 * pages of the store: their addresses stay. A handle says which process has which file open, and
 * has a random key, which the file has as well. An importing process opens that file through /proc
 * and maps it into its own store, at device addresses of its own. */
#include "device.h"
#include "events.h"
#include <errno.h>
#include <inttypes.h>

#define MAGIC UINT64_C(0x3143504975536570) /* of this layout */

/* A handle, and the label of its file. */
struct handle {
    uint64_t magic, key[2], bytes;
    int32_t process, file;
    uint64_t page_offset; /* of the first byte in its page */
    char gpu[16];         /* the key of the model */
};
_Static_assert(sizeof(struct handle) == EMU_HANDLE_BYTES, "the size of cudaIpcMemHandle_t");

struct ipc_area {
    struct ipc_area *next;
    emu_addr base;
    struct handle handle;
    int file;            /* of an exported area */
    unsigned references; /* of an imported area; 0: it is exported */
};

static struct ipc_area **find_base(struct memory *memory, emu_addr base)
{
    struct ipc_area **link = &memory->areas;
    while (*link && (*link)->base != base) link = &(*link)->next;
    return link;
}

static struct ipc_area *find_imported(struct memory *memory, const struct handle *handle)
{
    struct ipc_area *area = memory->areas;
    while (area && (!area->references || memcmp(&area->handle, handle, sizeof *handle)))
        area = area->next;
    return area;
}

static struct ipc_area *add(struct memory *memory)
{
    struct ipc_area *area = allocated(calloc(1, sizeof *area));
    area->next = memory->areas;
    memory->areas = area;
    memory->area_count++;
    return area;
}

static void drop(struct memory *memory, struct ipc_area **link)
{
    struct ipc_area *area = *link;
    *link = area->next;
    free(area);
    memory->area_count--;
}

/* ---- exporting ------------------------------------------------------------------------------- */

void ipc_withdraw(struct memory *memory, const struct range *range)
{
    uint64_t bytes;
    void *first_page = memory_pages(range, &bytes);
    struct ipc_area **link = find_base(memory, range->base);
    address_space_unshare(first_page, bytes);
    address_space_close_file((*link)->file);
    drop(memory, link);
}

void ipc_close_all(struct memory *memory)
{
    while (memory->areas) {
        if (!memory->areas->references) address_space_close_file(memory->areas->file);
        drop(memory, &memory->areas);
    }
}

/* Moves a range's bytes into a file. False: the host has no memory or no files for it. */
static bool move_out(const struct range *range, struct ipc_area *area)
{
    uint64_t bytes;
    void *first_page = memory_pages(range, &bytes);
    struct handle *handle = &area->handle;
    area->file = handle->file = address_space_file(bytes);
    if (area->file < 0) return false;
    if (address_space_random(handle->key, sizeof handle->key) &&
        address_space_label(area->file, handle, sizeof *handle) &&
        address_space_share(first_page, bytes, area->file, true))
        return true;
    address_space_close_file(area->file);
    return false;
}

static int export_range(struct emu *emu, struct range *range)
{
    struct ipc_area *area = add(&emu->memory);
    area->base = range->base;
    area->handle = (struct handle){.magic = MAGIC,
                                   .bytes = range->bytes,
                                   .process = address_space_process(),
                                   .page_offset = range->base % RANGES_GAP};
    strncpy(area->handle.gpu, emu->gpu->key, sizeof area->handle.gpu - 1);
    if (!move_out(range, area)) {
        drop(&emu->memory, &emu->memory.areas);
        return device_failed(emu, EMU_OUT_OF_MEMORY,
                             "the host has no memory to share %" PRIu64 " bytes with other "
                             "processes",
                             range->bytes);
    }
    range->is_exported = true;
    event_host_write(emu, range->base, range->bytes); /* by other processes, from now on */
    return EMU_OK;
}

int emu_export(struct emu *emu, emu_addr address, void *handle)
{
    int error = EMU_OK;
    pthread_mutex_lock(&emu->lock);
    struct range *range = (struct range *)memory_find(&emu->memory, address);
    if (!range || !range->delta || range->is_heap || range->is_imported)
        error = device_failed(emu, EMU_INVALID_VALUE,
                              "0x%" PRIx64 " is not in memory that this process has allocated",
                              address);
    else if (!range->is_exported)
        error = export_range(emu, range);
    if (!error) memcpy(handle, &(*find_base(&emu->memory, range->base))->handle, EMU_HANDLE_BYTES);
    pthread_mutex_unlock(&emu->lock);
    return error;
}

/* ---- importing ------------------------------------------------------------------------------- */

/* Opens the file of a handle. -1: the message is set, and *error. */
static int open_file(struct emu *emu, const struct handle *handle, int *error)
{
    struct handle label;
    int file = address_space_borrow(handle->process, handle->file, &label, sizeof label);
    bool is_forbidden = file < 0 && (errno == EACCES || errno == EPERM);
    if (is_forbidden) {
        *error = device_failed(emu, EMU_MAP_FAILED,
                               "process %" PRId32 " belongs to another user, and its memory cannot "
                               "be shared",
                               handle->process);
    } else if (file < 0 || memcmp(&label, handle, sizeof label)) {
        *error = device_failed(emu, EMU_INVALID_HANDLE,
                               "process %" PRId32 " has ended, or has freed the memory that it "
                               "exported",
                               handle->process);
    } else if (handle->process == address_space_process()) {
        *error = device_failed(emu, EMU_OWN_MEMORY,
                               "this process has exported the memory itself: use its own pointer");
    } else if (strncmp(handle->gpu, emu->gpu->key, sizeof handle->gpu)) {
        *error = device_failed(emu, EMU_NOT_A_PEER,
                               "the memory is that of another model of GPU, %s: use the same "
                               "EMU_GPU for all processes",
                               handle->gpu);
    } else {
        return file;
    }
    if (file >= 0) address_space_close_file(file);
    return -1;
}

/* Maps an open file at new device addresses. */
static int map_file(struct memory *memory, const struct handle *handle, int file)
{
    struct ipc_area *area = add(memory);
    uint64_t bytes;
    int error = memory_take(memory, handle->bytes, handle->page_offset, &area->base);
    if (!error) {
        void *first_page = memory_pages(memory_find(memory, area->base), &bytes);
        area->handle = *handle;
        area->references = 1;
        if (address_space_share(first_page, bytes, file, false)) return EMU_OK;
        memory_give_back(memory, area->base);
    }
    drop(memory, &memory->areas);
    return EMU_OUT_OF_MEMORY;
}

static int import(struct emu *emu, const struct handle *handle)
{
    int error = EMU_OK, file = open_file(emu, handle, &error);
    if (error) return error;
    error = map_file(&emu->memory, handle, file);
    address_space_close_file(file);
    if (error)
        return device_failed(emu, error,
                             "the device has no addresses for %" PRIu64 " bytes of another "
                             "process",
                             handle->bytes);
    event_host_write(emu, emu->memory.areas->base, handle->bytes);
    return EMU_OK;
}

int emu_import(struct emu *emu, const void *bytes, emu_addr *address)
{
    struct handle handle;
    int error = EMU_OK;
    memcpy(&handle, bytes, sizeof handle);
    pthread_mutex_lock(&emu->lock);
    struct ipc_area *area = find_imported(&emu->memory, &handle);
    if (area)
        area->references++;
    else if (handle.magic != MAGIC)
        error = device_failed(emu, EMU_INVALID_VALUE, "this is not a handle of the emulator");
    else
        error = import(emu, &handle);
    if (!error) *address = area ? area->base : emu->memory.areas->base;
    pthread_mutex_unlock(&emu->lock);
    return error;
}

unsigned emu_imported(struct emu *emu, emu_addr address)
{
    pthread_mutex_lock(&emu->lock);
    const struct ipc_area *area = *find_base(&emu->memory, address);
    unsigned references = area ? area->references : 0;
    pthread_mutex_unlock(&emu->lock);
    return references;
}

int emu_close_import(struct emu *emu, emu_addr address)
{
    int error = EMU_OK;
    struct memory *memory = &emu->memory;
    pthread_mutex_lock(&emu->lock);
    struct ipc_area **link = find_base(memory, address);
    if (!*link || !(*link)->references) {
        error =
            device_failed(emu, EMU_INVALID_VALUE,
                          "0x%" PRIx64 " is not the start of another process's memory", address);
    } else if (--(*link)->references == 0) {
        uint64_t bytes, size = (*link)->handle.bytes;
        void *first_page = memory_pages(memory_find(memory, address), &bytes);
        address_space_unshare(first_page, bytes);
        memory_give_back(memory, address);
        drop(memory, link);
        event_drop(emu, address, size);
    }
    pthread_mutex_unlock(&emu->lock);
    return error;
}
