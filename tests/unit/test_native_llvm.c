/* SPDX-License-Identifier: MIT */
/* LLVM is there when something is compiled, and not before. */
#include <pthread.h>

#include "native/interpreted.h"
#include "support.h"

#ifdef WEFT_HAVE_LLVM

#include "native/llvm/llvm.h"

#ifdef __linux__
#include <sys/resource.h>

#include "core/system/system.h"
#include "support_child.h"

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

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* which take terabytes */

/* Room for everything but LLVM: it is there, and cannot be loaded. */
static void leave_no_room(void) {
    struct rlimit limit = {0};
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%lu", &pages) != 1) {
        _exit(3);
    }
    (void)fclose(file);
    limit.rlim_cur = limit.rlim_max = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + (56U << 20);
    if (setrlimit(RLIMIT_AS, &limit) != 0) {
        _exit(3);
    }
}

static bool says_so(const weft_device_info *info) {
    char first[64]; /* of as many reasons as there are libraries */
    (void)snprintf(first, sizeof first, "%s", weft_native_compiler_fault());
    return info->type == WEFT_DEVICE_SOFTWARE && info->usable && info->interpreted &&
           strstr(info->slow, "its kernels are interpreted") && first[0] != '\0' &&
           strstr(info->slow, first) && strstr(info->slow, "install LLVM, a version from 15 to 22");
}

static bool the_list_says_it(void *user) {
    weft_device_info infos[8];
    uint32_t count = 8;
    (void)user;
    leave_no_room();
    WEFT_CHILD_EXPECT(weft_device_list(infos, &count, NULL) == WEFT_OK && count >= 1);
    bool found = false;
    for (uint32_t i = 0; i < count && i < 8; i++) {
        found = found || says_so(&infos[i]);
    }
    WEFT_CHILD_EXPECT(found);
    return true;
}

/* Also where nobody has looked at the list before. */
static bool an_open_device_says_it(void *user) {
    struct weft_test_host *host = user;
    weft_device *device = NULL;
    weft_device_info info;
    leave_no_room();
    WEFT_CHILD_EXPECT(
        weft_device_open(&device, weft_device_params(.host = host->host, .select = "processor",
                                                     .cache_dir = "", .threads = 1)) == WEFT_OK);
    WEFT_CHILD_EXPECT(weft_device_get_info(device, &info) == WEFT_OK && says_so(&info));
    WEFT_CHILD_EXPECT(weft_test_log_has(host, "is slow: its kernels are interpreted"));
    weft_device_destroy(&device);
    return true;
}

WEFT_TEST_ON_HOST(llvm_that_cannot_be_loaded_is_told, test) {
    weft_test_set_variable("WEFT_PROCESSOR", NULL);
    weft_test_set_variable("WEFT_OPENCL", "0");
    weft_test_set_variable("VK_DRIVER_FILES", weft_test_absent("driver.json"));
    weft_test_set_variable("VK_ICD_FILENAMES", weft_test_absent("driver.json"));
    weft_test_in_child(the_list_says_it, NULL);
    weft_test_in_child(an_open_device_says_it, test);
}

#endif

/* ---- who asks for the processor loads no driver ---- */

static bool loads_nothing(void *user) {
    weft_device *device = NULL;
    struct weft_test_host *host = user;
    WEFT_CHILD_EXPECT(
        weft_device_open(&device, weft_device_params(.host = host->host, .select = "Processor",
                                                     .cache_dir = "", .threads = 1)) == WEFT_OK);
    WEFT_CHILD_EXPECT(!is_mapped("libvulkan") && !is_mapped("libOpenCL"));
    weft_device_destroy(&device);
    if (!weft_system_may_have_gpu()) { /* nothing that OpenCL could serve */
        WEFT_CHILD_EXPECT(
            weft_device_open(&device, weft_device_params(.host = host->host, .cache_dir = "",
                                                         .math = WEFT_MATH_FAST)) == WEFT_OK);
        WEFT_CHILD_EXPECT(!is_mapped("libOpenCL"));
        weft_device_destroy(&device);
    }
    return true;
}

WEFT_TEST_ON_HOST(the_processor_needs_no_driver, test) {
    weft_test_set_variable("WEFT_PROCESSOR", NULL);
    weft_test_set_variable("WEFT_OPENCL", NULL);
    weft_test_in_child(loads_nothing, test);
}

WEFT_TEST(a_program_starts_without_llvm) {
    assert_true(weft_native_can_compile());
    assert_in_range(weft_native_compiler_version(), 15, 22);
    assert_string_not_equal(weft_native_compiler(), WEFT_NATIVE_INTERPRETER);
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
    assert_false(weft_native_can_compile());
    assert_string_equal(weft_native_compiler(), WEFT_NATIVE_INTERPRETER);
}

#endif
