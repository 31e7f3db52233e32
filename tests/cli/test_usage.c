/* SPDX-License-Identifier: MIT */
/* The weft command without a device: help, wrong usage, and a machine that has no Vulkan device. */
#include "bench/case.h"
#include "cli/command.h"

#define GOLDEN WEFT_SOURCE_DIR "/tests/data/fnet/classify_d36_l2_gelu"
#define TOKENS GOLDEN "/cases/n9_b1/tokens.npy"

WEFT_TEST(help_is_printed) {
    static const char *const commands[] = {"devices", "run",   "eval",    "generate", "transcribe",
                                           "verify",  "bench", "certify", "inspect",  "tokenize"};
    struct outcome all = expect_weft(0, "help");
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        expect_part(&all, all.out, commands[i]);
        struct outcome option = expect_weft(0, "%s --help", commands[i]);
        expect_part(&option, option.out, "usage: weft ");
        expect_part(&option, option.out, commands[i]);
        assert_string_equal(option.err, "");
        struct outcome command = expect_weft(0, "help %s", commands[i]);
        assert_string_equal(command.out, option.out);
        outcome_clear(&command);
        outcome_clear(&option);
    }
    outcome_clear(&all);
}

WEFT_TEST(version_is_printed) {
    struct outcome outcome = expect_weft(0, "--version");
    char *expected = weft_test_text("weft %s (%s)\n", weft_version(), weft_build());
    assert_string_equal(outcome.out, expected);
    expect_part(&outcome, outcome.out, "commit ");
    expect_part(&outcome, outcome.out, "VkFFT 1.");
    outcome_clear(&outcome);
}

WEFT_TEST(wrong_usage_is_refused) {
    expect_refused(2, "", "usage: weft COMMAND", NULL);
    expect_refused(2, "nonsense", "unknown command 'nonsense'", NULL);
    expect_refused(2, "help nonsense", "unknown command 'nonsense'", NULL);
    expect_refused(2, "serve model", "python -m weft.serve MODEL", NULL);
    expect_refused(2, "devices there", "unexpected argument 'there'", NULL);
    expect_refused(2, "devices --bogus", "--bogus", "weft devices --help", NULL);
    expect_refused(2, "devices -x", "-x", NULL);
    expect_refused(2, "devices --json=yes", "--json", NULL);
    expect_refused(2, "run", "expected MODEL", NULL);
    expect_refused(2, "run MODEL", "--text, --file, --lines, --tokens and --input", "none", NULL);
    expect_refused(2, "run MODEL --text a --tokens b", "several", NULL);
    expect_refused(2, "run MODEL --text", "--text needs a value", NULL);
    expect_refused(2, "run MODEL OTHER --text a", "unexpected argument 'OTHER'", NULL);
    expect_refused(2, "run MODEL --text a --top 0", "--top", "'0'", NULL);
    expect_refused(2, "run MODEL --text a --top -1", "--top", "'-1'", NULL);
    expect_refused(2, "run MODEL --text a --top 4294967296", "--top", "'4294967296'", NULL);
    expect_refused(2, "run MODEL --text a --repeat 3x", "--repeat", "'3x'", NULL);
    expect_refused(2, "run MODEL --text a --math quick",
                   "--math: expected reproducible, fused or fast", "'quick'", NULL);
    expect_refused(2, "run MODEL --text a --math 'fused|fast'", "'fused|fast'", NULL);
    expect_refused(2, "run MODEL --text a --math ''", "found ''", NULL);
    expect_refused(2, "run MODEL --text a --weights f8",
                   "--weights: expected auto, f32, f16, int8 or int8-only", "'f8'", NULL);
    expect_refused(2, "bench --size big", "--size: expected full, short or smallest", NULL);
    expect_refused(2, "bench --suite best", "--suite: expected ops, mixers,", NULL);
    expect_refused(2, "run --help=html", "--help takes no value", NULL);
    expect_refused(2, "help --html", "unknown command '--html'", NULL);
    expect_refused(2, "run MODEL --text a --token-types b", "--token-types", NULL);
    expect_refused(2, "run MODEL --input a.npy --tokens b", "several", NULL);
    expect_refused(2, "run " GOLDEN " --input a.npy", "--input", "tokens, not vectors", NULL);
    expect_refused(2, "run " GOLDEN " --tokens " TOKENS " --positions a.npy", "--positions a.npy",
                   "takes none", NULL);
    expect_refused(2, "eval MODEL", "expected MODEL DATA", NULL);
    expect_refused(2, "eval MODEL OTHER DATA", "unexpected argument 'DATA'", "--compare", NULL);
    expect_refused(2, "eval --compare DATA", "expected MODEL DATA", NULL);
    expect_refused(2, "eval --compare A B DATA --bits c", "without --compare", NULL);
    expect_refused(2, "eval --compare A B DATA --out c", "without --compare", NULL);
    expect_refused(2, "eval --compare A B DATA --expect c", "without --compare", NULL);
    expect_refused(2, "eval MODEL DATA --examples 3 --expect c", "without --examples", NULL);
    expect_refused(2, "eval MODEL DATA --batch 0", "--batch", NULL);
    expect_refused(2, "transcribe MODEL", "expected MODEL FILE...", NULL);
    expect_refused(2, "transcribe MODEL a.wav --language", "--language needs a value", NULL);
    expect_refused(2, "inspect", "expected MODEL", NULL);
    expect_refused(2, "inspect MODEL --pass nonsense", "--pass", "'nonsense'", NULL);
    expect_refused(2, "inspect " GOLDEN " --length 4000", "--length 4000", "at most", NULL);
}

