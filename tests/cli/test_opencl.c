/* SPDX-License-Identifier: MIT */
/* An OpenCL library whose device lacks something (tests/opencl/fake.c): what the command says of it, and that other devices go on. */
#include "cli/command.h"

#define MODEL WEFT_SOURCE_DIR "/tests/data/fnet/classify_d36_l2_gelu"

/* No Vulkan driver, and that OpenCL library. */
static const char *with_fake(const char *library, const char *lacks, const char *processor) {
    const char *absent = weft_test_absent("driver.json");
    return weft_test_text("VK_DRIVER_FILES=%s VK_ICD_FILENAMES=%s WEFT_PROCESSOR=%s WEFT_OPENCL=1 "
                          "LD_LIBRARY_PATH=" WEFT_BINARY_DIR "/tests/%s WEFT_FAKE_OPENCL=%s "
                          "XDG_CACHE_HOME=%s",
                          absent, absent, processor, library, lacks, weft_test_folder());
}

static void expect_processor_goes_on(const char *library, const char *lacks) {
    struct outcome outcome = run_weft(with_fake(library, lacks, "1"), "devices --all");
    assert_int_equal(outcome.exit_code, 0);
    expect_part(&outcome, outcome.out, "processor");
    outcome_clear(&outcome);
}

static uint32_t lines_of(const char *text) {
    uint32_t count = 0;
    for (; *text != '\0'; text++) {
        count += *text == '\n';
    }
    return count;
}

/* It is in the list, with what it lacks, and is not opened. */
WEFT_TEST(a_device_that_lacks_something_is_listed_with_that) {
    static const struct {
        const char *lacks, *said;
    } cases[] = {
        {"opencl-1.1", "is not of OpenCL 1.2 or later"},
        {"64-items", "64"},
        {"8-KiB", "8192"},
        {"no-compiler", "has no compiler"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *environment = with_fake("fake-opencl", cases[i].lacks, "0");
        struct outcome outcome = run_weft(environment, "devices --all");
        assert_int_equal(outcome.exit_code, 3);
        expect_part(&outcome, outcome.out, "Fake device");
        expect_part(&outcome, outcome.out, cases[i].said);
        assert_string_equal(outcome.err, "weft: error: none of the devices is usable\n");
        outcome_clear(&outcome);
        outcome = run_weft(environment, "inspect " MODEL " --device opencl:");
        assert_int_equal(outcome.exit_code, 3);
        assert_int_equal(lines_of(outcome.err), 1);
        expect_part(&outcome, outcome.err, "Fake device");
        expect_part(&outcome, outcome.err, cases[i].said);
        outcome_clear(&outcome);
        expect_processor_goes_on("fake-opencl", cases[i].lacks);
    }
}

/* Neither does a library that ends the process end the command: it asks in a child first. */
WEFT_TEST(a_library_that_ends_the_process_is_left_out) {
    struct outcome outcome = run_weft(with_fake("fake-opencl", "abort", "1"), "devices");
    assert_int_equal(outcome.exit_code, 0);
    expect_part(&outcome, outcome.out, "yes, the default");
    expect_part(&outcome, outcome.err,
                "an OpenCL driver ended the process that asked it for devices");
    expect_part(&outcome, outcome.err, "(signal 6): the system's OpenCL library itself");
    expect_part(&outcome, outcome.err, "devices of OpenCL are left out");
    outcome_clear(&outcome);
    /* All devices are those that are left. */
    outcome =
        run_weft(with_fake("fake-opencl", "abort", "1"), "verify --filter cumsum --device all");
    assert_int_equal(outcome.exit_code, 0);
    expect_part(&outcome, outcome.err, "devices of OpenCL are left out");
    outcome_clear(&outcome);
    /* Who asks for the processor does not start it. */
    outcome =
        run_weft(with_fake("fake-opencl", "abort", "1"), "inspect " MODEL " --device processor");
    assert_int_equal(outcome.exit_code, 0);
    outcome_clear(&outcome);
}

/* There is no device, and whoever names one is told why. */
WEFT_TEST(a_library_without_a_device_is_told_by_name) {
    static const struct {
        const char *library, *lacks, *said;
    } cases[] = {
        {"fake-opencl", "no-platform", "knows no platform (clGetPlatformIDs: error -1001)"},
        {"fake-opencl", "no-devices", "(clGetDeviceIDs: CL_OUT_OF_HOST_MEMORY)"},
        {"fake-opencl-1.1", "nothing", "has no clEnqueueFillBuffer: Weft needs OpenCL 1.2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *environment = with_fake(cases[i].library, cases[i].lacks, "0");
        struct outcome outcome = run_weft(environment, "devices --all");
        assert_int_equal(outcome.exit_code, 3);
        assert_string_equal(outcome.out, "");
        assert_int_equal(lines_of(outcome.err), 1);
        outcome_clear(&outcome);
        outcome = run_weft(environment, "devices --all --verbose");
        expect_part(&outcome, outcome.err, cases[i].said);
        outcome_clear(&outcome);
        outcome = run_weft(environment, "inspect " MODEL " --device opencl:fake");
        assert_int_equal(outcome.exit_code, 3);
        assert_int_equal(lines_of(outcome.err), 1);
        expect_part(&outcome, outcome.err, "\"opencl:fake\"");
        expect_part(&outcome, outcome.err, cases[i].said);
        outcome_clear(&outcome);
        expect_processor_goes_on(cases[i].library, cases[i].lacks);
    }
}

/* What only compiling shows is told where the device is opened, in one line. */
WEFT_TEST(a_compiler_that_fails_is_told) {
    static const struct {
        const char *lacks, *said;
    } cases[] = {
        {"build-error",
         "CL_BUILD_PROGRAM_FAILURE: <source>:7:9: error: registers are out of stock\n"},
        {"no-binary", "gives no binary of a program"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *environment = with_fake("fake-opencl", cases[i].lacks, "0");
        struct outcome outcome = run_weft(environment, "devices --all");
        assert_int_equal(outcome.exit_code, 0);
        expect_part(&outcome, outcome.out, "Fake device");
        outcome_clear(&outcome);
        outcome = run_weft(environment, "verify --device opencl: --filter softmax/");
        assert_int_not_equal(outcome.exit_code, 0);
        expect_part(&outcome, outcome.err, cases[i].said);
        outcome_clear(&outcome);
        expect_processor_goes_on("fake-opencl", cases[i].lacks);
    }
}

/* A device that computes nothing does not pass for one that does. */
WEFT_TEST(a_device_that_computes_nothing_is_refused) {
    struct outcome outcome = run_weft(with_fake("fake-opencl", "nothing", "0"),
                                      "verify --device opencl: --filter softmax/");
    assert_int_not_equal(outcome.exit_code, 0);
    expect_part(&outcome, outcome.err, "Fake device");
    outcome_clear(&outcome);
}

/* ---- which are listed ---- */

/* WEFT_OPENCL=1 takes the device like others; it is a GPU, so it comes before the processor. */
WEFT_TEST(a_gpu_of_opencls_is_the_default) {
    struct outcome outcome = run_weft(with_fake("fake-opencl", "nothing", "1"), "devices --json");
    assert_int_equal(outcome.exit_code, 0);
    json_t *object = json_of(&outcome);
    const json_int_t taken = integer_field(object, "default");
    const json_t *device = json_array_get(field(object, "devices"), (size_t)taken);
    assert_string_equal(string_field(device, "name"), "Fake device");
    assert_true(json_is_false(field(device, "by_name_only")));
    json_decref(object);
    outcome_clear(&outcome);
}
