/* SPDX-License-Identifier: MIT */
/* weft-test: device */
/* Pipelines on a driver: what they compute, how often they are made, and their cache on disk. */
#include <sys/stat.h>

#include "core/math/philox.h"
#include "core/system/disk_cache.h"
#include "core/system/file.h"
#include "shader/embedded.h"
#include "shader/glsl.h"
#include "shader/pipeline.h"
#include "support.h"
#include "support_dispatch.h"

static weft_device *open_device(struct weft_test_place *fixture, weft_math math) {
    weft_device *device = NULL;
    assert_ok(weft_device_open(&device,
                               weft_device_params(.host = fixture->host.host, .math = math,
                                                  .validation = getenv("WEFT_VALIDATION") != NULL,
                                                  .cache_dir = fixture->folder)));
    return device;
}

static void expect_warnings(struct weft_test_place *fixture, uint32_t count) {
    assert_int_equal(weft_test_log_count(&fixture->host, "warning"), count);
    assert_int_equal(weft_test_log_count(&fixture->host, "error"), 0);
}

/* A description of a kernel compiled from text; the caller frees desc.spirv.words. */
static struct weft_pipeline_desc describe(weft_device *device, const char *name, const char *text,
                                          uint32_t bindings, uint32_t push_size) {
    uint32_t *words = NULL;
    size_t size = 0;
    assert_ok(weft_glsl_compile(&words, &size, device, name, text));
    return (struct weft_pipeline_desc){
        .name = name, .spirv = {words, size}, .binding_count = bindings, .push_size = push_size};
}

static void release(const weft_device *device, struct weft_pipeline_desc *desc) {
    weft_free(&device->host, (uint32_t *)(uintptr_t)desc->spirv.words);
    desc->spirv.words = NULL;
}

static const struct weft_pipeline *get(weft_device *device, const struct weft_pipeline_desc *desc) {
    const struct weft_pipeline *pipeline = NULL;
    assert_ok(weft_pipeline_get(&pipeline, device, desc));
    assert_non_null(pipeline);
    assert_true(pipeline->handle != VK_NULL_HANDLE && pipeline->layout != VK_NULL_HANDLE &&
                pipeline->set_layout != VK_NULL_HANDLE);
    return pipeline;
}

static weft_status get_status(weft_device *device, const struct weft_pipeline_desc *desc) {
    const struct weft_pipeline *untouched = (const struct weft_pipeline *)(const void *)device;
    const struct weft_pipeline *pipeline = untouched;
    weft_status status = weft_pipeline_get(&pipeline, device, desc);
    if (status != WEFT_OK) {
        assert_ptr_equal(pipeline, untouched);
    }
    return status;
}

/* ---- arithmetic ---- */

#define ROWS 256

/* A row is a, b, c and four results. Each result is a multiplication, rounded, then an addition. */
static const char contraction_text[] = "#version 450\n"
                                       "layout(local_size_x = 32) in;\n"
                                       "layout(set = 0, binding = 0) buffer Rows { float x[]; };\n"
                                       "void main() {\n"
                                       "    uint row = 7u * gl_GlobalInvocationID.x;\n"
                                       "    float a = x[row], b = x[row + 1], c = x[row + 2];\n"
                                       "    x[row + 3] = fma(a, b, c);\n"
                                       "    x[row + 4] = a * b + c;\n"
                                       "    x[row + 5] = c - a * b;\n"
                                       "    vec2 v = fma(vec2(a, b), vec2(b, a), vec2(c));\n"
                                       "    x[row + 6] = v.x == v.y ? v.x : 0.0;\n"
                                       "}\n";

