/* SPDX-License-Identifier: MIT */
/* LLVM is there when something is compiled, and not before. */
#include <pthread.h>

#include "native/interpreted.h"
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

WEFT_TEST(without_llvm_there_is_no_compiler) {
    assert_false(weft_cpu_can_compile());
    assert_string_equal(weft_cpu_compiler(), WEFT_CPU_INTERPRETER);
}

#endif
