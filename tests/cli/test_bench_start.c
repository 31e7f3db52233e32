/* SPDX-License-Identifier: MIT */
/* weft-test: one device */
/* Starting with empty and with full caches: which pipelines are compiled, and that nothing is left behind. */
#include <sys/stat.h>

#include "bench/start.h"
#include "bench/suites/mixers.h"
#include "bench/temporary.h"
#include "support.h"

/* Gives the temporary folders a place of their own, to see what is left in it. */
static int begin(void **state) {
    char *folder = weft_test_folder();
    *state = folder;
    return setenv("TMPDIR", folder, 1);
}

static int end(void **state) {
    (void)state;
    return unsetenv("TMPDIR");
}

WEFT_TEST_GROUP(begin, end);

#define TEST(name, parent) WEFT_TEST_WITH(name, char *parent, NULL, NULL)

TEST(folder_comes_and_goes, parent) {
    weft_bench_temporary temporary;
    assert_int_equal(setenv("MESA_SHADER_CACHE_DIR", "before", 1), 0);
    unsetenv("__GL_SHADER_DISK_CACHE_PATH");
    assert_ok(weft_bench_temporary_begin(&temporary, NULL));
    assert_memory_equal(temporary.folder, parent, strlen(parent));
    assert_string_equal(getenv("MESA_SHADER_CACHE_DIR"), temporary.folder);
    assert_string_equal(getenv("__GL_SHADER_DISK_CACHE_PATH"), temporary.folder);
    weft_test_write(temporary.folder, "left", "x", 1);
    assert_int_equal(weft_test_entries(parent), 1);
    weft_bench_temporary_end(&temporary, NULL);
    assert_int_equal(weft_test_entries(parent), 0);
    assert_string_equal(getenv("MESA_SHADER_CACHE_DIR"), "before");
    assert_null(getenv("__GL_SHADER_DISK_CACHE_PATH"));
    unsetenv("MESA_SHADER_CACHE_DIR");
}

TEST(missing_parent_is_told, parent) {
    weft_bench_temporary temporary;
    assert_int_equal(setenv("TMPDIR", weft_test_path(parent, "absent"), 1), 0);
    assert_int_equal(weft_bench_temporary_begin(&temporary, NULL), WEFT_IO_ERROR);
    weft_bench_temporary_end(&temporary, NULL);
    assert_int_equal(setenv("TMPDIR", parent, 1), 0);
}

/* Cold compiles everything whatever ran before, the others nothing. */
TEST(caches_are_empty_then_full, parent) {
    const weft_bench_case bench_case = weft_bench_mixer_case(0, 64);
    weft_bench_start times;
    for (uint32_t i = 0; i < 2; i++) {
        assert_ok(weft_bench_start_times(&times, &bench_case, NULL, WEFT_MATH_REPRODUCIBLE, NULL));
        assert_true(times.cold_compiled > 0);
        assert_int_equal(times.steady_compiled, 0);
        assert_int_equal(times.warm_compiled, 0);
        assert_true(times.cold_ms > 0.0 && times.warm_cache_ms > 0.0 && times.steady_ms > 0.0);
        assert_int_equal(weft_test_entries(parent), 0);
    }
}
