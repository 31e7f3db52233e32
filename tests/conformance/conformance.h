/* SPDX-License-Identifier: MIT */
/*
 * The conformance cases behind `weft verify`: graphs of one op or a few, their inputs, and what
 * float64 arithmetic makes of them straight from the op's formula, never by a fast algorithm.
 *
 * A family is a file here and a row of WEFT_FAMILIES; adding an op or a mixer takes nothing else.
 * The files use the public headers, core/philox.h, core/hash.h and core/host.h, and never print.
 * All arrays are dense and row-major. One thread only.
 */
#ifndef WEFT_CONFORMANCE_CONFORMANCE_H
#define WEFT_CONFORMANCE_CONFORMANCE_H

#include <weft/graph.h>

#include "core/hash.h"
#include "core/host.h"

/* ---- cases ---- */

#define WEFT_CASE_PORTS   8  /* inputs of a case, and outputs */
#define WEFT_CASE_WEIGHTS 16 /* constants of a case */

/** Relative L2 errors that design.md, section 4, allows. */
#define WEFT_TOLERANCE_BITS        0.0 /* the very bits of the reference rounded to f32 */
#define WEFT_TOLERANCE_LINEAR      1e-6
#define WEFT_TOLERANCE_EXPONENTIAL 5e-6

/** What an array is filled with. All are multiples of a power of two times a 24-bit integer. */
typedef enum weft_values {
    WEFT_VALUES_UNIT = 0, /* uniform in [-1, 1) */
    WEFT_VALUES_TENS,     /* uniform in [-16, 16) */
    WEFT_VALUES_HUNDREDS, /* uniform in [-128, 128) */
    WEFT_VALUES_LARGE,    /* uniform in [-1, 1) times 2^40 */
    WEFT_VALUES_SMALL,    /* uniform in [-1, 1) times 2^-40 */
    WEFT_VALUES_MIXED,    /* uniform in [-1, 1) times 2^e, e uniform in -12 … 12 */
    WEFT_VALUES_ZEROS,    /* a third -0, a third +0, the rest uniform in [-1, 1) */
    WEFT_VALUES_EQUAL,    /* 1/2 everywhere */
    WEFT_VALUES_IMPULSE,  /* 1, then zeros */
    WEFT_VALUES_COUNT
} weft_values;

/** A constant name such as "mixed"; never null. */
const char *weft_values_name(weft_values values);

/** An input or a constant of a case. `value`, its elements in float64, lives with the case. */
typedef struct weft_array {
    weft_tensor tensor;
    const double *value;
} weft_array;

/** An input or an output. */
typedef struct weft_case_port {
    char name[16];
    weft_dtype dtype;
    weft_shape shape;
    uint64_t count;       /* elements, of four bytes each */
    void *data;           /* inputs: the elements as they are uploaded */
    double *value;        /* inputs: the elements; outputs: what is expected, NaN included */
    uint32_t column_step; /* outputs: of the last axis only every so many columns are expected */
} weft_case_port;

/**
 * One case while it is built and run. The first failure stays in `status`, after which the
 * functions below do nothing; families look at nothing but what weft_case_output returns.
 */
typedef struct weft_case {
    weft_host host;
    weft_status status;
    uint64_t seed;              /* of the arrays' values; each array has a stream of its own */
    double tolerance;           /* relative L2 per output */
    const char *implementation; /* as weft_plan_params */
    bool check_fusion;          /* also compare with the bits of a plan without fusion */
    weft_graph *graph;
    weft_case_port inputs[WEFT_CASE_PORTS];
    uint32_t input_count;
    weft_case_port outputs[WEFT_CASE_PORTS];
    uint32_t output_count;
    weft_weight *weights[WEFT_CASE_WEIGHTS];
    double *weight_values[WEFT_CASE_WEIGHTS];
    uint32_t weight_count;
} weft_case;

/** An f32 input of the graph. */
weft_array weft_case_input(weft_case *c, const char *name, weft_shape shape, weft_values values);

/** An i32 input of indices that are uniform in first … last, and both of these somewhere. */
weft_array weft_case_indices(weft_case *c, const char *name, weft_shape shape, int32_t first,
                             int32_t last);

/** An f32 constant of the graph. */
weft_array weft_case_weight(weft_case *c, weft_shape shape, weft_values values);

/** Keeps the first failure of a call that builds the graph. */
void weft_case_check(weft_case *c, weft_status status);

/**
 * Makes a tensor an output and returns the array for the values expected of it, zeroed; null after
 * a failure. When it is not null, every array of the case so far has its values.
 */
double *weft_case_output(weft_case *c, const char *name, weft_tensor tensor);

