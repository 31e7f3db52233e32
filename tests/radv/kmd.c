/* SPDX-License-Identifier: MIT */
/* The device's file, what is found of it, and its ioctls but for those of info.c and sync.c. */
#include "kmd.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PUBLIC __attribute__((visibility("default")))

bool kmd_is_set(const char *variable, const char *value) {
    const char *text = getenv(variable);
    return text && strcmp(text, value) == 0;
}

/* ---- the device ---- */

static struct kmd device = {.lock = PTHREAD_MUTEX_INITIALIZER, .file = -1};
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void open_device(void) {
    const char *name = getenv("WEFT_AMD_GPU");
    struct stat about;
    name = name ? name : "gfx1030";
    device.gpu = amd_gpu_find(name);
    device.chip = kmd_chip_find(name);
    if (!device.gpu || !device.chip) {
        (void)fprintf(stderr, "WEFT_AMD_GPU names no GPU that is emulated\n");
        return;
    }
    const int file = memfd_create("emulated GPU", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, (off_t)KMD_FILE_BYTES) != 0 || fstat(file, &about) != 0) {
        perror("the emulated GPU's memory");
        return;
    }
    void *bytes =
        mmap(NULL, KMD_FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
    if (bytes == MAP_FAILED) {
        perror("the emulated GPU's memory");
        return;
    }
    device.bytes = bytes;
    device.inode = about.st_ino;
    device.device = about.st_dev;
    device.file = file;
}

struct kmd *kmd_device(void) {
    (void)pthread_once(&once, open_device);
    return &device;
}

static bool is_ours(int file) {
    struct stat about;
    const struct kmd *kmd = kmd_device();
    return kmd->file >= 0 && fstat(file, &about) == 0 && about.st_ino == kmd->inode &&
           about.st_dev == kmd->device;
}

/* ---- ioctls: structures of drm.h and amdgpu_drm.h ---- */

struct version {
    int major, minor, patch;
    size_t name_size;
    char *name;
    size_t date_size;
    char *date;
    size_t description_size;
    char *description;
};

struct capability {
    uint64_t which, value;
};

struct query {
    uint64_t to;
    uint32_t size, which, parameters[4];
};

union create {
    struct {
        uint64_t size, alignment, domains, flags;
    } in;
    struct {
        uint32_t handle, unused;
    } out;
};

union map {
    uint32_t handle;
    uint64_t offset;
};

struct metadata {
    uint32_t handle, operation;
    uint64_t flags, tiling;
    uint32_t size, data[64];
};

struct operation {
    uint32_t handle, which;
    uint64_t value;
};

struct address {
    uint32_t handle, unused, operation, flags;
    uint64_t address, offset, size;
};

union context {
    struct {
        uint32_t operation, flags, number;
        int32_t priority;
    } in;
    uint32_t out[4];
};

union submission {
    struct {
        uint32_t context, list, count, flags;
        uint64_t chunks;
    } in;
    uint64_t number;
};

struct chunk {
    uint32_t kind, words;
    uint64_t data;
};

struct chunk_commands {
    uint32_t unused, flags;
    uint64_t address;
    uint32_t bytes, engine, instance, ring;
};

struct chunk_point {
    uint32_t handle, flags;
    uint64_t point;
};

enum ioctl_number {
    VERSION = 0x00,
    CLOSE = 0x09,
    CAPABILITY = 0x0c,
    SYNC_FIRST = 0xbf,
    OWN = 0x40, /* where amdgpu's begin */
    CREATE = OWN,
    MAP,
    CONTEXT,
    LIST,
    SUBMIT,
    INFO,
    METADATA,
    WAIT_IDLE,
    ADDRESS,
    WAIT,
    OPERATION = OWN + 0x10
};

/* The first call asks for the size. */
static void tell_text(char *to, size_t *size, const char *text) {
    const size_t length = strlen(text);
    if (to && *size >= length) {
        memcpy(to, text, length);
    }
    *size = length;
}

static int tell_version(struct version *version) {
    tell_text(version->name, &version->name_size, "amdgpu");
    tell_text(version->date, &version->date_size, "2026");
    tell_text(version->description, &version->description_size, "emulated");
    version->major = 3;
    version->minor = 54;
    version->patch = 0;
    return 0;
}

static int tell_capability(struct capability *capability) {
    enum { SYNC = 0x13, SYNC_TIMELINE = 0x14 };
    capability->value = capability->which == SYNC || capability->which == SYNC_TIMELINE;
    return 0;
}

static int create(struct kmd *kmd, union create *with) {
    const uint32_t handle = kmd_buffer_create(kmd, with->in.size, with->in.domains, with->in.flags);
    with->out.handle = handle;
    return handle == 0 ? ENOMEM : 0;
}

