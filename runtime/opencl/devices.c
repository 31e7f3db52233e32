/* SPDX-License-Identifier: MIT */
#include "opencl/devices.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "core/hash.h"
#include "core/math/float_state.h"
#include "core/vendor.h"
#include "jobs/machine.h"
#include "opencl/emit.h"

/* ---- finding them ---- */

enum { MAX_PLATFORMS = 16, MAX_DEVICES = 32 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool looked;
static struct weft_cl_device devices[MAX_DEVICES];
static uint32_t device_count;
static char absence[WEFT_CL_REASON_SIZE] = "no OpenCL platform has a device";

static void add_platform(const struct weft_cl_functions *cl, cl_platform_id platform,
                         const weft_host *host) {
    cl_device_id ids[MAX_DEVICES];
    cl_uint count = 0;
    const cl_int result = cl->GetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, MAX_DEVICES, ids, &count);
    if (result != CL_SUCCESS && result != CL_DEVICE_NOT_FOUND) {
        char text[24];
        (void)snprintf(absence, sizeof absence,
                       "an OpenCL platform has no devices (clGetDeviceIDs: %s)",
                       weft_cl_error_name(result, text));
        weft_log(host, WEFT_LOG_INFO, "%s", absence);
    }
    for (cl_uint i = 0; result == CL_SUCCESS && i < count && device_count < MAX_DEVICES; i++) {
        devices[device_count++] =
            (struct weft_cl_device){.cl = cl, .platform = platform, .id = ids[i]};
    }
}

static void look(const struct weft_cl_functions *cl, const weft_host *host) {
    cl_platform_id platforms[MAX_PLATFORMS];
    cl_uint count = 0;
    const cl_int result = cl->GetPlatformIDs(MAX_PLATFORMS, platforms, &count);
    if (result != CL_SUCCESS) { /* the loader's way to say that it knows none */
        char text[24];
        (void)snprintf(absence, sizeof absence,
                       "the OpenCL library knows no platform (clGetPlatformIDs: %s)",
                       weft_cl_error_name(result, text));
        weft_log(host, WEFT_LOG_INFO, "no OpenCL devices: %s", absence);
        return;
    }
    for (cl_uint i = 0; i < count && i < MAX_PLATFORMS; i++) {
        add_platform(cl, platforms[i], host);
    }
}

/*
 * Drivers for processors start threads here, which inherit how this thread treats subnormals. They would do otherwise where the program has
 * used OpenCL before, so nothing is to depend on it: the probe asks such devices each time.
 */
static uint32_t count_with_default_floats(const weft_host *host) {
    char reason[WEFT_CL_REASON_SIZE];
    /* First, since it refuses a child whose parent may have held the lock at the fork. */
    const struct weft_cl_functions *cl = weft_cl_open(reason);
    if (!cl) {
        if (reason[0] != '\0') {
            weft_log(host, WEFT_LOG_INFO, "no OpenCL devices: %s", reason);
        }
        return 0;
    }
    pthread_mutex_lock(&lock);
    if (!looked) {
        look(cl, host);
        looked = true;
    }
    const uint32_t count = device_count;
    pthread_mutex_unlock(&lock);
    return count;
}

uint32_t weft_cl_device_count(const weft_host *host) {
    const weft_float_state state = weft_float_state_default();
    const uint32_t count = count_with_default_floats(host);
    weft_float_state_restore(&state);
    return count;
}

void weft_cl_absence(char *reason) {
    if (weft_cl_open(reason)) {
        pthread_mutex_lock(&lock);
        (void)snprintf(reason, WEFT_CL_REASON_SIZE, "%s", absence);
        pthread_mutex_unlock(&lock);
    } else if (reason[0] == '\0') {
        (void)snprintf(reason, WEFT_CL_REASON_SIZE,
                       "the system has no OpenCL library, or WEFT_OPENCL=0 turns it off");
    }
}

struct weft_cl_device *weft_cl_device_at(uint32_t index) {
    return &devices[index];
}

/* ---- what they are ---- */

static void read_text(char *text, size_t size, const struct weft_cl_device *device,
                      cl_device_info what) {
    text[0] = '\0';
    if (device->cl->GetDeviceInfo(device->id, what, size, text, NULL) != CL_SUCCESS) {
        text[0] = '\0';
    }
    text[size - 1] = '\0';
}

static void read_platform(char *text, size_t size, const struct weft_cl_device *device,
                          cl_platform_info what) {
    text[0] = '\0';
    if (device->cl->GetPlatformInfo(device->platform, what, size, text, NULL) != CL_SUCCESS) {
        text[0] = '\0';
    }
    text[size - 1] = '\0';
}