static float as_float(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t as_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* c is close to -a b, so that a fused result keeps the bits that rounding the product drops. */
static void fill_rows(uint32_t *rows) {
    for (uint32_t i = 0; i < ROWS; i++) {
        float ab[2];
        weft_philox_uniform(ab, 2, 7, i);
        float a = ab[0] + 1.5f;
        float b = ab[1] + 1.5f;
        volatile float product = a * b;
        memset(rows + 7 * i, 0, 28);
        rows[7 * i] = as_bits(a);
        rows[7 * i + 1] = as_bits(b);
        rows[7 * i + 2] = as_bits(-product);
    }
}

/*
 * With c = -round(a b), multiplying, rounding and adding gives exactly 0; a fused operation gives
 * the rounding error of the product, which is 0 for few rows.
 */
WEFT_TEST_IN_PLACE(test_no_contraction, fixture) {
    weft_device *device = open_device(fixture, WEFT_MATH_REPRODUCIBLE);
    struct weft_pipeline_desc desc = describe(device, "contraction", contraction_text, 1, 0);
    const struct weft_pipeline *pipeline = get(device, &desc);
    uint32_t rows[7 * ROWS];
    fill_rows(rows);
    weft_test_dispatch(device,
                       &(struct weft_test_dispatch){.pipeline = pipeline, .groups = ROWS / 32},
                       rows, 7 * ROWS);
    uint32_t telling = 0;
    for (uint32_t i = 0; i < ROWS; i++) {
        const uint32_t *row = rows + 7 * i;
        volatile float product = as_float(row[0]) * as_float(row[1]);
        volatile float sum = product + as_float(row[2]);
        volatile float difference = as_float(row[2]) - product;
        double exact = (double)as_float(row[0]) * (double)as_float(row[1]);
        telling += exact != (double)product;
        assert_int_equal(row[3], as_bits(sum));
        assert_int_equal(row[4], as_bits(sum));
        assert_int_equal(row[5], as_bits(difference));
        assert_int_equal(row[6], as_bits(sum));
    }
    assert_in_range(telling, ROWS / 2, ROWS);
    release(device, &desc);
    weft_test_device_close(&device);
}

static const char scale_text[] =
    "#version 450\n"
    "layout(local_size_x_id = 0) in;\n"
    "layout(constant_id = 1) const uint addend = 5;\n"
    "layout(push_constant) uniform Push { uint factor; uint offset; };\n"
    "layout(set = 0, binding = 0) buffer Data { uint x[]; };\n"
    "void main() {\n"
    "    uint i = gl_GlobalInvocationID.x + offset;\n"
    "    x[i] = x[i] * factor + addend + 1000u * gl_WorkGroupSize.x;\n"
    "}\n";

/* Push constants, specialization, and a first workgroup that is not 0. */
WEFT_TEST_IN_PLACE(test_parameters_and_base, fixture) {
    weft_device *device = open_device(fixture, WEFT_MATH_FAST);
    struct weft_pipeline_desc desc = describe(device, "scale", scale_text, 1, 8);
    desc.specialization_count = 2;
    desc.specialization[0] = 4;
    desc.specialization[1] = 9;
    const struct weft_pipeline *pipeline = get(device, &desc);
    assert_int_equal(pipeline->binding_count, 1);
    assert_int_equal(pipeline->push_size, 8);
    uint32_t data[32];
    for (uint32_t i = 0; i < 32; i++) {
        data[i] = i;
    }
    const uint32_t push[2] = {3, 8};
    const struct weft_test_dispatch dispatch = {pipeline, push, 2, 3};
    weft_test_dispatch(device, &dispatch, data, 32);
    for (uint32_t i = 0; i < 32; i++) {
        bool touched = i >= 16 && i < 28; /* 8 + workgroups 2, 3, 4 of 4 each */
        assert_int_equal(data[i], touched ? 3 * i + 9 + 4000 : i);
    }
    /* Fewer constants than the module has: the rest keep their defaults. */
    desc.specialization_count = 1;
    const struct weft_pipeline *fewer = get(device, &desc);
    assert_ptr_not_equal(fewer, pipeline);
    uint32_t one[32] = {0};
    weft_test_dispatch(device, &(struct weft_test_dispatch){fewer, (const uint32_t[2]){1, 0}, 0, 1},
                       one, 32);
    assert_int_equal(one[0], 4005);
    assert_int_equal(one[4], 0);
    release(device, &desc);
    weft_test_device_close(&device);
}

/* ---- the store ---- */

#define VARIANTS 100

WEFT_TEST_IN_PLACE(test_made_once, fixture) {
    weft_device *device = open_device(fixture, WEFT_MATH_REPRODUCIBLE);
    struct weft_pipeline_desc desc = describe(device, "scale", scale_text, 1, 8);
    desc.specialization_count = 2;
    desc.specialization[0] = 4;
    uint32_t before = device->stats.pipelines_created;
    const struct weft_pipeline *variants[VARIANTS];
    for (uint32_t i = 0; i < VARIANTS; i++) {
        desc.specialization[1] = i;
        variants[i] = get(device, &desc);
        assert_true(i == 0 || variants[i] != variants[i - 1]);
        assert_true(variants[i]->layout == variants[0]->layout);
    }
    assert_int_equal(device->stats.pipelines_created - before, VARIANTS);
    for (uint32_t i = 0; i < VARIANTS; i++) {
        desc.specialization[1] = i;
        assert_ptr_equal(get(device, &desc), variants[i]);
    }
    assert_int_equal(device->stats.pipelines_created - before, VARIANTS);
    /* Another layout is another pipeline; a set layout is shared by the number of bindings. */
    desc.push_size = 16;
    const struct weft_pipeline *wider = get(device, &desc);
    assert_true(wider->layout != variants[0]->layout);
    assert_true(wider->set_layout == variants[0]->set_layout);
    release(device, &desc);
    weft_test_device_close(&device);
}

WEFT_TEST_IN_PLACE(test_embedded, fixture) {
    static const weft_math modes[] = {WEFT_MATH_REPRODUCIBLE, WEFT_MATH_FAST};
    for (size_t mode = 0; mode < 2; mode++) {
        weft_device *device = open_device(fixture, modes[mode]);
        assert_true(weft_shader_count > 0);
        /* The ends of the list, and one that every device takes. */
        const char *const names[] = {weft_shaders[0]->name, "matmul/tiled",
                                     weft_shaders[weft_shader_count - 1]->name};
        for (size_t i = 0; i < 3; i++) {
            /* More bindings than the shader has are fine, fewer are not. */
            uint32_t most = device->limits.maxPerStageDescriptorStorageBuffers;
            const struct weft_pipeline_desc desc = {
                .name = names[i],
                .binding_count = most < WEFT_MAX_BINDINGS ? most : WEFT_MAX_BINDINGS,
                .push_size = WEFT_MAX_PUSH_BYTES};
            assert_ptr_equal(get(device, &desc), get(device, &desc));
        }
        static const char *const unknown[] = {"", "a", "zz/last", "no/such", NULL};
        for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
            const struct weft_pipeline_desc desc = {.name = unknown[i]};
            assert_int_equal(get_status(device, &desc), WEFT_NOT_FOUND);
        }
        weft_test_device_close(&device);
    }
}

