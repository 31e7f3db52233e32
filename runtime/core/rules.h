/* SPDX-License-Identifier: MIT */
/*
 * The rules that make reproducible math what it is. tests/rules breaks them one at a time to show
 * that the other tests notice: sources compiled with WEFT_RULES_CAN_BREAK ask it whether a rule
 * holds. Everywhere else all of them do.
 */
#ifndef WEFT_CORE_RULES_H
#define WEFT_CORE_RULES_H

#ifdef WEFT_RULES_CAN_BREAK

#include <stdbool.h>

/** True if a rule is to be kept. Rules: "no-contraction", "float-modes", "lint",
 * "tables", "thread-flush", "light-flush"; "fused" (an Fma is not split in fused math), "exact-fma" (nor left to a driver that
 * splits it); and what only some compilers need: "whole-blocks",
 * "equal-branches", "barrier-ends", "hidden-signs"; "opencl-contraction" is no-contraction in text. */
bool weft_rule_holds(const char *rule);

#else

#define weft_rule_holds(rule) 1

#endif

#endif
