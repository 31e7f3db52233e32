/* SPDX-License-Identifier: MIT */
/* weft-test: one device */
/* weft verify: what it prints, and what it makes of a file of bits. */
#include <sys/stat.h>

#include "cli/command.h"

#define FILTER "softmax/unit/rank"

WEFT_TEST(every_case_is_printed_with_its_digest) {
    json_t *report = run_json("", "verify --filter " FILTER);
    struct outcome text = expect_weft(0, "verify --filter " FILTER " --cases");
    json_t *cases = field(report, "cases");
    assert_true(json_array_size(cases) >= 5);
    for (size_t i = 0; i < json_array_size(cases); i++) {
        const json_t *one = json_array_get(cases, i);
        assert_int_equal(strlen(string_field(one, "sha256")), 64);
        assert_string_equal(string_field(one, "status"), "pass");
        assert_true(number_field(one, "rel_l2") <= number_field(one, "tolerance"));
        char *line =
            weft_test_text("%s  %s\n", string_field(one, "sha256"), string_field(one, "name"));
        expect_part(&text, text.out, line);
    }
    outcome_clear(&text);
    json_decref(report);
}

WEFT_TEST(evaluations_are_counted) {
    json_t *report = run_json("", "verify --filter " FILTER " --evaluate");
    long long cases = (long long)json_array_size(field(report, "cases"));
    assert_int_equal(integer_field(report, "evaluated"), cases);
    json_decref(report);
    expect_says(0, "verify --filter " FILTER " --evaluate --evaluate-limit 1",
                "skipped, which take more than 1 million steps", NULL);
}

static char *bits_of(const json_t *report, bool spoil) {
    json_t *bits = json_object();
    for (size_t i = 0; i < json_array_size(field(report, "cases")); i++) {
        const json_t *one = json_array_get(field(report, "cases"), i);
        char digest[65];
        snprintf(digest, sizeof digest, "%s", string_field(one, "sha256"));
        digest[0] = spoil && i == 1 ? (digest[0] == '0' ? '1' : '0') : digest[0];
        json_object_set_new(bits, string_field(one, "name"), json_string(digest));
    }
    char *text = json_dumps(bits, 0);
    json_decref(bits);
    return text;
}

WEFT_TEST(bits_are_compared) {
    char *folder = weft_test_folder();
    json_t *report = run_json("", "verify --filter " FILTER);
    char *right = bits_of(report, false);
    char *wrong = bits_of(report, true);
    char *right_path = weft_test_write(folder, "right.json", right, strlen(right));
    char *wrong_path = weft_test_write(folder, "wrong.json", wrong, strlen(wrong));
    char *cut_path = weft_test_write(folder, "cut.json", right, strlen(right) / 2);
    struct outcome same = expect_weft(0, "verify --filter " FILTER " --bits %s", right_path);
    expect_part(&same, same.out, "The bits are those of the file.");
    struct outcome other = expect_weft(1, "verify --filter " FILTER " --bits %s", wrong_path);
    char *line = weft_test_text("DIFFERENT %s",
                                string_field(json_array_get(field(report, "cases"), 1), "name"));
    expect_part(&other, other.out, line);
    char *arguments = weft_test_text("verify --filter " FILTER " --bits %s", cut_path);
    expect_refused(4, arguments, cut_path, NULL);
    outcome_clear(&same);
    outcome_clear(&other);
    json_decref(report);
    free(wrong);
    free(right);
}

/* A folder has a file for each op, and no case lies in the file of another. */
WEFT_TEST(bits_are_compared_with_a_folder) {
    char *folder = weft_test_folder(), *astray = weft_test_folder();
    json_t *report = run_json("", "verify --filter " FILTER);
    char *right = bits_of(report, false);
    weft_test_write(folder, "softmax.json", right, strlen(right));
    weft_test_write(folder, "matmul.json", "{}", 2);
    weft_test_write(folder, "README.md", "no bits", 7);
    char *path = weft_test_write(astray, "matmul.json", right, strlen(right));
    struct outcome same = expect_weft(0, "verify --filter " FILTER " --bits %s", folder);
    expect_part(&same, same.out, "The bits are those of the file.");
    char *arguments = weft_test_text("verify --filter " FILTER " --bits %s", astray);
    expect_refused(4, arguments, path, "belongs in softmax.json", NULL);
    outcome_clear(&same);
    json_decref(report);
    free(right);
}

