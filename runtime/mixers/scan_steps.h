/* SPDX-License-Identifier: MIT */
/*
 * The host half of scans: ops that go through the tokens of each sequence with a state that every token changes (gated_state,
 * selective_scan), and of their steps. An op has its kernel, its sizes and what a token costs; here is how long sequences become
 * several dispatches, and where their states come from and go to. shaders/gated_state and shaders/selective_scan read the same
 * numbers.
 */
#ifndef WEFT_MIXERS_SCAN_STEPS_H
#define WEFT_MIXERS_SCAN_STEPS_H

#include "lower/lowering.h"

/** Strands of a sum over a state: row i belongs to i % 8. */
#define WEFT_SCAN_STRANDS 8

/** Where the state in front of a dispatch's first token comes from: `starts` of its kernel. */
enum weft_scan_start {
    WEFT_SCAN_FROM_ZEROS,
    WEFT_SCAN_FROM_STATE,
    WEFT_SCAN_FROM_STATE_BEHIND_FIRST /* zeros in front of token 0 */
};

/** Where the state behind its last token goes to: `ends`. */
enum weft_scan_end { WEFT_SCAN_NOWHERE, WEFT_SCAN_IN_STATE, WEFT_SCAN_BEHIND_RESULT };

/** What is counted: `counts`. */
enum weft_scan_counts { WEFT_SCAN_ALL, WEFT_SCAN_LENGTHS, WEFT_SCAN_POSITIONS };

struct weft_scan_sizes {
    uint32_t batch, n;
    uint32_t width;     /* of a token's results */
    uint32_t state;     /* elements of a sequence */
    uint32_t with_last; /* the states are behind the results of each sequence */
};

/**
 * The type and shape of results, perhaps with states, which have so many elements for each sequence: sizes of more than 32 bits are
 * told by that. Errors: WEFT_UNSUPPORTED for more than 32-bit indices reach.
 */
weft_status weft_scan_infer(weft_dtype *dtype, weft_shape *shape, const weft_graph *graph,
                            const struct weft_node *node, const struct weft_scan_sizes *sizes,
                            double elements);

/** Fails with WEFT_INVALID_ARGUMENT where a step of that name is given a state: it has its own. */
weft_status weft_scan_check_step(const weft_graph *graph, const char *op, weft_tensor state);

/** Registers for the rows of a strand, a power of two from `least` on: there is a kernel for each. */
uint32_t weft_scan_slots(uint32_t rows, uint32_t least);

/** Elements from one sequence's results to the next one's. */
uint32_t weft_scan_stride(const struct weft_scan_sizes *sizes);

/** A workgroup for some columns of each sequence: those that the variant says, else `usual`. */
struct weft_grid weft_scan_grid(const struct weft_variant *variant, uint32_t sequences,
                                uint32_t columns, uint32_t usual);

/** Lengths of an op, or positions of a step, and what they are; where none are given, other storage, so that kernels need no variant. */
struct weft_scan_counted {
    uint32_t storage;
    enum weft_scan_counts counts;
};

struct weft_scan_counted weft_scan_lower_lengths(struct weft_lowering *lowering,
                                                 const struct weft_node *node, uint32_t input,
                                                 uint32_t otherwise);
struct weft_scan_counted weft_scan_lower_positions(struct weft_lowering *lowering,
                                                   const struct weft_node *node);

/** The tokens of one dispatch. */
struct weft_scan_piece {
    uint32_t first, count;
    enum weft_scan_start starts;
    enum weft_scan_end ends;
};

struct weft_scan {
    struct weft_scan_sizes sizes;
    double largest;      /* elements of the largest operand */
    uint32_t operations; /* of a workgroup for a token: weft_cut_sequence */
    double turns;        /* of an invocation's loops for a token, at most */
    uint32_t *state;     /* where the arguments bind it; the result, unless it is set here */
    void (*lower_piece)(struct weft_lowering *lowering, const struct weft_scan_piece *piece,
                        void *steps);
    void *steps;
};

/** Lowers all tokens, from that state on; value 0: from zeros. */
weft_status weft_scan_lower(struct weft_lowering *lowering, struct weft_scan *scan, uint32_t state);

/** Lowers the tokens of a step, which keeps its state there. */
weft_status weft_scan_lower_step(struct weft_lowering *lowering, struct weft_scan *scan,
                                 uint32_t state);

#endif