static int map(union map *with) {
    const struct kmd_buffer *buffer = kmd_buffer_find(with->handle);
    with->offset = buffer ? buffer->offset : 0;
    return buffer ? 0 : ENOENT;
}

static int change_context(union context *with) {
    static uint32_t last;
    const uint32_t operation = with->in.operation;
    memset(with, 0, sizeof *with); /* nothing was reset, and there are no states of power */
    if (operation == 1) {
        with->out[0] = ++last;
    }
    return 0;
}

static int change_address(const struct address *with) {
    enum { MAP_IT = 1, UNMAP_IT, CLEAR_IT, REPLACE_IT, PARTLY_RESIDENT = 16 };
    if (with->operation == MAP_IT || with->operation == REPLACE_IT) {
        if ((with->flags & PARTLY_RESIDENT) != 0) { /* sparse: nothing is there */
            return 0;
        }
        if (with->operation == REPLACE_IT) {
            kmd_unmap(with->address, with->size);
        }
        return kmd_map(with->handle, with->address, with->offset, with->size) ? 0 : EINVAL;
    }
    kmd_unmap(with->address, with->size);
    return 0;
}

static int operate(const struct operation *with) {
    const struct kmd_buffer *buffer = kmd_buffer_find(with->handle);
    if (!buffer || with->which != 0) {
        return EINVAL;
    }
    const uint64_t told[4] = {buffer->size, 4096, buffer->domains, buffer->flags};
    memcpy((void *)(uintptr_t)with->value, told, sizeof told);
    return 0;
}

/* ---- submissions: done when they return ---- */

enum chunk_kind {
    COMMANDS = 1,
    FENCE = 2,
    DEPENDENCIES = 3,
    WAITS = 4,
    SIGNALS = 5,
    BUFFERS = 6,
    WAIT_POINTS = 8,
    SIGNAL_POINTS = 9
};

static int run_chunk(struct kmd *kmd, const struct chunk *chunk) {
    const void *data = (const void *)(uintptr_t)chunk->data;
    const struct chunk_commands *commands = data;
    const struct chunk_point *points = data;
    const uint32_t *handles = data, count = chunk->words / (uint32_t)(sizeof *points / 4);
    bool is_done = true;
    switch (chunk->kind) {
    case COMMANDS:
        is_done = kmd_run(kmd, commands->address, commands->bytes);
        break;
    case WAITS:
        for (uint32_t i = 0; i < chunk->words; i++) {
            is_done = is_done && kmd_sync_is_reached(handles[i], 0);
        }
        break;
    case WAIT_POINTS:
        for (uint32_t i = 0; i < count; i++) {
            is_done = is_done && kmd_sync_is_reached(points[i].handle, points[i].point);
        }
        break;
    case SIGNALS:
        for (uint32_t i = 0; i < chunk->words; i++) {
            kmd_sync_signal(handles[i], 0);
        }
        break;
    case SIGNAL_POINTS:
        for (uint32_t i = 0; i < count; i++) {
            kmd_sync_signal(points[i].handle, points[i].point);
        }
        break;
    default: /* which buffers it needs, and a fence in memory that nobody reads */
        break;
    }
    return is_done ? 0 : chunk->kind == COMMANDS ? ECANCELED : EINVAL;
}

/* What it waits for, then its commands, then what it signals, in whichever order the chunks stand. */
static int submit(struct kmd *kmd, union submission *with) {
    static const uint8_t phases[10] = {
        [WAITS] = 1, [WAIT_POINTS] = 1, [COMMANDS] = 2, [SIGNALS] = 3, [SIGNAL_POINTS] = 3};
    static uint64_t number;
    const uint64_t *list = (const uint64_t *)(uintptr_t)with->in.chunks;
    int error = 0;
    for (uint8_t phase = 1; phase <= 3; phase++) {
        for (uint32_t i = 0; i < with->in.count && error == 0; i++) {
            const struct chunk *chunk = (const struct chunk *)(uintptr_t)list[i];
            if (chunk->kind < sizeof phases && phases[chunk->kind] == phase) {
                error = run_chunk(kmd, chunk);
            }
        }
    }
    with->number = ++number;
    return error;
}

/* ---- all of them ---- */