/* In fused math a case has the bits of the folder beside it, if they are there, and else those of the folder. */
WEFT_TEST(other_bits_of_fused_math_stand_beside_the_folder) {
    char *parent = weft_test_folder();
    char *folder = weft_test_text("%s/bits", parent),
         *beside = weft_test_text("%s/bits-fused", parent);
    assert_int_equal(mkdir(folder, 0777), 0);
    json_t *report = run_json("", "verify --filter " FILTER);
    json_t *fused = run_json("", "verify --math fused --filter " FILTER);
    char *right = bits_of(report, false), *other = bits_of(fused, false);
    assert_string_not_equal(right, other);
    weft_test_write(folder, "softmax.json", right, strlen(right));
    char *alone = weft_test_text("verify --math fused --filter " FILTER " --bits %s", folder);
    expect_refused(4, alone, beside, NULL);
    assert_int_equal(mkdir(beside, 0777), 0);
    struct outcome missing = expect_weft(1, "%s", alone);
    expect_part(&missing, missing.out, "DIFFERENT");
    weft_test_write(beside, "softmax.json", other, strlen(other));
    struct outcome same = expect_weft(0, "%s", alone);
    expect_part(&same, same.out, "The bits are those of the file.");
    struct outcome still = expect_weft(0, "verify --filter " FILTER " --bits %s", folder);
    expect_part(&still, still.out, "The bits are those of the file.");
    outcome_clear(&missing);
    outcome_clear(&same);
    outcome_clear(&still);
    json_decref(report);
    json_decref(fused);
    free(right);
    free(other);
}

/* A list that verify wrote covers every kernel, by fewer cases; one without cases covers none. */
WEFT_TEST(lists_cover_kernels) {
    char *folder = weft_test_folder();
    char *list = weft_test_text("%s/list.txt", folder);
    static const char nothing[] = "# no case\n";
    static const char stranger[] = "softmax/unknown\n";
    char *empty = weft_test_write(folder, "empty.txt", nothing, sizeof nothing - 1);
    char *strange = weft_test_write(folder, "strange.txt", stranger, sizeof stranger - 1);
    json_t *all = run_json("", "verify --filter " FILTER);
    struct outcome wrote = expect_weft(0, "verify --filter " FILTER " --write-list %s", list);
    char *options = weft_test_text("verify --list %s", list);
    json_t *listed = run_json("", options);
    const size_t cases = json_array_size(field(all, "cases"));
    assert_in_range(json_array_size(field(listed, "cases")), 1, cases - 1);
    struct outcome whole = expect_weft(0, "verify --filter " FILTER " --check-list %s", list);
    struct outcome missing = expect_weft(1, "verify --filter " FILTER " --check-list %s", empty);
    char *shorter = weft_test_text("%s/shorter.txt", folder);
    struct outcome once =
        expect_weft(0, "verify --list %s --kernels-once --write-list %s", list, shorter);
    struct outcome part =
        expect_weft(0, "verify --list %s --kernels-once --check-list %s", list, shorter);
    struct outcome few = expect_weft(1, "verify --filter " FILTER " --check-list %s", shorter);
    expect_part(&missing, missing.out, "executes the kernel 'softmax/");
    char *arguments = weft_test_text("verify --list %s", strange);
    expect_refused(4, arguments, strange, "line 1: 'softmax/unknown' is no case", NULL);
    char *none = weft_test_text("verify --list %s", empty);
    expect_refused(2, none, "names no case", NULL);
    outcome_clear(&wrote);
    outcome_clear(&whole);
    outcome_clear(&missing);
    outcome_clear(&once);
    outcome_clear(&part);
    outcome_clear(&few);
    json_decref(listed);
    json_decref(all);
}

WEFT_TEST(wrong_usage_is_refused) {
    expect_refused(2, "verify --filter nonsense", "no case's name contains 'nonsense'", NULL);
    expect_refused(2, "verify --bits a --math fast", "need --math reproducible", NULL);
    expect_refused(2, "verify --evaluate --math fast", "--evaluate needs --math reproducible",
                   NULL);
    expect_refused(2, "verify --evaluate-limit 3", "--evaluate-limit needs --evaluate", NULL);
    expect_refused(2, "verify --write-bits a --filter b", "leave out --filter", NULL);
    expect_refused(2, "verify --write-bits a --list b", "leave out --filter and --list", NULL);
    expect_refused(2, "verify --kernels-once", "--kernels-once needs --check-list", NULL);
    expect_refused(2, "verify --write-list a --math fast", "need --math reproducible", NULL);
}