static cl_uint read_uint(const struct weft_cl_device *device, cl_device_info what) {
    cl_uint value = 0;
    return device->cl->GetDeviceInfo(device->id, what, sizeof value, &value, NULL) == CL_SUCCESS
               ? value
               : 0;
}

static cl_ulong read_ulong(const struct weft_cl_device *device, cl_device_info what) {
    cl_ulong value = 0;
    return device->cl->GetDeviceInfo(device->id, what, sizeof value, &value, NULL) == CL_SUCCESS
               ? value
               : 0;
}

/* Reads a value whose type has the size of a pointer. */
static size_t read_size(const struct weft_cl_device *device, cl_device_info what) {
    size_t value = 0;
    return device->cl->GetDeviceInfo(device->id, what, sizeof value, &value, NULL) == CL_SUCCESS
               ? value
               : 0;
}

static VkPhysicalDeviceType type_of(const struct weft_cl_device *device) {
    const cl_device_type type = read_ulong(device, CL_DEVICE_TYPE);
    if ((type & CL_DEVICE_TYPE_CPU) != 0) {
        return VK_PHYSICAL_DEVICE_TYPE_CPU;
    }
    if ((type & CL_DEVICE_TYPE_GPU) == 0) {
        return VK_PHYSICAL_DEVICE_TYPE_OTHER;
    }
    return read_uint(device, CL_DEVICE_HOST_UNIFIED_MEMORY) ? VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU
                                                            : VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
}

bool weft_cl_is_second_choice(const struct weft_cl_device *device) {
    char platform[128], name[256];
    read_platform(platform, sizeof platform, device, CL_PLATFORM_NAME);
    read_text(name, sizeof name, device, CL_DEVICE_NAME);
    return type_of(device) == VK_PHYSICAL_DEVICE_TYPE_CPU || strstr(platform, "clvk") ||
           strstr(name, "zink") || strstr(name, "(tests only)");
}

bool weft_cl_builds_alone(const struct weft_cl_device *device) {
    char platform[128];
    read_platform(platform, sizeof platform, device, CL_PLATFORM_NAME);
    return strstr(platform, "Oclgrind");
}

/* Vulkan's numbers of vendors of GPUs; OpenCL's are whatever the driver likes, mostly the same. A processor's says nothing about GPUs. */
static uint32_t vendor_of(const struct weft_cl_device *device) {
    static const struct {
        const char *part;
        uint32_t id;
    } known[] = {{"QUALCOMM", WEFT_VENDOR_QUALCOMM},
                 {"ARM", WEFT_VENDOR_ARM},
                 {"Imagination", WEFT_VENDOR_IMAGINATION}};
    char vendor[128];
    if (type_of(device) == VK_PHYSICAL_DEVICE_TYPE_CPU) {
        return 0;
    }
    read_text(vendor, sizeof vendor, device, CL_DEVICE_VENDOR);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strstr(vendor, known[i].part)) {
            return known[i].id;
        }
    }
    return read_uint(device, CL_DEVICE_VENDOR_ID);
}

static uint32_t least(uint64_t value, uint32_t most) {
    return value < most ? (uint32_t)value : most;
}

#define MOST_RANGE UINT32_C(0xfffffff0) /* offsets within a binding are of 32 bits */

static void read_limits(VkPhysicalDeviceLimits *limits, const struct weft_cl_device *device) {
    size_t sizes[16] = {0}; /* CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS is at least 3 */
    const bool has_sizes = read_uint(device, CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS) <= 16 &&
                           device->cl->GetDeviceInfo(device->id, CL_DEVICE_MAX_WORK_ITEM_SIZES,
                                                     sizeof sizes, sizes, NULL) == CL_SUCCESS;
    const bool is_local = read_uint(device, CL_DEVICE_LOCAL_MEM_TYPE) != CL_NONE;
    limits->maxStorageBufferRange =
        least(read_ulong(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE), MOST_RANGE);
    limits->minStorageBufferOffsetAlignment = WEFT_CL_OFFSET_UNIT;
    limits->maxComputeSharedMemorySize =
        is_local ? least(read_ulong(device, CL_DEVICE_LOCAL_MEM_SIZE), 1u << 20) : 0;
    limits->maxComputeWorkGroupInvocations =
        least(read_size(device, CL_DEVICE_MAX_WORK_GROUP_SIZE), 1024);
    for (uint32_t i = 0; i < 3; i++) {
        limits->maxComputeWorkGroupSize[i] = has_sizes ? least(sizes[i], 1024) : 0;
        limits->maxComputeWorkGroupCount[i] = UINT16_MAX; /* as some drivers can no more */
    }
}