#define REFUSED(status, desc, ...) \
    WEFT_EXPECT_REFUSED(&fixture->host, WEFT_##status, get_status(device, desc), __VA_ARGS__)

WEFT_TEST_IN_PLACE(test_refusals, fixture) {
    static const weft_math modes[] = {WEFT_MATH_REPRODUCIBLE, WEFT_MATH_FAST};
    for (size_t mode = 0; mode < 2; mode++) {
        weft_device *device = open_device(fixture, modes[mode]);
        struct weft_pipeline_desc good = describe(device, "scale", scale_text, 1, 8);
        struct weft_pipeline_desc bad = good;
        bad.binding_count = WEFT_MAX_BINDINGS + 1;
        REFUSED(INVALID_ARGUMENT, &bad, "pipeline scale");
        bad = good;
        bad.push_size = WEFT_MAX_PUSH_BYTES + 4;
        REFUSED(INVALID_ARGUMENT, &bad, "pipeline scale");
        bad.push_size = 7;
        REFUSED(INVALID_ARGUMENT, &bad, "pipeline scale");
        bad = good;
        bad.specialization_count = WEFT_MAX_SPECIALIZATION + 1;
        REFUSED(INVALID_ARGUMENT, &bad, "pipeline scale");
        /* Words that are no module never reach the driver. */
        bad = good;
        bad.spirv.size -= 4;
        REFUSED(COMPILE_ERROR, &bad, "pipeline scale");
        bad.spirv.size = 0;
        REFUSED(COMPILE_ERROR, &bad, "pipeline scale");
        release(device, &good);
        weft_test_device_close(&device);
    }
}

/* A local size that the device does not have is refused, and both are named. */
WEFT_TEST_IN_PLACE(test_local_size_limit, fixture) {
    weft_device *device = open_device(fixture, WEFT_MATH_REPRODUCIBLE);
    const uint32_t *sizes = device->limits.maxComputeWorkGroupSize;
    uint32_t invocations = device->limits.maxComputeWorkGroupInvocations;
    struct weft_pipeline_desc desc = describe(
        device, "large",
        "#version 450\nlayout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;\n"
        "void main() {}\n",
        0, 0);
    desc.specialization_count = 3;
    const struct {
        uint32_t x, y, z;
        bool fits;
    } cases[] = {{1, 1, 1, true},
                 {sizes[0] + 1, 1, 1, false},
                 {1, sizes[1] + 1, 1, false},
                 {1, 1, sizes[2] + 1, false},
                 {invocations / 2 + 1, 2, 1, false},
                 {0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, false},
                 {32, 2, 2, true}};
    const char *limit = weft_test_text("%u invocations", invocations);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        desc.specialization[0] = cases[i].x;
        desc.specialization[1] = cases[i].y;
        desc.specialization[2] = cases[i].z;
        if (cases[i].fits) {
            assert_ok(get_status(device, &desc));
        } else {
            REFUSED(UNSUPPORTED, &desc,
                    weft_test_text("pipeline large: local size %u x %u x %u", cases[i].x,
                                   cases[i].y, cases[i].z),
                    limit);
        }
    }
    release(device, &desc);
    weft_test_device_close(&device);
}

