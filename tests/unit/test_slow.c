/* SPDX-License-Identifier: MIT */
/* What is said of slow devices, and when. */
#include "device/physical.h"
#include "device/slow.h"
#include "native/kernel.h"
#include "support.h"

enum { DRIVER, PROCESSOR, GPU, COUNT };

/* A list as a machine has it: a driver in software, the processor device and a GPU. */
static void list_all(struct weft_physical list[COUNT], bool compiles) {
    memset(list, 0, COUNT * sizeof *list);
    list[DRIVER].info = (weft_device_info){.name = "pipe", .type = WEFT_DEVICE_SOFTWARE};
    list[PROCESSOR].info =
        (weft_device_info){.name = "CPU",
                           .driver = "Weft processor",
                           .type = compiles ? WEFT_DEVICE_PROCESSOR : WEFT_DEVICE_SOFTWARE};
    list[PROCESSOR].native = compiles;
    list[PROCESSOR].interprets = !compiles;
    list[GPU].info = (weft_device_info){.name = "GPU", .type = WEFT_DEVICE_DISCRETE};
    for (uint32_t i = 0; i < COUNT; i++) {
        weft_slow_write(&list[i].info, list[i].interprets);
    }
}

/* How many warnings opening one gives. */
static uint32_t warnings(struct weft_test_host *test, const struct weft_physical *list,
                         uint32_t count, uint32_t chosen, const char *select) {
    const uint32_t before = weft_test_log_count(test, "warning");
    weft_slow_warn(&list[chosen].info, weft_physical_stands_in(list, count, select), &test->host);
    return weft_test_log_count(test, "warning") - before;
}

WEFT_TEST(a_device_is_slow_if_it_interprets_or_is_a_driver_in_software) {
    struct weft_physical list[COUNT];
    list_all(list, true);
    assert_non_null(strstr(list[DRIVER].info.slow, "computes on the processor"));
    assert_false(list[DRIVER].info.interpreted);
    assert_string_equal(list[PROCESSOR].info.slow, "");
    assert_string_equal(list[GPU].info.slow, "");
    list_all(list, false);
    assert_true(list[PROCESSOR].info.interpreted);
    assert_non_null(
        strstr(list[PROCESSOR].info.slow, "100 to 200 times slower than compiled ones"));
}

WEFT_TEST_ON_HOST(one_that_interprets_is_warned_of_however_it_was_chosen, test) {
    struct weft_physical list[COUNT];
    list_all(list, false);
    assert_int_equal(warnings(test, list, COUNT, PROCESSOR, NULL), 1);
    assert_int_equal(warnings(test, list, COUNT, PROCESSOR, "processor"), 1);
    assert_int_equal(warnings(test, &list[PROCESSOR], 1, 0, NULL), 1);
    list_all(list, true);
    assert_int_equal(warnings(test, list, COUNT, PROCESSOR, NULL), 0);
    assert_int_equal(warnings(test, list, COUNT, GPU, NULL), 0);
}

WEFT_TEST_ON_HOST(a_driver_is_warned_of_if_it_stands_in_for_the_processor_device, test) {
    struct weft_physical list[COUNT];
    list_all(list, false);
    assert_int_equal(warnings(test, list, COUNT, DRIVER, NULL), 1);
    assert_int_equal(warnings(test, list, COUNT, DRIVER, ""), 1);
    assert_int_equal(warnings(test, list, COUNT, DRIVER, "pipe"), 0);
    assert_int_equal(warnings(test, list, 1, DRIVER, NULL), 0); /* hidden: WEFT_PROCESSOR=0 */
}

#ifndef _WIN32 /* which has no setenv */
WEFT_TEST(the_reason_and_the_way_out_are_told) {
    struct weft_physical list[COUNT];
    assert_int_equal(setenv("WEFT_LLVM", "0", 1), 0);
    list_all(list, false);
    const char *fault = weft_native_compiler_fault(), *remedy = weft_native_compiler_remedy();
    assert_non_null(fault);
    assert_non_null(remedy);
    for (uint32_t i = DRIVER; i <= PROCESSOR; i++) {
        assert_non_null(strstr(list[i].info.slow, fault));
        assert_non_null(strstr(list[i].info.slow, remedy));
    }
    assert_int_equal(unsetenv("WEFT_LLVM"), 0);
}
#endif
