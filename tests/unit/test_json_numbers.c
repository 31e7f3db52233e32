/* SPDX-License-Identifier: MIT */
/* JSON with integers beyond 64 bits and infinities, as transformers writes for "no limit". */
#include "core/formats/json.h"
#include "support.h"

WEFT_TEST(only_long_integers_become_reals) {
    static const char text[] =
        "{\"model_max_length\": 1000000000000000019884624838656, \"less\": "
        "-1000000000000000000000, \"most\": 512, \"real\": 0.1234567890123456789012, "
        "\"text\": \"\\\"12345678901234567890123\", \"list\": [1,20000000000000000000]}";
    char *path = weft_test_write(weft_test_folder(), "a.json", text, sizeof text - 1);
    json_t *found = NULL;
    assert_int_equal(weft_json_read(&found, path, NULL), WEFT_BAD_FILE);
    assert_ok(weft_json_read_with_reals(&found, path, NULL));
    assert_true(json_real_value(json_object_get(found, "model_max_length")) ==
                1000000000000000019884624838656.0);
    assert_true(json_real_value(json_object_get(found, "less")) == -1e21);
    assert_int_equal(json_integer_value(json_object_get(found, "most")), 512);
    assert_true(json_real_value(json_object_get(found, "real")) == 0.1234567890123456789012);
    assert_string_equal(json_string_value(json_object_get(found, "text")),
                        "\"12345678901234567890123");
    assert_true(json_real_value(json_array_get(json_object_get(found, "list"), 1)) == 2e19);
    json_decref(found);
}

WEFT_TEST(infinities_are_the_largest_reals) {
    static const char text[] = "{\"a\":[0.0,Infinity,-Infinity],\"Infinity\":\"Infinity\"}";
    static const char other[] = "{\"a\": Infinit}";
    json_t *found = NULL;
    assert_ok(weft_json_parse_with_reals(&found, text, sizeof text - 1, "a", NULL));
    const json_t *list = json_object_get(found, "a");
    assert_true(json_real_value(json_array_get(list, 1)) == 1.79e308);
    assert_true(json_real_value(json_array_get(list, 2)) == -1.79e308);
    assert_string_equal(json_string_value(json_object_get(found, "Infinity")), "Infinity");
    json_decref(found);
    assert_int_equal(weft_json_parse(&found, text, sizeof text - 1, "a", NULL), WEFT_BAD_FILE);
    assert_int_equal(weft_json_parse_with_reals(&found, other, sizeof other - 1, "a", NULL),
                     WEFT_BAD_FILE);
}