/* A full disk, here /dev/full, is told; a reader that has gone is not. */
/* The option's words are those of the table: each suite is taken, and only the filter is wrong. */
WEFT_TEST(bench_takes_each_suite) {
    const weft_bench_suite *suite;
    uint32_t count = 0;
    for (; (suite = weft_bench_suite_at(count)); count++) {
        struct outcome outcome =
            expect_weft(2, "bench --suite %s --size smallest --filter no-such-case", suite->name);
        expect_part(&outcome, outcome.err, weft_test_text("no case of %s has", suite->name));
        outcome_clear(&outcome);
    }
    assert_true(count > 0);
}

WEFT_TEST(output_that_fails_is_told) {
    struct outcome full = run_weft("", "help >/dev/full");
    assert_int_equal(full.exit_code, 4);
    expect_part(&full, full.err, "standard output");
    outcome_clear(&full);
    char *folder = weft_test_folder();
    char *code = weft_test_path(folder, "code");
    char *arguments = weft_test_text("help; echo $? >'%s'; } | :", code);
    struct outcome gone = run_weft("{ sleep 1;", arguments); /* by then the reader is gone */
    assert_string_equal(gone.err, "");
    size_t size = 0;
    uint8_t *text = weft_test_read(code, &size);
    assert_string_equal((const char *)text, "0\n");
    free(text);
    outcome_clear(&gone);
}

/* ---- no device ---- */

static const char *no_driver(void) {
    const char *absent = weft_test_absent("driver.json");
    return weft_test_text("VK_DRIVER_FILES=%s VK_ICD_FILENAMES=%s WEFT_PROCESSOR=0", absent,
                          absent);
}

WEFT_TEST(without_a_device_nothing_runs) {
    static const char *const lines[] = {
        "devices",
        "devices --all",
        "run " GOLDEN " --tokens " TOKENS,
        "run " GOLDEN " --json --tokens " TOKENS,
        "inspect " GOLDEN,
        "inspect " GOLDEN " --pass graph",
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        struct outcome outcome = run_weft(no_driver(), lines[i]);
        assert_int_equal(outcome.exit_code, 3);
        assert_string_equal(outcome.out, "");
        expect_part(&outcome, outcome.err, "weft: error: ");
        outcome_clear(&outcome);
    }
    struct outcome outcome = run_weft(no_driver(), "devices --json");
    assert_int_equal(outcome.exit_code, 3);
    json_t *object = json_of(&outcome);
    assert_int_equal(json_array_size(field(object, "devices")), 0);
    assert_true(json_is_null(field(object, "default")));
    json_decref(object);
    outcome_clear(&outcome);
}

/* ---- a slow device ---- */

/* Before it begins, on stderr alone; WEFT_LLVM=0 is as LLVM that is not there. */
WEFT_TEST(a_device_that_interprets_is_told) {
    static const char *const lines[] = {
        "run " GOLDEN " --tokens " TOKENS,
        "run " GOLDEN " --json --tokens " TOKENS,
        "verify --filter softmax/side/large/rank=2,rows=7",
    };
    const char *absent = weft_test_absent("driver.json");
    const char *settings = weft_test_text(
        "WEFT_LLVM=0 VK_DRIVER_FILES=%s VK_ICD_FILENAMES=%s WEFT_PROCESSOR=1", absent, absent);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        struct outcome outcome = run_weft(settings, lines[i]);
        assert_int_equal(outcome.exit_code, 0);
        expect_part(&outcome, outcome.err, "is slow: its kernels are interpreted");
        expect_part(&outcome, outcome.err, "WEFT_LLVM=0; remove WEFT_LLVM from the environment");
        assert_null(strstr(strstr(outcome.err, "is slow") + 1, "is slow"));
        assert_null(strstr(outcome.out, "is slow"));
        outcome_clear(&outcome);
    }
    struct outcome outcome = run_weft(settings, "devices");
    expect_part(&outcome, outcome.out, "is slow: its kernels are interpreted");
    outcome_clear(&outcome);
    outcome = run_weft(settings, "devices --json");
    json_t *object = json_of(&outcome);
    const json_t *device = json_array_get(field(object, "devices"), 0);
    assert_true(json_is_true(field(device, "interpreted")));
    assert_non_null(strstr(string_field(device, "slow"), "WEFT_LLVM=0"));
    json_decref(object);
    outcome_clear(&outcome);
}

/* What is wrong with the files is told although there is no device. */
WEFT_TEST(files_are_checked_before_a_device_is_sought) {
    const char *absent = weft_test_absent("text");
    struct outcome outcome =
        run_weft(no_driver(), weft_test_text("run " GOLDEN " --file %s", absent));
    assert_int_equal(outcome.exit_code, 4);
    expect_part(&outcome, outcome.err, absent);
    outcome_clear(&outcome);
}
