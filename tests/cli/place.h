/* SPDX-License-Identifier: MIT */
/* A folder for each test. Includes cli/command.h. */
#ifndef WEFT_TESTS_CLI_PLACE_H
#define WEFT_TESTS_CLI_PLACE_H

#include "cli/command.h"

struct place {
    char *folder; /* new for each test */
    char *out;    /* the path of an out.npy in it, for --out */
};

/** cmocka fixtures: *state is a struct place. */
static inline int make_place(void **state) {
    struct place *place = calloc(1, sizeof *place);
    assert_non_null(place);
    place->folder = weft_test_folder();
    place->out = weft_test_path(place->folder, "out.npy");
    *state = place;
    return 0;
}

static inline int remove_place(void **state) {
    struct place *place = *state;
    free(place);
    return 0;
}

/** A test with a struct place of that name. */
#define PLACE_TEST(name, place) WEFT_TEST_WITH(name, struct place *place, make_place, remove_place)

#endif
