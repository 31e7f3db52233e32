/* SPDX-License-Identifier: MIT */
/* What drivers call their statistics becomes names of fields, be it UTF-8 or not. */
#include "pipelines.h"
#include "support.h"

WEFT_TEST(statistics_are_fields_whatever_their_names) {
    weft_statistic statistics[] = {
        {.name = "Registers", .value = 12.0},
        {.name = "Gr\xf6\xdf"
                 "e",
         .value = 0.5},                           /* ISO 8859-1 */
        {.name = "Zeit [\xc2\xb5", .value = 3.0}, /* UTF-8 */
        {.name = "Zeit [\xc2", .value = 4.0},     /* cut within a character */
        {.name = "", .value = 5.0},
    };
    const weft_executable executable = {
        .subgroup_size = 8, .statistics = statistics, .statistic_count = 5};
    json_t *found = weft_cli_executable_json(&executable);
    json_t *expected = json_pack("{s:i, s:{s:i, s:f, s:i, s:i, s:i}}", "subgroup_size", 8,
                                 "statistics", "Registers", 12, "Gr\\xf6\\xdfe", 0.5,
                                 "Zeit [\xc2\xb5", 3, "Zeit [\\xc2", 4, "", 5);
    assert_non_null(found);
    assert_non_null(expected);
    assert_true(json_equal(found, expected));
    json_decref(found);
    json_decref(expected);
}

/* A field without a value, as where memory was out for it, is none: what was there goes, too. */
WEFT_TEST(a_field_without_a_value_is_none) {
    assert_null(weft_cli_json_field(json_object(), "name", NULL));
    assert_null(weft_cli_json_field(NULL, "name", json_integer(1)));
}
