/* SPDX-License-Identifier: MIT */
/* What weft eval says about data that does not fit a model. No device is needed to find that. */
#include <math.h>

#include "cli/task_models.h"

enum { ROWS = 3 };

/* One wrong member beside right ones, and what is said of it. */
struct misfit {
    const struct tiny_model *model;
    const char *member;
    const char *said;
    weft_shape shape;
    const int32_t *integers; /* one of the two */
    const float *reals;
};

/* The right members of a model's data in members, which ends with a null name. */
static void right_members(struct member members[4], const struct place *place,
                          const struct tiny_model *model) {
    static const int32_t zeros[2 * ROWS * LENGTH] = {0};
    static const float none[ROWS * LENGTH * WIDTH] = {0};
    bool pairs = model == &retrieval;
    size_t count = 0;
    members[count++] =
        model->vocabulary > 0
            ? (struct member){"tokens",
                              write_integers(place->folder, "tokens.npy", zeros,
                                             weft_shape_of((pairs ? 2 : 1) * ROWS, LENGTH))}
            : (struct member){"inputs", write_reals(place->folder, "inputs.npy", none,
                                                    weft_shape_of(ROWS, LENGTH, WIDTH))};
    if (model == &masked || pairs) {
        members[count++] = (struct member){
            "labels", write_integers(place->folder, "labels.npy", zeros,
                                     pairs ? weft_shape_of(ROWS) : weft_shape_of(ROWS, LENGTH))};
    }
    if (model == &regression || model == &in_space) {
        members[count++] =
            (struct member){"targets", write_reals(place->folder, "targets.npy", none,
                                                   weft_shape_of(ROWS, OUTPUTS))};
    }
    members[count] = (struct member){NULL, NULL};
}

static void expect_misfit(const struct place *place, const struct misfit *misfit, size_t number) {
    char *name = weft_test_text("model%zu", number);
    char *model = write_tiny_model(place->folder, name, misfit->model);
    struct member members[5] = {{NULL, NULL}};
    right_members(members, place, misfit->model);
    size_t at = 0;
    while (members[at].name && strcmp(members[at].name, misfit->member) != 0) {
        at++;
    }
    members[at] = (struct member){
        misfit->member,
        misfit->integers
            ? write_integers(place->folder, "misfit.npy", misfit->integers, misfit->shape)
            : write_reals(place->folder, "misfit.npy", misfit->reals, misfit->shape)};
    char *data = write_archive(place->folder, "data.npz", members);
    char *line = weft_test_text("eval %s %s", model, data);
    expect_refused(4, line, data, misfit->said, NULL);
}

PLACE_TEST(members_that_do_not_fit_are_named, place) {
    static const int32_t wide[2 * ROWS * TINY_LENGTH * 2] = {0};
    static const int32_t big[2 * ROWS * LENGTH] = {[LENGTH + 1] = BYTES};
    static const int32_t low[2 * ROWS * LENGTH] = {[LENGTH] = -2};
    static const int32_t unscored[ROWS * LENGTH] = {-1, -1, -1, -1, -1, -1, -1, -1, -1,
                                                    -1, -1, -1, -1, -1, -1, -1, -1, -1,
                                                    -1, -1, -1, -1, -1, -1, -1, -1, -1};
    static const int32_t classes[ROWS] = {0, OUTPUTS, 0};
    static const float reals[ROWS * LENGTH * (WIDTH + 1)] = {0};
    static const float infinite[ROWS * LENGTH * WIDTH] = {[LENGTH * WIDTH + 4] = INFINITY};
    const struct misfit misfits[] = {
        {&causal, "tokens", "at most 16 tokens", weft_shape_of(ROWS, TINY_LENGTH + 1), wide, NULL},
        {&causal, "tokens", "at least 2 tokens", weft_shape_of(ROWS, 1), wide, NULL},
        {&causal, "tokens", "expected int32 or int64 [N, n], found <i4 [9]", weft_shape_of(LENGTH),
         wide, NULL},
        {&causal, "tokens", "sequence 1, position 1: expected a token from 0 to 255",
         weft_shape_of(ROWS, LENGTH), big, NULL},
        {&causal, "tokens", "sequence 1, position 0: expected a token from 0 to 255",
         weft_shape_of(ROWS, LENGTH), low, NULL},
        {&causal, "tokens", "expected int32 or int64 [N, n], found <f4 [3, 9]",
         weft_shape_of(ROWS, LENGTH), NULL, reals},
        {&causal, "inputs", "one of the members tokens and inputs, found both",
         weft_shape_of(ROWS, LENGTH, WIDTH), NULL, reals},
        {&causal, "lengths", "member lengths, sequence 0: expected 1 to 9, found 0",
         weft_shape_of(ROWS), wide, NULL},
        {&masked, "labels", "expected int32 or int64 [3, 9], found <i4 [3]", weft_shape_of(ROWS),
         wide, NULL},
        {&masked, "labels", "sequence 1, position 0: expected -1, or a token",
         weft_shape_of(ROWS, LENGTH), low, NULL},
        {&masked, "labels", "sequence 1, position 1: expected -1, or a token",
         weft_shape_of(ROWS, LENGTH), big, NULL},
        {&masked, "labels", "found only -1", weft_shape_of(ROWS, LENGTH), unscored, NULL},
        {&regression, "inputs", "expected vectors of 3 values",
         weft_shape_of(ROWS, LENGTH, WIDTH + 1), NULL, reals},
        {&regression, "inputs", "found <f4 [3, 9]", weft_shape_of(ROWS, LENGTH), NULL, reals},
        {&regression, "inputs", "sequence 1, position 1: expected a finite value, found inf",
         weft_shape_of(ROWS, LENGTH, WIDTH), NULL, infinite},
        {&regression, "targets", "member targets: expected 4 values",
         weft_shape_of(ROWS, OUTPUTS + 1), NULL, reals},
        {&regression, "targets", "expected float32 or float64 [3, m], found <f4 [2, 4]",
         weft_shape_of(ROWS - 1, OUTPUTS), NULL, reals},
        {&regression, "positions", "member positions: expected float32 or float64 [3, 9, l]",
         weft_shape_of(ROWS, LENGTH + 1, 2), NULL, reals},
        {&in_space, "positions", "member positions: expected 2 coordinates",
         weft_shape_of(ROWS, LENGTH, 3), NULL, reals},
        {&in_space, "targets", "takes positions: expected the member positions",
         weft_shape_of(ROWS, OUTPUTS), NULL, reals},
        {&in_space, "positions", "member positions, sequence 1, position",
         weft_shape_of(ROWS, LENGTH, 2), NULL, infinite},
        {&retrieval, "tokens", "expected pairs of sequences", weft_shape_of(2 * ROWS - 1, LENGTH),
         wide, NULL},
        {&retrieval, "labels", "example 1: expected 0 to 3", weft_shape_of(ROWS), classes, NULL},
        {&retrieval, "labels", "expected int32 or int64 [3], found <i4 [6]",
         weft_shape_of(2 * ROWS), wide, NULL},
    };
    for (size_t i = 0; i < sizeof misfits / sizeof misfits[0]; i++) {
        expect_misfit(place, &misfits[i], i);
    }
}

