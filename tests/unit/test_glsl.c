/* SPDX-License-Identifier: MIT */
/* GLSL compiled at run time: includes, modes, messages, the cache. */
#include <pthread.h>

#include "core/disk_cache.h"
#include "device/device.h"
#include "shader/embedded.h"
#include "shader/glsl.h"
#include "shader/glsl_include.h"
#include "spirv/module.h"
#include "support.h"

/* The compiler takes from a device its host, mode and cache folder; no driver is involved. */
static weft_device bare_device(struct weft_test_host *host, weft_math math) {
    weft_test_host_reset(host);
    return (weft_device){.host = host->host, .math = math};
}

static void assert_compiles(weft_device *device, const char *text) {
    uint32_t *words = NULL;
    size_t size = 0;
    assert_ok(weft_glsl_compile(&words, &size, device, "kernel", text));
    assert_ok(weft_spirv_check(words, size, &device->host));
    assert_true(weft_spirv_has_compute_main(words, size));
    assert_int_equal(words[1], 0x10300);
    weft_free(&device->host, words);
}

static void assert_fails(weft_device *device, struct weft_test_host *host, const char *text,
                         const char *expected) {
    uint32_t *words = (uint32_t *)(void *)device;
    size_t size = 5;
    assert_int_equal(weft_glsl_compile(&words, &size, device, "kernel", text), WEFT_COMPILE_ERROR);
    assert_ptr_equal(words, device);
    assert_int_equal(size, 5);
    weft_test_expect_log(host, "error: ", expected);
}

WEFT_TEST_ON_HOST(test_modes, host) {
    static const char fast_only[] = "#version 450\n"
                                    "#if !defined(WEFT_MATH_FAST) || WEFT_MATH_FAST != 1\n"
                                    "#error not fast\n"
                                    "#endif\n"
                                    "layout(local_size_x = 1) in;\n"
                                    "void main() {}\n";
    weft_device device = bare_device(host, WEFT_MATH_FAST);
    assert_compiles(&device, fast_only);
    assert_int_equal(device.stats.shaders_compiled, 1);
    device = bare_device(host, WEFT_MATH_REPRODUCIBLE);
    assert_fails(&device, host, fast_only, "not fast");
    assert_int_equal(device.stats.shaders_compiled, 0);
}

/* A message names the line of the caller's text, in each mode and behind an include. */
WEFT_TEST_ON_HOST(test_messages, host) {
    static const weft_math modes[] = {WEFT_MATH_REPRODUCIBLE, WEFT_MATH_FAST};
    for (size_t i = 0; i < 2; i++) {
        weft_device device = bare_device(host, modes[i]);
        assert_fails(&device, host, "#version 450\nvoid main() {\n    nowhere = 1;\n}\n",
                     "kernel:3: 'nowhere'");
        assert_true(weft_test_log_count(host, "error") >= 2);
        weft_test_expect_log(host, "kernel: compiling failed");
        char text[512];
        snprintf(text, sizeof text,
                 "#version 450\n\n#include \"%s\"\n\n\nlost line\nvoid main(){}\n",
                 weft_embedded_includes[0].name);
        device = bare_device(host, modes[i]);
        assert_fails(&device, host, text, "kernel:6: ");
    }
    weft_device device = bare_device(host, WEFT_MATH_REPRODUCIBLE);
    assert_fails(&device, host, "", "kernel: ");
    device = bare_device(host, WEFT_MATH_REPRODUCIBLE);
    assert_fails(&device, host, "#version 450\nvoid other() {}\n", "kernel: ");
    device = bare_device(host, WEFT_MATH_REPRODUCIBLE);
    assert_fails(&device, host, "#version 450\n#include \"nowhere.glsl\"\nvoid main() {}\n",
                 "kernel:2: ");
}

/* A message about an included file names that file: a macro of the text makes the file fail. */
WEFT_TEST_ON_HOST(test_message_in_include, host) {
    char text[256];
    snprintf(text, sizeof text, "#version 450\n#define float 17\n#include \"%s\"\nvoid main() {}\n",
             weft_embedded_includes[0].name);
    weft_device device = bare_device(host, WEFT_MATH_REPRODUCIBLE);
    /* Whether it is that file or one that it includes in its turn. */
    assert_fails(&device, host, text, ".glsl:");
    bool named = false;
    for (size_t i = 0; i < weft_embedded_include_count; i++) {
        char prefix[128];
        snprintf(prefix, sizeof prefix, "kernel: %s:", weft_embedded_includes[i].name);
        named |= weft_test_log_has(host, prefix);
    }
    assert_true(named);
}

/* Whether something was put in place of a line; if not, the text must be as it was. */
static bool expands(const char *text) {
    char *expanded = NULL;
    size_t size = 0;
    assert_ok(weft_glsl_expand(&expanded, &size, "kernel", text, NULL));
    assert_int_equal(size, strlen(expanded));
    bool found = strstr(expanded, "#line 1 1\n") != NULL;
    if (!found) {
        assert_string_equal(expanded, text);
    }
    weft_free(NULL, expanded);
    return found;
}

