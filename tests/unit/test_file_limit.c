/* SPDX-License-Identifier: MIT */
/* weft-test: one device */
/* weft-test: posix */
/* Under a limit of the size of files, memory that others have, too, is refused above it; no signal ends the process. */
#include <sys/resource.h>
#include <weft/external.h>

#include "support_child.h"

enum { LIMIT = 8 << 10, ABOVE = 1 << 20 }; /* as of `ulimit -f 8` */

/* The child opens a device itself, as only the parent may use the parent's. */
static bool export_above_the_limit(void *user) {
    struct weft_test_host *test = user;
    struct rlimit limit;
    weft_device *device = NULL;
    weft_buffer *buffer = NULL;
    weft_external_info info;
    const weft_device_params params = {.host = test->host, .cache_dir = ""};
    (void)signal(SIGXFSZ, SIG_DFL);
    WEFT_CHILD_EXPECT(getrlimit(RLIMIT_FSIZE, &limit) == 0);
    limit.rlim_cur = LIMIT;
    WEFT_CHILD_EXPECT(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    if (weft_device_open(&device, &params) != WEFT_OK) {
        (void)fprintf(stderr, "%s", weft_test_log(test));
        return false;
    }
    WEFT_CHILD_EXPECT(weft_device_get_external(device, WEFT_EXTERNAL_OPAQUE, &info) == WEFT_OK);
    if (!info.exports) {
        _exit(WEFT_CHILD_SKIPS);
    }
    weft_test_host_reset(test);
    WEFT_CHILD_EXPECT(weft_buffer_create_exportable(&buffer, device, ABOVE, WEFT_EXTERNAL_OPAQUE) ==
                      WEFT_OUT_OF_DEVICE_MEMORY);
    WEFT_CHILD_EXPECT(weft_test_log_has(test, "8192 bytes"));
    sigset_t pending;
    WEFT_CHILD_EXPECT(sigpending(&pending) == 0 && !sigismember(&pending, SIGXFSZ));
    WEFT_CHILD_EXPECT(pthread_sigmask(SIG_BLOCK, NULL, &pending) == 0);
    WEFT_CHILD_EXPECT(!sigismember(&pending, SIGXFSZ));
    weft_device_destroy(&device);
    return true;
}

WEFT_TEST_ON_HOST(shared_memory_above_the_limit_is_refused, test) {
    weft_test_in_child(export_above_the_limit, test);
}