/** Zeroed memory for intermediate results of a reference; null after noting the failure. */
double *weft_case_scratch(weft_case *c, uint64_t count);
void weft_case_scratch_free(weft_case *c, double *scratch);

/* ---- families ---- */

#define WEFT_CASE_NAME_SIZE 96

typedef struct weft_family {
    const char *name;
    uint32_t count;
    double tolerance; /* which `build` may change */
    /** Writes what follows "family/" in a case's name. */
    void (*name_case)(char text[WEFT_CASE_NAME_SIZE], uint32_t index);
    /** Builds graph and reference on an empty case that has its seed and tolerance. */
    void (*build)(weft_case *c, uint32_t index);
} weft_family;

/** Every family, one row each. */
#define WEFT_FAMILIES(ROW) \
    ROW(embedding)         \
    ROW(matmul)            \
    ROW(layer_norm)        \
    ROW(activation)        \
    ROW(softmax)           \
    ROW(binary)            \
    ROW(affine)            \
    ROW(gather)            \
    ROW(reshape)           \
    ROW(fourier)           \
    ROW(attention)         \
    ROW(fused)             \
    ROW(structure)

#define WEFT_DECLARE_FAMILY(name) extern const weft_family weft_family_##name;
WEFT_FAMILIES(WEFT_DECLARE_FAMILY)
#undef WEFT_DECLARE_FAMILY

/** The family at `index` in the table, or null behind the last. */
const weft_family *weft_family_at(uint32_t index);

/** Writes a case's whole name, such as "matmul/bT/m=5,n=37,k=129,batch=3". Returns text. */
const char *weft_case_name(char text[WEFT_CASE_NAME_SIZE], const weft_family *family,
                           uint32_t index);

/** Builds a case; release it with weft_case_destroy also after a failure. host may be null. */
weft_status weft_case_create(weft_case *c, const weft_family *family, uint32_t index,
                             const weft_host *host);
void weft_case_destroy(weft_case *c);

/* ---- running ---- */

#define WEFT_REASON_SIZE 320

/** What running a case on a device came to. */
typedef struct weft_case_result {
    bool passed;
    char reason[WEFT_REASON_SIZE]; /* when not passed: what went wrong, and where first */
    bool has_error;                /* there are outputs to tell the error of */
    double rel_l2; /* the largest of the outputs'; NaN when one has an unexpected NaN */
    double tolerance;
    char digest[WEFT_DIGEST_TEXT_SIZE]; /* of `bits`; empty when there are none */
    uint8_t *bits;                      /* the outputs' elements, one output after another */
    size_t size;
    weft_host host;
} weft_case_result;

/**
 * Runs a case: outputs are filled with NaN before, and must come out equal twice; nothing but the
 * outputs' own bytes may change. A failing call is a failed case. Release it with
 * weft_case_result_free.
 */
void weft_case_run(weft_case_result *result, const weft_case *c, weft_device *device);
void weft_case_result_free(weft_case_result *result);

/**
 * Whether two results have the same bits; if not, writes which element differs first and both of
 * its values. `c` is the case of both.
 */
bool weft_case_same_bits(char text[WEFT_REASON_SIZE], const weft_case *c, const weft_case_result *a,
                         const weft_case_result *b);

/* ---- references, for the families that chain ops ---- */

/** out[m, n] = alpha Σ_k a b; a is [m, k] or, transposed, [k, m], and b likewise. */
typedef struct weft_reference_product {
    uint32_t m, n, k;
    bool transpose_a, transpose_b;
    double alpha;
} weft_reference_product;
void weft_reference_matmul(double *out, const double *a, const double *b,
                           weft_reference_product product);

/** Over the rows of x [rows, columns]; gamma and beta are [columns]. out may be x. */
void weft_reference_layer_norm(double *out, const double *x, const double *gamma,
                               const double *beta, uint32_t rows, uint32_t columns, double epsilon);

double weft_reference_activation(weft_activation activation, double x);

/** Over the rows of x [rows, columns]. out may be x. */
void weft_reference_softmax(double *out, const double *x, uint32_t rows, uint32_t columns);

/**
 * Re(F_seq(F_hidden(x))) of one sequence [n, d]. Only the columns 0, column_step, 2 column_step …
 * are made; the others of out stay as they are.
 */
void weft_reference_fourier(weft_case *c, double *out, const double *x, uint32_t n, uint32_t d,
                            uint32_t column_step);

/** The arrays of an embedding: those that are null are left out. Indices are [batch, n]. */
typedef struct weft_reference_tables {
    const double *tokens, *table, *types, *type_table, *positions;
    uint32_t batch, n, d;
    uint32_t vocabulary, type_count;
} weft_reference_tables;
void weft_reference_embedding(double *out, const weft_reference_tables *tables);

#endif
