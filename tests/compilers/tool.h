/* SPDX-License-Identifier: MIT */
/* Another program that is run to its end. */
#ifndef WEFT_TESTS_COMPILERS_TOOL_H
#define WEFT_TESTS_COMPILERS_TOOL_H

#include <stdbool.h>

/**
 * Runs the program that arguments[0] names, a path or a name to look for in PATH; the list ends with null. What it prints goes to two
 * files. False where it cannot be started, is ended by a signal or exits with anything but 0.
 */
bool weft_run_tool(const char *const arguments[], const char *output, const char *errors);

#endif