/* ---- the cache on disk ---- */

struct start {
    uint32_t created;
    uint32_t compiled;
    uint32_t shaders;
    weft_digest cache_key;
};

/* Opens the device, makes `count` pipelines and closes it. */
static struct start start_up(struct weft_test_place *fixture, weft_math math, uint32_t count) {
    weft_device *device = open_device(fixture, math);
    struct weft_pipeline_desc desc = describe(device, "scale", scale_text, 1, 8);
    desc.specialization_count = 2;
    desc.specialization[0] = 4;
    for (uint32_t i = 0; i < count; i++) {
        desc.specialization[1] = i;
        (void)get(device, &desc);
    }
    struct start start = {device->stats.pipelines_created, device->stats.pipelines_compiled,
                          device->stats.shaders_compiled, device->pipelines->cache_key};
    assert_ok(weft_device_save_cache(device));
    release(device, &desc);
    weft_test_device_close(&device);
    return start;
}

WEFT_TEST_IN_PLACE(test_second_start, fixture) {
    struct start first = start_up(fixture, WEFT_MATH_REPRODUCIBLE, 3);
    assert_int_equal(first.shaders, 1);
    assert_in_range(first.compiled, 3, first.created);
    struct start second = start_up(fixture, WEFT_MATH_REPRODUCIBLE, 3);
    assert_int_equal(second.shaders, 0);
    assert_int_equal(second.compiled, 0);
    assert_in_range(second.created, 3, first.created);
    /* What is new is compiled, and added to what was there. */
    assert_int_equal(start_up(fixture, WEFT_MATH_REPRODUCIBLE, 5).compiled, 2);
    assert_int_equal(start_up(fixture, WEFT_MATH_REPRODUCIBLE, 5).compiled, 0);
    /* The other mode's modules are other modules; one file holds both. */
    (void)start_up(fixture, WEFT_MATH_FAST, 3);
    assert_int_equal(start_up(fixture, WEFT_MATH_FAST, 3).compiled, 0);
    assert_int_equal(start_up(fixture, WEFT_MATH_REPRODUCIBLE, 5).compiled, 0);
    expect_warnings(fixture, 0);
}

