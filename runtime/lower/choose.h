/* SPDX-License-Identifier: MIT */
/*
 * Choosing between ways to do the same work: implementations of an op, variants of a kernel. Reproducible mode stays
 * within the group of equal bits that the shapes name, fast mode does not; where several are left, the work is timed
 * with each, and the answer is remembered with the device and on disk for this driver and these shapes.
 */
#ifndef WEFT_LOWER_CHOOSE_H
#define WEFT_LOWER_CHOOSE_H

#include "core/hash.h"
#include "graph/op.h"
#include "lower/variant.h"

#define WEFT_HOPELESS_COST 2.0 /* times the least expected one: not even measured */

struct weft_candidate {
    const char *name;
    uint32_t bits;
    double cost;          /* expected, beside the others' */
    const char *left_out; /* why; null: it can be taken */
    double ms;            /* measured in this process; 0: not */
};

struct weft_choice {
    const char *work; /* for people: "matmul/product of matmul %3" */
    struct weft_candidate candidates[WEFT_MAX_VARIANTS];
    uint32_t count;
    uint32_t group; /* of bits, which reproducible mode keeps to */
    /** Adds what of the work makes one candidate faster than another. Asked where there are several; null: nothing does. */
    void (*identify)(weft_sha256 *identity, const void *user);
    /** Makes what the candidates that are left need to be measured, all at once, which threads may share; null: nothing. */
    weft_status (*prepare)(const struct weft_choice *choice);
    /** The time of the work done by a candidate. */
    weft_status (*measure)(double *ms, void *user, uint32_t candidate);
    void *user;
};

/** State that the choices of a plan share. */
struct weft_chooser {
    weft_device *device;
    const char *forced; /* the candidate to take wherever there is one of that name; or null */
    char *report; /* host memory: a paragraph for each choice between several; null: none yet */
    size_t used, capacity;
};

/**
 * The candidate to take, as an index, or choice->count where none can be. Errors: those of measuring;
 * WEFT_OUT_OF_HOST_MEMORY.
 */
weft_status weft_choose(uint32_t *chosen, struct weft_choice *choice, struct weft_chooser *chooser);

#endif
