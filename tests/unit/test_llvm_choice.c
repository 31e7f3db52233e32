/* SPDX-License-Identifier: MIT */
/* weft-test: posix */
/* Which LLVM the processor's compiler is, by WEFT_LLVM, and what is told of one that is not taken. */
#include "native/kernel.h"
#include "support.h"

#ifdef WEFT_HAVE_LLVM

#include "native/llvm/build_id.h"
#include "support_child.h"

struct choice {
    const char *value;      /* of WEFT_LLVM */
    const char *reasons[2]; /* texts in what is told */
};

static bool has_all(const char *text, const struct choice *choice) {
    for (size_t i = 0; i < 2 && choice->reasons[i]; i++) {
        WEFT_CHILD_EXPECT(strstr(text, choice->reasons[i]));
    }
    return true;
}

/* The list tells it, and the device is not opened instead with another compiler or none. */
static bool is_refused(void *user) {
    const struct choice *choice = user;
    weft_device_info infos[8];
    uint32_t count = 8;
    weft_device *device = NULL;
    weft_test_set_variable("WEFT_LLVM", choice->value);
    WEFT_CHILD_EXPECT(weft_device_list(infos, &count, NULL) == WEFT_OK && count >= 1 && count <= 8);
    WEFT_CHILD_EXPECT(has_all(infos[0].slow, choice));
    WEFT_CHILD_EXPECT(weft_native_compiler_fault() &&
                      has_all(weft_native_compiler_fault(), choice));
    WEFT_CHILD_EXPECT(!weft_native_can_compile() && weft_native_compiler_version() == 0);
    WEFT_CHILD_EXPECT(weft_device_open(&device, weft_device_params(.select = "processor",
                                                                   .cache_dir = "")) != WEFT_OK);
    return true;
}

static void only_the_processor(void) {
    weft_test_set_variable("WEFT_PROCESSOR", NULL);
    weft_test_set_variable("WEFT_OPENCL", "0");
    weft_test_set_variable("VK_DRIVER_FILES", weft_test_absent("driver.json"));
    weft_test_set_variable("VK_ICD_FILENAMES", weft_test_absent("driver.json"));
}

WEFT_TEST(what_is_not_taken_is_told) {
    static const char wrong[] =
        "WEFT_LLVM is neither 0, 1, a version from 15 to 22 nor the absolute path of a file";
    static const struct choice choices[] = {
        {WEFT_FAKE_LLVM "14.so",
         {"libweft-fake-llvm-14.so", "is older than LLVM 15, expected 15 to 22"}},
        {WEFT_FAKE_LLVM "23.so", {"libweft-fake-llvm-23.so", "is LLVM 23.1.7, expected 15 to 22"}},
        {WEFT_FAKE_LLVM "19.so", {"libweft-fake-llvm-19.so has no LLVM", NULL}},
        {WEFT_FAKE_LLVM "15.so", {"libweft-fake-llvm-15.so has no LLVM", NULL}},
        {"/dev/null", {"/dev/null ", NULL}},
        {WEFT_FAKE_LLVM "99.so", {wrong, NULL}},
        {"libLLVM-15.so.1", {wrong, NULL}},
        {"14", {wrong, NULL}},
        {"23", {wrong, NULL}},
        {"15.0", {wrong, NULL}},
        {"no", {wrong, NULL}},
    };
    only_the_processor();
    for (size_t i = 0; i < sizeof choices / sizeof choices[0]; i++) {
        struct choice choice = choices[i];
        weft_test_in_child(is_refused, &choice);
    }
}

/* Of a version that is not installed; this machine has hardly all of them. */
static bool is_missed(void *user) {
    static const struct choice choice = {NULL,
                                         {"no library of the version that WEFT_LLVM names", NULL}};
    char number[8];
    (void)user;
    for (uint32_t version = 15; version <= 22; version++) {
        struct choice missing = choice;
        (void)snprintf(number, sizeof number, "%u", version);
        missing.value = number;
        const pid_t child = fork();
        if (child == 0) {
            weft_test_set_variable("WEFT_LLVM", number);
            weft_native_try_compiler();
            _exit(weft_native_compiler_fault() ? 1 : 0);
        }
        int status = 0;
        WEFT_CHILD_EXPECT(waitpid(child, &status, 0) == child && WIFEXITED(status));
        if (WEXITSTATUS(status) == 1) {
            return is_refused(&missing);
        }
    }
    _exit(WEFT_CHILD_SKIPS);
}

