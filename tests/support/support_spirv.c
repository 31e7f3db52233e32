/* SPDX-License-Identifier: MIT */
#include "support_spirv.h"

#include <unistd.h>

#include "device/device.h"
#include "shader/glsl.h"
#include "shader/spirv_pass.h"
#include "spirv/module.h"

struct words weft_test_compile(const char *text) {
    weft_device device = {.math = WEFT_MATH_REPRODUCIBLE};
    struct words words = {0};
    assert_ok(weft_glsl_compile(&words.data, &words.size, &device, "kernel", text));
    assert_int_equal(device.stats.shaders_compiled, 1);
    return words;
}

struct words weft_test_make_reproducible(struct words source) {
    struct words words = {0};
    assert_ok(
        weft_spirv_make_reproducible(&words.data, &words.size, source.data, source.size, NULL));
    assert_ok(weft_spirv_check(words.data, words.size, NULL));
    return words;
}

uint32_t weft_test_count_ops(struct words words, uint32_t opcode) {
    uint32_t found = 0;
    for (size_t at = WEFT_SPIRV_HEADER_WORDS; at < words.size / 4;
         at += weft_spirv_length(words.data[at])) {
        found += weft_spirv_opcode(words.data[at]) == opcode;
    }
    return found;
}

bool weft_test_has_spirv_val(void) {
    const bool found = system("spirv-val --version > /dev/null 2>&1") == 0;
    if (!found) {
        print_message("spirv-val is not installed; its verdict on the result is not checked\n");
    }
    return found;
}

void weft_test_expect_valid(struct words words, const char *name) {
    char path[] = "/tmp/weft-spirv-XXXXXX";
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    FILE *file = fdopen(descriptor, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(words.data, 1, words.size, file), words.size);
    assert_int_equal(fclose(file), 0);
    char command[128];
    snprintf(command, sizeof command, "spirv-val --target-env vulkan1.1 %s", path);
    int verdict = system(command);
    assert_int_equal(unlink(path), 0);
    if (verdict != 0) {
        fail_msg("%s is no longer valid", name);
    }
}