static int run_ioctl(struct kmd *kmd, uint32_t number, void *argument) {
    switch (number) {
    case VERSION:
        return tell_version(argument);
    case CAPABILITY:
        return tell_capability(argument);
    case CLOSE:
        return kmd_buffer_close(kmd, *(uint32_t *)argument) ? 0 : EINVAL;
    case CREATE:
        return create(kmd, argument);
    case MAP:
        return map(argument);
    case CONTEXT:
        return change_context(argument);
    case SUBMIT:
        return submit(kmd, argument);
    case INFO: {
        const struct query *query = argument;
        return kmd_info(kmd, query->which, query->parameters, (void *)(uintptr_t)query->to,
                        query->size);
    }
    case METADATA:
        return ((struct metadata *)argument)->operation == 1 ? 0 : EINVAL;
    case WAIT_IDLE: /* nothing is busy */
    case WAIT:
        *(uint64_t *)argument = 0;
        return 0;
    case ADDRESS:
        return change_address(argument);
    case OPERATION:
        return operate(argument);
    default:
        return kmd_sync_ioctl(kmd, number, argument);
    }
}

int kmd_ioctl(struct kmd *kmd, unsigned long request, void *argument) {
    const uint32_t number = (uint32_t)(request & 0xff);
    pthread_mutex_lock(&kmd->lock);
    const int error = run_ioctl(kmd, number, argument);
    pthread_mutex_unlock(&kmd->lock);
    if (error == ENOTTY) {
        (void)fprintf(stderr, "emulated GPU: no ioctl %#x\n", number);
    }
    return error;
}

/* ---- functions in place of the system's ---- */

PUBLIC int ioctl(int file, unsigned long request, ...) {
    va_list list;
    va_start(list, request);
    void *argument = va_arg(list, void *);
    va_end(list);
    if ((request >> 8 & 0xff) != 'd' || !is_ours(file)) {
        return (int)syscall(SYS_ioctl, file, request, argument);
    }
    const int error = kmd_ioctl(kmd_device(), request, argument);
    errno = error != 0 ? error : errno;
    return error != 0 ? -1 : 0;
}

/* Of libdrm, whose xf86drm.h has these structures; drmFreeDevice frees one piece of memory. */
enum { NODE_PRIMARY = 0, NODE_RENDER = 2, NODES = 3 };

struct drm_device {
    char **nodes;
    int available, bus;
    const void *bus_info, *device_info;
};

struct pci_bus {
    uint16_t domain;
    uint8_t bus, device, function;
};

struct pci_device {
    uint16_t vendor, device, other_vendor, other_device;
    uint8_t revision;
};

struct one_device {
    struct drm_device device;
    char *nodes[NODES];
    char path[64];
    struct pci_bus bus;
    struct pci_device about;
};

static struct drm_device *make_device(void) {
    const struct kmd *kmd = kmd_device();
    struct one_device *made = kmd->file >= 0 ? calloc(1, sizeof *made) : NULL;
    if (!made) {
        return NULL;
    }
    (void)snprintf(made->path, sizeof made->path, "/proc/%ld/fd/%d", (long)getpid(), kmd->file);
    made->nodes[NODE_RENDER] = made->path;
    made->bus = (struct pci_bus){.bus = 3};
    made->about = (struct pci_device){.vendor = 0x1002, .device = (uint16_t)kmd->chip->device};
    made->device = (struct drm_device){made->nodes, 1 << NODE_RENDER, 0, &made->bus, &made->about};
    return &made->device;
}

PUBLIC int drmGetDevices2(uint32_t flags, struct drm_device **devices, int room);
PUBLIC int drmGetDevices2(uint32_t flags, struct drm_device **devices, int room) {
    (void)flags;
    struct drm_device *made = make_device();
    if (!devices || room < 1) {
        free(made);
        return made ? 1 : 0;
    }
    devices[0] = made;
    return made ? 1 : 0;
}

PUBLIC int drmGetDevice2(int file, uint32_t flags, struct drm_device **to);
PUBLIC int drmGetDevice2(int file, uint32_t flags, struct drm_device **to) {
    (void)flags;
    *to = is_ours(file) ? make_device() : NULL;
    return *to ? 0 : -ENODEV;
}

PUBLIC int drmGetNodeTypeFromFd(int file);
PUBLIC int drmGetNodeTypeFromFd(int file) {
    return is_ours(file) ? NODE_RENDER : -1;
}

PUBLIC char *drmGetPrimaryDeviceNameFromFd(int file);
PUBLIC char *drmGetPrimaryDeviceNameFromFd(int file) {
    return is_ours(file) ? strdup("emulated GPU") : NULL;
}

/* Of libdrm_amdgpu: Weft takes no device by itself that says it is for tests. */
PUBLIC const char *amdgpu_get_marketing_name(const void *unused);
PUBLIC const char *amdgpu_get_marketing_name(const void *unused) {
    static char name[64];
    (void)unused;
    (void)snprintf(name, sizeof name, "emulated %s (tests only)", kmd_device()->gpu->name);
    return name;
}