/* Vectors for a model of tokens, and the other way round; pairs of two lengths. */
PLACE_TEST(other_kinds_of_data_are_refused, place) {
    char *of_tokens = write_tiny_model(place->folder, "causal", &causal);
    char *of_vectors = write_tiny_model(place->folder, "regression", &regression);
    char *of_pairs = write_tiny_model(place->folder, "retrieval", &retrieval);
    struct member members[5];
    right_members(members, place, &causal);
    char *tokens = write_archive(place->folder, "tokens.npz", members);
    right_members(members, place, &regression);
    char *vectors = write_archive(place->folder, "vectors.npz", members);
    char *line = weft_test_text("eval %s %s", of_tokens, vectors);
    expect_refused(4, line, vectors, of_tokens, "expected the member tokens, found inputs", NULL);
    line = weft_test_text("eval %s %s", of_vectors, tokens);
    expect_refused(4, line, tokens, "targets", NULL);
    const int32_t zeros[ROWS * LENGTH] = {0};
    members[0] = (struct member){
        "tokens", write_integers(place->folder, "tokens.npy", zeros, weft_shape_of(ROWS, LENGTH))};
    char *mixed = write_archive(place->folder, "mixed.npz", members);
    line = weft_test_text("eval %s %s", of_vectors, mixed);
    expect_refused(4, line, mixed, of_vectors, "expected the member inputs, found tokens", NULL);
    const int32_t lengths[2 * ROWS] = {5, 5, 5, 4, 9, 9};
    right_members(members, place, &retrieval);
    members[2] = (struct member){
        "lengths", write_integers(place->folder, "lengths.npy", lengths, weft_shape_of(2 * ROWS))};
    members[3] = (struct member){NULL, NULL};
    char *uneven = write_archive(place->folder, "uneven.npz", members);
    line = weft_test_text("eval %s %s", of_pairs, uneven);
    expect_refused(4, line, uneven, "pair 1: expected sequences of one length, found 5 and 4",
                   NULL);
    line = weft_test_text("eval %s %s", of_tokens, place->folder);
    expect_refused(4, line, place->folder, "expected an .npz file", "causal_lm", NULL);
}

/* Small files with large contents: what is missing is said before anything is unpacked, and no more is unpacked than the file pays for. */
PLACE_TEST(archives_of_zeros_take_no_memory, place) {
    enum { MANY = 1 << 20 };
    char *model = write_tiny_model(place->folder, "masked", &masked);
    int32_t *zeros = calloc((size_t)MANY * LENGTH, sizeof *zeros);
    assert_non_null(zeros);
    char *array = write_integers(place->folder, "zeros.npy", zeros, weft_shape_of(MANY, LENGTH));
    free(zeros);
    const struct member tokens[] = {{"tokens", array}, {NULL, NULL}};
    char *data = write_archive(place->folder, "tokens.npz", tokens);
    expect_refused(4, weft_test_text("eval %s %s", model, data), data,
                   "expected a member labels.npy", NULL);
    const struct member both[] = {{"tokens", array}, {"labels", array}, {NULL, NULL}};
    data = write_archive(place->folder, "both.npz", both);
    expect_refused(4, weft_test_text("eval %s %s", model, data), data, "member tokens",
                   "at most 64 times the file's size and 64 MiB", NULL);
}