static char *cache_path(const struct weft_test_place *fixture, const weft_digest *key) {
    char hex[WEFT_DIGEST_TEXT_SIZE];
    return weft_test_text("%s/pipelines-%s", fixture->folder, weft_digest_text(key, hex));
}

WEFT_TEST_IN_PLACE(test_damaged_cache, fixture) {
    struct start first = start_up(fixture, WEFT_MATH_REPRODUCIBLE, 2);
    char *path = cache_path(fixture, &first.cache_key);
    uint8_t *bytes = NULL;
    size_t size = 0;
    assert_ok(weft_file_read(&bytes, &size, (size_t)1 << 24, path, NULL));
    assert_ok(weft_file_write(path, bytes, size / 2, NULL));
    assert_in_range(start_up(fixture, WEFT_MATH_REPRODUCIBLE, 2).compiled, 2, first.compiled);
    expect_warnings(fixture, 1);
    weft_test_expect_log(&fixture->host, "warning: ", path);
    bytes[size - 1] ^= 1;
    assert_ok(weft_file_write(path, bytes, size, NULL));
    assert_in_range(start_up(fixture, WEFT_MATH_REPRODUCIBLE, 2).compiled, 2, first.compiled);
    expect_warnings(fixture, 2);
    assert_int_equal(start_up(fixture, WEFT_MATH_REPRODUCIBLE, 2).compiled, 0);
    expect_warnings(fixture, 2);
    weft_free(NULL, bytes);
}

#ifndef _WIN32 /* there are no modes */
/*
 * Where others may write, hashes prove nothing: whatever is there, and of whatever kind, it is as if nothing were. One warning
 * for all of it, and nothing changes there.
 */
WEFT_TEST_IN_PLACE(test_anybodys_cache, fixture) {
    static const mode_t modes[] = {01777, 0777, 0770, 0702};
    struct start first = start_up(fixture, WEFT_MATH_REPRODUCIBLE, 2);
    assert_int_equal(start_up(fixture, WEFT_MATH_REPRODUCIBLE, 2).compiled, 0);
    expect_warnings(fixture, 0);
    char *path = cache_path(fixture, &first.cache_key);
    const size_t entries = weft_test_entries(fixture->folder);
    struct stat before, after;
    assert_int_equal(stat(path, &before), 0);
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        assert_int_equal(chmod(fixture->folder, modes[i]), 0);
        weft_test_host_reset(&fixture->host);
        struct start start = start_up(fixture, WEFT_MATH_REPRODUCIBLE, 3);
        assert_int_equal(start.shaders, 1);
        assert_int_equal(start.compiled, first.compiled + 1);
        expect_warnings(fixture, 1);
        weft_test_expect_log(&fixture->host, "warning: ", fixture->folder,
                             weft_test_text("mode is %04o", (unsigned)modes[i]));
        assert_int_equal(weft_test_entries(fixture->folder), entries);
        assert_int_equal(stat(path, &after), 0);
        assert_int_equal(after.st_ino, before.st_ino);
        assert_int_equal(after.st_size, before.st_size);
    }
    assert_int_equal(chmod(fixture->folder, 0700), 0);
    weft_test_host_reset(&fixture->host);
    assert_int_equal(start_up(fixture, WEFT_MATH_REPRODUCIBLE, 2).compiled, 0);
    /* An entry alone that others may write to is made anew, with all that was in it. */
    assert_int_equal(chmod(path, 0666), 0);
    assert_in_range(start_up(fixture, WEFT_MATH_REPRODUCIBLE, 2).compiled, 2, first.compiled);
    expect_warnings(fixture, 1);
    assert_int_equal(start_up(fixture, WEFT_MATH_REPRODUCIBLE, 2).compiled, 0);
    expect_warnings(fixture, 1);
}
#endif