WEFT_TEST(a_version_that_is_not_there_is_told) {
    only_the_processor();
    weft_test_in_child(is_missed, NULL);
}

/* What objects are kept under is the same before LLVM is loaded, as a program that finds all of them in its cache has it, and after. */
static bool keeps_its_name(void *user) {
    char before[256];
    weft_test_set_variable("WEFT_LLVM", user);
    (void)snprintf(before, sizeof before, "%s", weft_native_compiler());
    const uint32_t version = weft_native_compiler_version();
    weft_native_try_compiler();
    WEFT_CHILD_EXPECT(version >= 15 && version <= 22 && weft_native_compiler_version() == version);
    WEFT_CHILD_EXPECT(strcmp(weft_native_compiler(), before) == 0 &&
                      weft_native_compiler_changes() == 0);
    char start[16];
    (void)snprintf(start, sizeof start, "LLVM %u, ", version);
    WEFT_CHILD_EXPECT(strncmp(before, start, strlen(start)) == 0);
    return true;
}

WEFT_TEST(its_name_is_that_of_what_is_loaded) {
    char number[8];
    weft_test_in_child(keeps_its_name, NULL);
    weft_test_in_child(keeps_its_name, "1");
    weft_test_in_child(keeps_its_name, "");
    weft_test_set_variable("WEFT_LLVM", NULL);
    (void)snprintf(number, sizeof number, "%u", weft_native_compiler_version());
    weft_test_in_child(keeps_its_name, number);
}

/* ---- build IDs ---- */

enum { NOTE = 64 + 56, SIZE = NOTE + 16 + 20, FIRST_BYTE = 0xA0 };

/* An ELF file for this processor, with a segment of one note. */
static void make_elf(uint8_t elf[SIZE]) {
    static const uint8_t start[] = {0x7F, 'E', 'L', 'F', 2, 1, 1};
    memset(elf, 0, SIZE);
    memcpy(elf, start, sizeof start);
#ifdef __x86_64__
    elf[18] = 62;
#else
    elf[18] = 183;
#endif
    elf[32] = 64; /* where the segments are, the size of each, and how many */
    elf[54] = 56;
    elf[56] = 1;
    elf[64] = 4; /* notes */
    elf[64 + 8] = NOTE;
    elf[64 + 32] = SIZE - NOTE;
    elf[NOTE] = 4;
    elf[NOTE + 4] = 20;
    elf[NOTE + 8] = 3; /* a build ID */
    memcpy(elf + NOTE + 12, "GNU", 4);
    for (uint32_t i = 0; i < 20; i++) {
        elf[NOTE + 16 + i] = (uint8_t)(FIRST_BYTE + i);
    }
}

static bool id_of(char id[80], const uint8_t *elf, size_t size) {
    const char *path = weft_test_write(weft_test_folder(), "library.so", elf, size);
    memset(id, 0, 80);
    return weft_build_id(id, 80, path);
}

WEFT_TEST(a_build_is_told_by_its_id_or_its_size) {
    uint8_t elf[SIZE];
    char id[80];
    make_elf(elf);
    assert_true(id_of(id, elf, SIZE));
    assert_string_equal(id, "a0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3");
    elf[NOTE + 8] = 1; /* another note */
    assert_true(id_of(id, elf, SIZE));
    assert_string_equal(id, "156 bytes");
    static const struct {
        size_t at;
        uint8_t value;
    } damages[] = {{NOTE + 7, 0xFF}, {NOTE + 3, 0x80}, {NOTE + 4, 21}, {64 + 8, 200},
                   {64 + 39, 1},     {39, 1},          {54, 1}};
    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        make_elf(elf);
        elf[damages[i].at] = damages[i].value;
        assert_true(id_of(id, elf, SIZE));
        assert_string_equal(id, "156 bytes");
    }
}

WEFT_TEST(what_is_no_library_for_this_processor_is_none) {
    static const size_t places[] = {0, 4, 5, 18};
    uint8_t elf[SIZE];
    char id[80];
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        make_elf(elf);
        elf[places[i]] ^= 3;
        assert_false(id_of(id, elf, SIZE));
    }
    make_elf(elf);
    assert_false(id_of(id, elf, 63));
    assert_false(weft_build_id(id, sizeof id, weft_test_absent("nothing.so")));
}

#else

WEFT_TEST(without_a_compiler_there_is_no_version) {
    assert_int_equal(weft_native_compiler_version(), 0);
}

#endif
