/* SPDX-License-Identifier: MIT */
/* The interface of a shader as its SPIR-V tells it: names, types, places, access; and what cannot be declared. */
#include <stdio.h>
#include <string.h>

#include "shader/embedded.h"
#include "spirv/reflect.h"
#include "support.h"
#include "support_spirv.h"

#define HEAD "#version 450\nlayout(local_size_x = 8, local_size_y = 4) in;\n"
#define PUSH "layout(push_constant) uniform Push { "

/* All that an interface has, in shaders' words. */
static const char everything[] =
    HEAD "layout(constant_id = 2) const uint WEFT_KIND = 7;\n"
         "layout(constant_id = 0) const int SIGN = -1;\n"
         "layout(constant_id = 1) const bool HAS_BIAS = true;\n"
         "layout(constant_id = 16) const uint TILE_ROWS = 64;\n"
         "layout(constant_id = 64) const uint WEFT_FIXED_CHUNK = 32;\n"
         "layout(std430, binding = 1) readonly buffer InputVector { vec4 x4[]; };\n"
         "layout(std430, binding = 1) readonly buffer Input { float x[]; };\n"
         "layout(std430, binding = 0) writeonly buffer RowSums { float sums[]; };\n"
         "layout(std430, binding = 2) buffer State { float state[]; };\n" PUSH
         "uint count; uint groups_x; float scale; int shift; } push;\n"
         "void main()\n"
         "{\n"
         "    uint i = gl_GlobalInvocationID.x + WEFT_KIND * TILE_ROWS + WEFT_FIXED_CHUNK;\n"
         "    if (HAS_BIAS && i < push.count + push.groups_x) {\n"
         "        sums[i] = x[i] + x4[i].x + state[i] * push.scale;\n"
         "        state[i] = float(push.shift + SIGN);\n"
         "    }\n"
         "}\n";

static weft_status reflect(struct weft_shader_interface *interface, const char *text,
                           const weft_host *host) {
    struct words words = weft_test_compile(text);
    const weft_status status =
        weft_spirv_reflect(interface, "test/shader", words.data, words.size, host);
    free(words.data);
    return status;
}

static void expect_field(const struct weft_shader_field *field, const char *name,
                         enum weft_field_type type, uint32_t place, uint32_t value) {
    assert_string_equal(field->name, name);
    assert_int_equal(field->type, type);
    assert_int_equal(field->place, place);
    assert_int_equal(field->value, value);
}

WEFT_TEST_ON_HOST(test_everything, test) {
    struct weft_shader_interface interface;
    assert_ok(reflect(&interface, everything, &test->host));
    const struct weft_shader_field *push = weft_shader_push(&interface);
    assert_int_equal(interface.push_count, 4);
    assert_int_equal(interface.push_size, 16);
    assert_int_equal(interface.groups_x, 4);
    expect_field(&push[0], "count", WEFT_FIELD_U32, 0, 0);
    expect_field(&push[1], "groups_x", WEFT_FIELD_U32, 4, 0);
    expect_field(&push[2], "scale", WEFT_FIELD_F32, 8, 0);
    expect_field(&push[3], "shift", WEFT_FIELD_I32, 12, 0);
    const struct weft_shader_field *binding = weft_shader_bindings(&interface);
    const char *const names[] = {"row_sums", "input", "state"}; /* of two blocks the shorter name */
    const bool reads[] = {false, true, true};
    const bool writes[] = {true, false, true};
    assert_int_equal(interface.binding_count, 3);
    for (uint32_t i = 0; i < 3; i++) {
        assert_string_equal(binding[i].name, names[i]);
        assert_int_equal(binding[i].place, i);
        assert_int_equal(binding[i].reads, reads[i]);
        assert_int_equal(binding[i].writes, writes[i]);
    }
    const struct weft_shader_field *constant = weft_shader_constants(&interface);
    assert_int_equal(interface.constant_count, 3);
    expect_field(&constant[0], "sign", WEFT_FIELD_I32, 0, UINT32_MAX);
    expect_field(&constant[1], "has_bias", WEFT_FIELD_BOOL, 1, 1);
    expect_field(&constant[2], "kind", WEFT_FIELD_U32, 2, 7);
    assert_int_equal(interface.tile_count, 1);
    expect_field(weft_shader_tiles(&interface), "rows", WEFT_FIELD_U32, 16, 64);
    assert_int_equal(interface.fixed_count, 1);
    expect_field(weft_shader_fixed(&interface), "chunk", WEFT_FIELD_U32, 64, 32);
    const uint32_t size[3] = {8, 4, 1};
    assert_memory_equal(interface.local_size, size, sizeof size);
    weft_shader_interface_free(&interface, &test->host);
}

/* A field that moves is found where it is: C names it and does not count. */
WEFT_TEST_ON_HOST(test_order_follows_the_shader, test) {
    struct weft_shader_interface interface;
    assert_ok(reflect(&interface,
                      HEAD PUSH "float scale; uint count; } push;\n"
                                "layout(std430, binding = 0) buffer X { float x[]; };\n"
                                "void main() { x[push.count] = push.scale; }\n",
                      &test->host));
    expect_field(&weft_shader_push(&interface)[0], "scale", WEFT_FIELD_F32, 0, 0);
    expect_field(&weft_shader_push(&interface)[1], "count", WEFT_FIELD_U32, 4, 0);
    assert_int_equal(interface.groups_x, UINT32_MAX);
    weft_shader_interface_free(&interface, &test->host);
}