/* An intact entry whose content must not reach the driver. */
WEFT_TEST_IN_PLACE(test_foreign_cache, fixture) {
    struct weft_cache *cache = NULL;
    assert_ok(weft_cache_create(&cache, fixture->folder, 0, NULL));
    struct start first = start_up(fixture, WEFT_MATH_REPRODUCIBLE, 2);
    uint8_t *payload = NULL;
    size_t size = 0;
    assert_ok(weft_cache_read(&payload, &size, cache, "pipelines", &first.cache_key, NULL));
    assert_non_null(payload);
    size_t digests = payload[0] + 256u * payload[1];
    assert_in_range(digests, 2, 100);
    size_t header = 4 + 32 * digests;
    assert_true(size >= header + 32);
    /*
     * Vendor, device and driver of Vulkan's header, its version and size, and the digests' number.
     */
    const size_t changes[] = {
        header + 8, header + 12, header + 16, header + 31, header + 4, header + 3, 3};
    uint32_t warnings = 0;
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        payload[changes[i]] ^= 0x10;
        weft_cache_write(cache, "pipelines", &first.cache_key, payload, size, NULL);
        payload[changes[i]] ^= 0x10;
        assert_in_range(start_up(fixture, WEFT_MATH_REPRODUCIBLE, 2).compiled, 2, first.compiled);
        expect_warnings(fixture, ++warnings);
    }
    for (size_t cut = 0; cut < header + 32; cut += cut + 11 == header ? 12 : 11) {
        weft_cache_write(cache, "pipelines", &first.cache_key, payload, cut, NULL);
        assert_in_range(start_up(fixture, WEFT_MATH_REPRODUCIBLE, 2).compiled, 2, first.compiled);
        expect_warnings(fixture, ++warnings);
    }
    weft_free(NULL, payload);
    weft_cache_destroy(&cache, NULL);
}

/* Drivers that keep nothing in a pipeline cache: an empty one, or its header alone, is no fault. */
WEFT_TEST_IN_PLACE(test_empty_cache, fixture) {
    struct weft_cache *cache = NULL;
    assert_ok(weft_cache_create(&cache, fixture->folder, 0, NULL));
    struct start first = start_up(fixture, WEFT_MATH_REPRODUCIBLE, 2);
    uint8_t *payload = NULL;
    size_t size = 0;
    assert_ok(weft_cache_read(&payload, &size, cache, "pipelines", &first.cache_key, NULL));
    assert_non_null(payload);
    size_t header = 4 + 32 * (payload[0] + (size_t)256 * payload[1]);
    assert_true(size >= header + 32);
    const size_t kept[] = {0, 32};
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) {
        weft_cache_write(cache, "pipelines", &first.cache_key, payload, header + kept[i], NULL);
        assert_int_equal(start_up(fixture, WEFT_MATH_REPRODUCIBLE, 2).compiled, 0);
        /* What is made then is added to the list as ever. */
        assert_int_equal(start_up(fixture, WEFT_MATH_REPRODUCIBLE, 3).compiled, 1);
    }
    expect_warnings(fixture, 0);
    weft_free(NULL, payload);
    weft_cache_destroy(&cache, NULL);
}

static VKAPI_ATTR VkResult VKAPI_CALL part_of_a_header(VkDevice device, VkPipelineCache cache,
                                                       size_t *size, void *data) {
    (void)device;
    (void)cache;
    *size = 20;
    if (data) {
        memset(data, 1, *size);
    }
    return VK_SUCCESS;
}

