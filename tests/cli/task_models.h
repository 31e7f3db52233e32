/* SPDX-License-Identifier: MIT */
/* What tests of tasks share: a tiny model of each, and what such tests read and write. */
#ifndef WEFT_TESTS_CLI_TASK_MODELS_H
#define WEFT_TESTS_CLI_TASK_MODELS_H

#include "cli/archive.h"
#include "cli/place.h"
#include "cli/tiny_model.h"

enum { LENGTH = 9, BYTES = 256, OUTPUTS = 4, WIDTH = 3 };

static const struct tiny_model causal = {
    .task = "causal_lm", .vocabulary = BYTES, .outputs = BYTES, .bytes = true, .seed = 1};
static const struct tiny_model masked = {
    .task = "masked_lm", .vocabulary = BYTES, .outputs = BYTES, .seed = 2};
static const struct tiny_model regression = {
    .task = "regress", .input_size = WIDTH, .outputs = OUTPUTS, .seed = 3};
static const struct tiny_model in_space = {
    .task = "regress", .input_size = WIDTH, .outputs = OUTPUTS, .positions = 2, .seed = 5};
static const struct tiny_model retrieval = {
    .task = "retrieve", .vocabulary = BYTES, .outputs = OUTPUTS, .pairs = true, .seed = 4};

#endif