WEFT_TEST_ON_HOST(test_refusals, test) {
    static const struct {
        const char *text, *message;
    } rows[] = {
        {HEAD PUSH "vec4 scale; } push;\nlayout(binding = 0) buffer X { float x[]; };\n"
                   "void main() { x[0] = push.scale.x; }\n",
         "'scale' must be"},
        {HEAD "layout(binding = 1) buffer X { float x[]; };\nvoid main() { x[0] = 1.0; }\n",
         "no buffer is at binding 0"},
        {HEAD
         "layout(set = 1, binding = 0) buffer X { float x[]; };\nvoid main() { x[0] = 1.0; }\n",
         "set 1"},
        {HEAD "layout(constant_id = 30) const uint KIND = 0;\n"
              "layout(binding = 0) buffer X { float x[]; };\nvoid main() { x[KIND] = 1.0; }\n",
         "constant_id 30"},
        {HEAD "layout(constant_id = 0) const uint KIND = 0;\n"
              "layout(constant_id = 1) const uint WEFT_KIND = 0;\n"
              "layout(binding = 0) buffer X { float x[]; };\n"
              "void main() { x[KIND + WEFT_KIND] = 1.0; }\n",
         "'kind' is declared twice"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct weft_shader_interface interface;
        WEFT_EXPECT_REFUSED(test, WEFT_COMPILE_ERROR,
                            reflect(&interface, rows[i].text, &test->host), rows[i].message,
                            "test/shader");
    }
}

/* Without names there is nothing to call a field by; the driver needs none. */
WEFT_TEST_ON_HOST(test_stripped_modules, test) {
    struct words words = weft_test_compile(everything);
    struct weft_shader_interface interface;
    const size_t kept = weft_spirv_strip(words.data, words.data, words.size / 4);
    assert_in_range(kept, 6, words.size / 4 - 1);
    WEFT_EXPECT_REFUSED(
        test, WEFT_COMPILE_ERROR,
        weft_spirv_reflect(&interface, "test/shader", words.data, 4 * kept, &test->host),
        "has no name");
    free(words.data);
}

/* Both math modes of a shader: what either declares, and the same where both do. */
WEFT_TEST_ON_HOST(test_merging, test) {
    static const char body[] = "layout(binding = 0) buffer X { float x[]; };\n"
                               "void main() { x[KIND] = 1.0; }\n";
    const char *texts[] = {
        weft_test_text(HEAD "layout(constant_id = 0) const uint KIND = 0;\n%s", body),
        weft_test_text(HEAD "layout(constant_id = 0) const uint KIND = 0;\n"
                            "layout(constant_id = 1) const uint HALF = 0;\n%s",
                       body),
        weft_test_text(HEAD "layout(constant_id = 0) const uint HALF = 0;\n"
                            "layout(constant_id = 1) const uint KIND = 0;\n%s",
                       body)};
    struct weft_shader_interface interface[3];
    for (size_t i = 0; i < 3; i++) {
        assert_ok(reflect(&interface[i], texts[i], &test->host));
    }
    assert_ok(weft_shader_interface_merge(&interface[0], &interface[1], "test", &test->host));
    assert_int_equal(interface[0].constant_count, 2);
    assert_string_equal(weft_shader_constants(&interface[0])[1].name, "half");
    WEFT_EXPECT_REFUSED(
        test, WEFT_COMPILE_ERROR,
        weft_shader_interface_merge(&interface[1], &interface[2], "test", &test->host), "'kind'",
        "'half'");
    for (size_t i = 0; i < 3; i++) {
        weft_shader_interface_free(&interface[i], &test->host);
    }
}

/* Memory may end anywhere. */
WEFT_TEST_ON_HOST(test_out_of_memory, test) {
    struct words words = weft_test_compile(everything);
    weft_status status = WEFT_OUT_OF_HOST_MEMORY;
    while (weft_test_next_failure(test, status)) {
        struct weft_shader_interface interface;
        status = weft_spirv_reflect(&interface, "test/shader", words.data, words.size, &test->host);
        if (status == WEFT_OK) {
            weft_shader_interface_free(&interface, &test->host);
        }
    }
    assert_in_range(test->failures, 3, 100);
    free(words.data);
}

static uint32_t invocations_of(const struct weft_shader *shader) {
    const uint32_t *size = shader->interface.local_size;
    return size[0] * size[1] * size[2];
}

/* The kernel of the same work whose workgroups every device has: "fft" for "fft_wide"; null for what is not wide. */
static const struct weft_shader *narrow_twin(const struct weft_shader *shader) {
    char name[128];
    const size_t length = strlen(shader->name);
    if (length < 5 || length >= sizeof name || strcmp(shader->name + length - 5, "_wide") != 0) {
        return NULL;
    }
    snprintf(name, sizeof name, "%.*s", (int)(length - 5), shader->name);
    return weft_shader_find(name);
}

/*
 * Every shader of the library has a workgroup that every device has, or a twin that has one, and bindings one behind the
 * other, no more than every device has. Products on processors have larger ones, beside others without.
 */
WEFT_TEST(test_embedded) {
    for (size_t i = 0; i < weft_shader_count; i++) {
        const struct weft_shader_interface *interface = &weft_shaders[i]->interface;
        assert_ptr_equal(weft_shader_find(weft_shaders[i]->name), weft_shaders[i]);
        const struct weft_shader *twin = narrow_twin(weft_shaders[i]);
        if (twin) {
            assert_in_range(invocations_of(weft_shaders[i]), 129, 512);
            assert_in_range(invocations_of(twin), 1, 128);
        }
        assert_in_range(interface->local_size[0], 1, twin ? 512 : 128);
        assert_in_range(interface->binding_count, 1, WEFT_OWN_MAX_BINDINGS);
        for (uint32_t b = 0; b < interface->binding_count; b++) {
            assert_int_equal(weft_shader_bindings(interface)[b].place, b);
        }
    }
}
