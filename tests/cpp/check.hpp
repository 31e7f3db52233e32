/* SPDX-License-Identifier: MIT */
/* What the C++ tests check with: a program's exit code is whether `failures` is 0. */
#ifndef WEFT_TESTS_CPP_CHECK_HPP
#define WEFT_TESTS_CPP_CHECK_HPP

#include <cstdio>

inline int failures = 0;

inline void check(bool holds, const char *what, int line) {
    if (!holds) {
        std::printf("line %d: %s does not hold\n", line, what);
        failures++;
    }
}
#define CHECK(condition) check((condition), #condition, __LINE__)

#endif
