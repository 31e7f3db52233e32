/* SPDX-License-Identifier: MIT */
/* LLVM is there when something is compiled, and not before. */
#include <pthread.h>

#include "native/kernel.h"
#include "support.h"

#ifdef WEFT_HAVE_LLVM

#include "native/llvm/llvm.h"

#ifdef __linux__
/* Whether a library of that name is mapped. */
static bool is_mapped(const char *name) {
    FILE *maps = fopen("/proc/self/maps", "r");
    assert_non_null(maps);
    char line[1024];
    bool found = false;
    while (fgets(line, sizeof line, maps)) {
        found = found || strstr(line, name);
    }
    fclose(maps);
    return found;
}

WEFT_TEST(a_program_starts_without_llvm) {
    assert_true(weft_cpu_can_compile());
    assert_false(is_mapped("libLLVM"));
    assert_ok(weft_llvm_open(NULL));
    assert_true(is_mapped("libLLVM"));
}
#endif

static void *open_on_thread(void *status) {
    *(weft_status *)status = weft_llvm_open(NULL);
    return NULL;
}

WEFT_TEST_ON_HOST(threads_open_it_at_once, test) {
    pthread_t threads[4];
    weft_status statuses[4];
    for (size_t i = 0; i < 4; i++) {
        statuses[i] = WEFT_DEVICE_LOST;
        assert_int_equal(pthread_create(&threads[i], NULL, open_on_thread, &statuses[i]), 0);
    }
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_ok(statuses[i]);
    }
    assert_ok(weft_llvm_open(&test->host));
    assert_string_equal(weft_test_log(test), "");
}

#else

WEFT_TEST_ON_HOST(without_llvm_compiling_says_so, test) {
    const struct weft_ir_source source = {.entry_point = "main", .lanes = 4};
    struct weft_cpu_object object;
    assert_false(weft_cpu_can_compile());
    WEFT_EXPECT_REFUSED(test, WEFT_UNSUPPORTED, weft_cpu_compile(&object, &source, &test->host),
                        "without the processor's compiler", "LLVM 15");
    assert_null(object.bytes);
}

#endif
