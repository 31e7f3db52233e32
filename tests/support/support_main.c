/* SPDX-License-Identifier: MIT */
/*
 * The main function of the programs whose tests are defined by WEFT_TEST: `PROGRAM NAME` runs those of test_NAME.c, first to last.
 * A program of one such file needs no name.
 */
#include "support.h"

enum { TESTS = 4096 };

struct test {
    const char *file;
    struct CMUnitTest test;
};

struct fixtures {
    const char *file;
    CMFixtureFunction set_up, tear_down;
};

static struct test tests[TESTS];
static struct fixtures groups[TESTS];
static size_t test_count, group_count;
static const char *running; /* the file */

static void expect_room(size_t count) {
    if (count == TESTS) {
        fprintf(stderr, "more than %d tests in one program\n", TESTS);
        abort();
    }
}

void weft_test_add(const char *file, struct CMUnitTest test) {
    expect_room(test_count);
    tests[test_count++] = (struct test){file, test};
}

void weft_test_group(const char *file, CMFixtureFunction set_up, CMFixtureFunction tear_down) {
    expect_room(group_count);
    groups[group_count++] = (struct fixtures){file, set_up, tear_down};
}

/* "fork" of "…/tests/unit/test_fork.c", and how long that is. */
static const char *name_of(const char *file, size_t *length) {
    const char *name = file;
    for (const char *at = file; *at != '\0'; at++) {
        name = *at == '/' || *at == '\\' ? at + 1 : name;
    }
    name += strncmp(name, "test_", 5) == 0 ? 5 : 0;
    *length = strcspn(name, ".");
    return name;
}

static bool is_of(const char *file, const char *wanted) {
    size_t length = 0;
    const char *name = name_of(file, &length);
    return strlen(wanted) == length && memcmp(name, wanted, length) == 0;
}

char *weft_test_name(void) {
    size_t length = 0;
    const char *name = name_of(running, &length);
    return weft_test_text("%.*s", (int)length, name);
}

/* The file of that name, or the only one; null: there is none. */
static const char *find_file(const char *wanted) {
    const char *found = NULL;
    for (size_t i = 0; i < test_count; i++) {
        const char *file = tests[i].file;
        if (wanted ? is_of(file, wanted) : !found || strcmp(found, file) == 0) {
            found = file;
        } else if (!wanted) {
            return NULL;
        }
    }
    return found;
}

static int say_names(const char *program) {
    const char *last = "";
    fprintf(stderr, "usage: %s NAME, one of\n", program);
    for (size_t i = 0; i < test_count; i++) {
        size_t length = 0;
        const char *name = name_of(tests[i].file, &length);
        if (strcmp(tests[i].file, last) != 0) {
            fprintf(stderr, "  %.*s\n", (int)length, name);
        }
        last = tests[i].file;
    }
    return 2;
}

int main(int argc, char **argv) {
    static struct CMUnitTest chosen[TESTS];
    size_t count = 0;
    CMFixtureFunction set_up = NULL, tear_down = NULL;
    running = argc <= 2 ? find_file(argv[1]) : NULL; /* argv ends with a null */
    if (!running) {
        return say_names(argv[0]);
    }
    for (size_t i = 0; i < test_count; i++) {
        if (strcmp(tests[i].file, running) == 0) {
            chosen[count++] = tests[i].test;
        }
    }
    for (size_t i = 0; i < group_count; i++) {
        if (strcmp(groups[i].file, running) == 0) {
            set_up = groups[i].set_up;
            tear_down = groups[i].tear_down;
        }
    }
    return _cmocka_run_group_tests("tests", chosen, count, set_up, tear_down);
}