/* Programs fit one driver of one device, with what Weft makes of modules. */
static void make_uuid(uint8_t uuid[VK_UUID_SIZE], const struct weft_cl_device *device) {
    static const cl_device_info texts[] = {CL_DEVICE_NAME, CL_DEVICE_VENDOR, CL_DEVICE_VERSION,
                                           CL_DRIVER_VERSION};
    char text[256];
    weft_sha256 hash;
    weft_sha256_begin(&hash);
    weft_sha256_add(&hash, "OpenCL", sizeof "OpenCL");
    weft_sha256_add(&hash, weft_version(), strlen(weft_version()) + 1);
    read_platform(text, sizeof text, device, CL_PLATFORM_VERSION);
    weft_sha256_add(&hash, text, strlen(text) + 1);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        read_text(text, sizeof text, device, texts[i]);
        weft_sha256_add(&hash, text, strlen(text) + 1);
    }
    const weft_digest digest = weft_sha256_end(&hash);
    memcpy(uuid, digest.bytes, VK_UUID_SIZE);
}

/* Its pipelines ask LLVM 18 and later for a fixed point, and where there is none LLVM ends the process. What it compiles may be wrong, too. */
static bool is_pocl_6(const struct weft_cl_device *device) {
    char platform[128], version[128];
    read_platform(platform, sizeof platform, device, CL_PLATFORM_NAME);
    read_text(version, sizeof version, device, CL_DRIVER_VERSION);
    return strcmp(platform, "Portable Computing Language") == 0 && strncmp(version, "6.", 2) == 0;
}

static const char *what_lacks(const struct weft_cl_device *device) {
    if (is_pocl_6(device)) {
        return "PoCL 6 ends the process while it compiles some kernels, and gets others wrong: use "
               "PoCL 3 or 7, or Weft's own device, the processor";
    }
    char version[256];
    uint32_t major = 0, minor = 0;
    read_text(version, sizeof version, device, CL_DEVICE_VERSION);
    const bool is_old = sscanf(version, "OpenCL %" SCNu32 ".%" SCNu32, &major, &minor) != 2 ||
                        (major == 1 && minor < 2) || major == 0;
    return is_old                                             ? "is not of OpenCL 1.2 or later"
           : !read_uint(device, CL_DEVICE_AVAILABLE)          ? "is not available"
           : !read_uint(device, CL_DEVICE_COMPILER_AVAILABLE) ? "has no compiler"
           : !read_uint(device, CL_DEVICE_ENDIAN_LITTLE)      ? "is big-endian"
                                                              : NULL;
}

/* CL_DEVICE_INTEGER_DOT_PRODUCT_ACCELERATION_PROPERTIES_4x8BIT_PACKED_KHR, which older headers lack: signed, unsigned, mixed, and saturating. */
static bool accelerates_dots(const struct weft_cl_device *device) {
    enum { QUESTION = 0x1075 };
    cl_bool answers[6] = {CL_FALSE};
    return device->cl->GetDeviceInfo(device->id, QUESTION, sizeof answers, answers, NULL) ==
               CL_SUCCESS &&
           answers[0] == CL_TRUE;
}

void weft_cl_describe(struct weft_soft_properties *properties, void *user) {
    const struct weft_cl_device *device = user;
    char platform[96], version[128];
    read_text(properties->name, sizeof properties->name, device, CL_DEVICE_NAME);
    read_platform(platform, sizeof platform, device, CL_PLATFORM_NAME);
    read_text(version, sizeof version, device, CL_DRIVER_VERSION);
    (void)snprintf(properties->version, sizeof properties->version, "%s, %s", platform, version);
    make_uuid(properties->uuid, device);
    properties->type = type_of(device);
    properties->vendor_id = vendor_of(device);
    properties->memory = read_ulong(device, CL_DEVICE_GLOBAL_MEM_SIZE);
    properties->separate_memory = true;
    properties->can_be_careful = true;
    properties->accelerates_dots = accelerates_dots(device);
    properties->threads = weft_processor_count(); /* that call the driver's compiler */
    properties->subgroup_size = 1;                /* see opencl/emit.h */
    properties->subgroup_operations = VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_VOTE_BIT |
                                      VK_SUBGROUP_FEATURE_ARITHMETIC_BIT |
                                      VK_SUBGROUP_FEATURE_BALLOT_BIT;
    properties->lacks = what_lacks(device);
    read_limits(&properties->limits, device);
}