/* As Mesa 26.2's lavapipe does: nothing of it is written, so that the next start has nothing to warn of. */
WEFT_TEST_IN_PLACE(test_part_of_a_header, fixture) {
    weft_device *device = open_device(fixture, WEFT_MATH_REPRODUCIBLE);
    struct weft_pipeline_desc desc = describe(device, "scale", scale_text, 1, 8);
    (void)get(device, &desc);
    device->vk.GetPipelineCacheData = part_of_a_header;
    assert_ok(weft_pipeline_store_save(device));
    release(device, &desc);
    weft_test_device_close(&device);
    device = open_device(fixture, WEFT_MATH_REPRODUCIBLE);
    expect_warnings(fixture, 0);
    weft_test_device_close(&device);
}

/* Two processes that begin together: the file has the pipelines of both, whoever ends last. */
WEFT_TEST_IN_PLACE(test_two_writers, fixture) {
    weft_device *devices[2];
    struct weft_pipeline_desc desc;
    for (uint32_t i = 0; i < 2; i++) {
        devices[i] = open_device(fixture, WEFT_MATH_REPRODUCIBLE);
    }
    desc = describe(devices[0], "scale", scale_text, 1, 8);
    desc.specialization_count = 1;
    for (uint32_t i = 0; i < 2; i++) {
        desc.specialization[0] = 11 + i;
        (void)get(devices[i], &desc);
    }
    for (uint32_t i = 0; i < 2; i++) {
        weft_test_device_close(&devices[i]);
    }
    weft_device *device = open_device(fixture, WEFT_MATH_REPRODUCIBLE);
    const uint32_t compiled = device->stats.pipelines_compiled;
    for (uint32_t i = 0; i < 2; i++) {
        desc.specialization[0] = 11 + i;
        (void)get(device, &desc);
    }
    assert_int_equal(device->stats.pipelines_compiled, compiled);
    desc.specialization[0] = 13;
    (void)get(device, &desc);
    assert_int_equal(device->stats.pipelines_compiled, compiled + 1);
    release(device, &desc);
    weft_test_device_close(&device);
    expect_warnings(fixture, 0);
}

/* Wherever memory ends, the call fails cleanly and the next one works. */
WEFT_TEST_IN_PLACE(test_out_of_memory, fixture) {
    weft_device *device = open_device(fixture, WEFT_MATH_REPRODUCIBLE);
    struct weft_pipeline_desc desc = describe(device, "scale", scale_text, 1, 8);
    desc.specialization_count = 1;
    uint32_t created = device->stats.pipelines_created;
    /* So many that the store's tables have to grow with every allowance once. */
    long failures = 0;
    for (uint32_t i = 0; i < VARIANTS; i++) {
        desc.specialization[0] = 1 + i;
        weft_status status = WEFT_OUT_OF_HOST_MEMORY;
        fixture->host.fail_rest = true;
        while (weft_test_next_failure(&fixture->host, status)) {
            status = get_status(device, &desc);
        }
        failures += fixture->host.failures;
        assert_int_equal(device->stats.pipelines_created, created + i + 1);
    }
    assert_in_range(failures, 3 * VARIANTS, 20 * VARIANTS);
    release(device, &desc);
    weft_test_device_close(&device);
}

WEFT_TEST_IN_PLACE(test_lost_device, fixture) {
    weft_device *device = open_device(fixture, WEFT_MATH_REPRODUCIBLE);
    struct weft_pipeline_desc desc = describe(device, "scale", scale_text, 1, 8);
    (void)get(device, &desc);
    device->lost = true;
    assert_int_equal(get_status(device, &desc), WEFT_DEVICE_LOST);
    assert_int_equal(weft_pipeline_store_save(device), WEFT_DEVICE_LOST);
    release(device, &desc);
    weft_device_destroy(&device);
}
