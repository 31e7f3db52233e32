/* SPDX-License-Identifier: MIT */
/* The main function of the programs whose tests are defined by WEFT_TEST. */
#include "support.h"

enum { TESTS = 64 };

static struct CMUnitTest tests[TESTS];
static size_t count;
static CMFixtureFunction group_set_up, group_tear_down;

void weft_test_add(struct CMUnitTest test) {
    if (count == TESTS) {
        fprintf(stderr, "%s: more than %d tests in one program\n", test.name, TESTS);
        abort();
    }
    tests[count++] = test;
}

void weft_test_group(CMFixtureFunction set_up, CMFixtureFunction tear_down) {
    group_set_up = set_up;
    group_tear_down = tear_down;
}

int main(void) {
    return _cmocka_run_group_tests("tests", tests, count, group_set_up, group_tear_down);
}
