/* SPDX-License-Identifier: MIT */
/* weft-test: posix */
/* Kernels that lie beside the command, as a release has them: nothing that is among them is compiled. */
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"

#define GOLDEN WEFT_SOURCE_DIR "/tests/data/fnet/classify_d36_l2_gelu"
#define TOKENS GOLDEN "/cases/n9_b1/tokens.npy"

static void run_shell(const char *line) {
    if (system(line) != 0) { /* NOLINT(cert-env33-c): the test's own words */
        fail_msg("%s", line);
    }
}

/* How many pipelines the command of $WEFT_COMMAND compiles with that folder as its cache. */
static long long compiled(const char *cache) {
    const char *absent = weft_test_absent("driver.json");
    struct outcome outcome =
        run_weft(weft_test_text("XDG_CACHE_HOME=%s VK_DRIVER_FILES=%s VK_ICD_FILENAMES=%s "
                                "WEFT_PROCESSOR=1",
                                cache, absent, absent),
                 "run " GOLDEN " --device processor --json --tokens " TOKENS);
    json_t *object = json_of(&outcome);
    const long long count = integer_field(object, "pipelines_compiled");
    json_decref(object);
    outcome_clear(&outcome);
    return count;
}

WEFT_TEST(kernels_beside_the_command_are_not_compiled) {
    char *folder = weft_test_folder();
    const char *command = weft_test_path(folder, "weft");
    const char *first = weft_test_path(folder, "first"), *empty = weft_test_path(folder, "empty");
    const char *kernels = weft_test_path(folder, "weft-kernels");
    run_shell(weft_test_text("ln %s %s 2>/dev/null || cp %s %s", weft_command(), command,
                             weft_command(), command));
    assert_int_equal(setenv("WEFT_COMMAND", command, 1), 0);
    assert_true(compiled(first) > 0);
    assert_int_equal(mkdir(kernels, 0755), 0);
    run_shell(weft_test_text("cp %s/weft/pipelines-* %s", first, kernels));
    assert_int_equal(compiled(empty), 0);
    run_shell(weft_test_text("rm -r %s", kernels));
    assert_true(compiled(weft_test_path(folder, "other")) > 0);
    assert_int_equal(unsetenv("WEFT_COMMAND"), 0);
}