WEFT_TEST(test_include_lines) {
    assert_true(weft_embedded_include_count > 0);
    const char *name = weft_embedded_includes[0].name;
    static const struct {
        const char *before, *after;
        bool included;
    } cases[] = {
        {"#include \"", "\"\n", true},
        {"#include \"", "\"", true},
        {" \t# \tinclude\t\"", "\" // why\n", true},
        {"#include <", ">\r\n", true},
        {"a /* b */\n#include \"", "\"\n", true},
        {"// a /*\n#include \"", "\"\n", true},
        {"/* a // */\n#include \"", "\"\n", true},
        {"/*\n#include \"", "\"\n*/\n", false},
        {"// a \\\n#include \"", "\"\n", false},
        {"// #include \"", "\"\n", false},
        {"#include ", "\n", false},
        {"#include \"", "\n", false},
        {"#include \"x", "\"\n", false},
        {"#includes \"", "\"\n", false},
        {"a #include \"", "\"\n", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[256];
        snprintf(text, sizeof text, "%s%s%s", cases[i].before, name, cases[i].after);
        assert_int_equal(expands(text), cases[i].included);
    }
}

/* Every file that is built in can be included, twice, and after others. */
WEFT_TEST_ON_HOST(test_every_include, host) {
    char all[4096] = "#version 450\nlayout(local_size_x = 1) in;\n";
    for (size_t i = 0; i < weft_embedded_include_count; i++) {
        size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, "#include \"%s\"\n#include \"%s\"\n",
                 weft_embedded_includes[i].name, weft_embedded_includes[i].name);
    }
    char *expanded = NULL;
    size_t size = 0;
    weft_device device = bare_device(host, WEFT_MATH_REPRODUCIBLE);
    assert_ok(weft_glsl_expand(&expanded, &size, "kernel", all, &device.host));
    for (size_t i = 0; i < weft_embedded_include_count; i++) {
        assert_true(size > weft_embedded_includes[i].size);
    }
    assert_null(strstr(expanded, "#include"));
    weft_free(&device.host, expanded);
}

WEFT_TEST_ON_HOST(test_too_large, host) {
    /* As many copies of a file as 16 MiB do not hold. */
    char line[128];
    snprintf(line, sizeof line, "#include \"%s\"\n", weft_embedded_includes[0].name);
    size_t length = strlen(line);
    size_t copies = ((size_t)16 << 20) / weft_embedded_includes[0].size + 1;
    char *text = malloc(copies * length + 1);
    assert_non_null(text);
    for (size_t i = 0; i < copies; i++) {
        memcpy(text + i * length, line, length + 1);
    }
    weft_device device = bare_device(host, WEFT_MATH_REPRODUCIBLE);
    char *expanded = NULL;
    size_t size = 0;
    assert_int_equal(weft_glsl_expand(&expanded, &size, "kernel", text, &device.host),
                     WEFT_COMPILE_ERROR);
    assert_null(expanded);
    assert_int_equal(weft_test_log_count(host, "error"), 1);
    free(text);
}

WEFT_TEST_ON_HOST(test_cache, host) {
    static const char text[] = "#version 450\nlayout(local_size_x = 3) in;\nvoid main() {}\n";
    weft_device device = bare_device(host, WEFT_MATH_REPRODUCIBLE);
    assert_ok(weft_cache_create(&device.cache, weft_test_folder(), 0, &device.host));
    assert_compiles(&device, text);
    assert_compiles(&device, text);
    assert_int_equal(device.stats.shaders_compiled, 1);
    device.math = WEFT_MATH_FAST; /* another mode is another entry */
    assert_compiles(&device, text);
    assert_int_equal(device.stats.shaders_compiled, 2);
    assert_compiles(&device, "#version 450\nlayout(local_size_x = 4) in;\nvoid main() {}\n");
    assert_int_equal(device.stats.shaders_compiled, 3);
    /* What does not compile is not kept. */
    assert_fails(&device, host, "#version 450\nvoid main() { x; }\n", "kernel:2: ");
    assert_fails(&device, host, "#version 450\nvoid main() { x; }\n", "kernel:2: ");
    weft_cache_destroy(&device.cache, &device.host);
    assert_compiles(&device, text);
    assert_int_equal(device.stats.shaders_compiled, 4);
}

WEFT_TEST_ON_HOST(test_lost_device, host) {
    weft_device device = bare_device(host, WEFT_MATH_REPRODUCIBLE);
    device.lost = true;
    uint32_t *words = NULL;
    size_t size = 0;
    assert_int_equal(weft_glsl_compile(&words, &size, &device, "kernel", "#version 450\n"),
                     WEFT_DEVICE_LOST);
}

WEFT_TEST_ON_HOST(test_out_of_memory, test) {
    char text[256];
    snprintf(text, sizeof text,
             "#version 450\n#include \"%s\"\nlayout(local_size_x = 1) in;\nvoid main() {}\n",
             weft_embedded_includes[0].name);
    weft_status status = WEFT_OUT_OF_HOST_MEMORY;
    test->fail_rest = true;
    while (weft_test_next_failure(test, status)) {
        weft_device device = {.host = test->host};
        uint32_t *words = NULL;
        size_t size = 0;
        status = weft_glsl_compile(&words, &size, &device, "kernel", text);
        assert_int_equal(words != NULL, status == WEFT_OK);
        weft_free(&device.host, words);
    }
    assert_in_range(test->failures, 2, 49);
}

static void *compile_some(void *user) {
    uint32_t *compiled = user;
    weft_device device = {.math = WEFT_MATH_REPRODUCIBLE};
    for (int i = 0; i < 5; i++) {
        uint32_t *words = NULL;
        size_t size = 0;
        const char *text = i % 2 == 0
                               ? "#version 450\nlayout(local_size_x = 1) in;\nvoid main() {}\n"
                               : "#version 450\nvoid main() { broken }\n";
        (void)weft_glsl_compile(&words, &size, &device, "kernel", text);
        weft_free(NULL, words);
    }
    *compiled = device.stats.shaders_compiled;
    return NULL;
}

/* glslang is not thread safe; devices in different threads are. */
WEFT_TEST(test_threads) {
    pthread_t threads[4];
    uint32_t compiled[4] = {0};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, compile_some, &compiled[i]), 0);
    }
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(compiled[i], 3);
    }
}
