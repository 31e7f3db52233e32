/* SPDX-License-Identifier: MIT */
/*
 * The conformance cases behind `weft verify`: graphs of one op or a few, their inputs, and what
 * the definitions of reference/ make of them in float64.
 *
 * A family is a file here and a row of lists.h; an op has besides its definition in reference/, and in paired.h the
 * function that adds it to a graph together with what it makes, a mixer a sheet (sheet.h). `weft bench` makes its graphs
 * by the same functions. The files use the public headers, core/math/philox.h, core/hash.h and core/host.h, and never print.
 * All arrays are dense and row-major. One thread only.
 */
#ifndef WEFT_CONFORMANCE_CONFORMANCE_H
#define WEFT_CONFORMANCE_CONFORMANCE_H

#include <weft/graph.h>

#include "core/hash.h"
#include "core/host.h"
#include "verify/lists.h"
#include "verify/reference/reference.h"

/* ---- cases ---- */

#define WEFT_CASE_PORTS 8 /* inputs of a case, and outputs */

/** Relative L2 errors that docs/reproducibility.md allows ("Accuracy"). */
#define WEFT_TOLERANCE_BITS        0.0 /* the very bits of the reference rounded to f32 */
#define WEFT_TOLERANCE_LINEAR      1e-6
#define WEFT_TOLERANCE_EXPONENTIAL 5e-6
#define WEFT_TOLERANCE_HALF        1e-3 /* of plans with weights stored as f16: fast mode only */
#define WEFT_TOLERANCE_BYTES       5e-2 /* of plans whose weights the device has made bytes of */

/**
 * Contents of an array. Those before WEFT_VALUES_SUBNORMAL are zeros and numbers far inside the range of float32; the
 * others are near its ends.
 */
typedef enum weft_values {
    WEFT_VALUES_UNIT = 0,   /* uniform in [-1, 1) */
    WEFT_VALUES_TENS,       /* uniform in [-16, 16) */
    WEFT_VALUES_HUNDREDS,   /* uniform in [-128, 128) */
    WEFT_VALUES_LARGE,      /* uniform in [-1, 1) times 2^40 */
    WEFT_VALUES_SMALL,      /* uniform in [-1, 1) times 2^-40 */
    WEFT_VALUES_MIXED,      /* uniform in [-1, 1) times 2^e, e uniform in -12 … 12 */
    WEFT_VALUES_ZEROS,      /* a third -0, a third +0, the rest uniform in [-1, 1) */
    WEFT_VALUES_EQUAL,      /* 1/2 everywhere */
    WEFT_VALUES_IMPULSE,    /* 1, then zeros */
    WEFT_VALUES_SUBNORMAL,  /* a third subnormals of all sizes, the rest uniform in [-1, 1) */
    WEFT_VALUES_TINY,       /* ±1 … 2 times 2^e, e uniform in -126 … -40 */
    WEFT_VALUES_HUGE,       /* ±1 … 2 times 2^e, e uniform in 120 … 127 */
    WEFT_VALUES_INFINITE,   /* one in 16 ±infinity, the rest uniform in [-1, 1) */
    WEFT_VALUES_MASKED,     /* a third -infinity, the rest uniform in [-1, 1) */
    WEFT_VALUES_NAN,        /* one in 16 a NaN of any sign and payload, also signalling */
    WEFT_VALUES_EDGES,      /* WEFT_EDGE_COUNT words over and over: the table in values.c */
    WEFT_VALUES_EDGES_HELD, /* the same, each WEFT_EDGE_COUNT times in a row */
    WEFT_VALUES_COUNT
} weft_values;

/** Two arrays of WEFT_EDGE_COUNT² elements, EDGES and EDGES_HELD, have every pair of edges. */
#define WEFT_EDGE_COUNT 72

/** A constant name such as "mixed"; never null. */
const char *weft_values_name(weft_values values);

/** Fills data[count]. Streams above 2^32 are taken for the random choices within the others. */
void weft_values_fill(float *data, uint64_t count, weft_values values, uint64_t seed,
                      uint64_t stream);

/** Reads float32 data as reproducible math does: a subnormal is the zero of its sign. */
void weft_values_read(double *value, const void *data, uint64_t count);

/** A whole number below `limit`, nearly uniform. */
uint32_t weft_values_below(uint64_t seed, uint64_t stream, uint64_t index, uint32_t limit);

/** The length of the last axis, and how many rows of that length a shape has. */
uint32_t weft_case_columns(weft_shape shape);
uint32_t weft_case_rows(weft_shape shape);

struct weft_reference_features;

/** A tensor of a case's graph and its elements, which last until the case is made. */
typedef struct weft_array {
    weft_tensor tensor;
    weft_shape shape;
    const double *value; /* of inputs and constants as weft_values_read has them */
    const void *data;    /* inputs and constants: the very elements, as they are uploaded */
    /** In place of `value`, of features in a case with `rows`: their map for each sequence. */
    const struct weft_reference_features *features;
} weft_array;

/** An input or an output. */
typedef struct weft_case_port {
    char name[16];
    weft_dtype dtype;
    weft_shape shape;
    uint64_t count;  /* elements, of four bytes each */
    void *data;      /* inputs: the elements as they are uploaded */
    bool is_state;   /* an input that a run may change */
    double *value;   /* inputs: the elements; outputs: what is expected, NaN included */
    double *allowed; /* outputs, or null: see weft_case_allowed */
    uint32_t *words; /* outputs, or null: see weft_case_expect_words */
} weft_case_port;

/**
 * One case while it is built and run. The first failure stays in `ref.status`, after which the
 * functions below do nothing; families look at nothing but what weft_case_output returns.
 */
typedef struct weft_case {
    weft_reference ref;         /* memory of arrays and references */
    uint64_t seed;              /* of the arrays' values; each array has a stream of its own */
    double tolerance;           /* relative L2 per output */
    const char *implementation; /* as weft_plan_params */
    bool check_fusion;          /* also compare with the bits of a plan without fusion */
    bool only_reproducible;     /* fast math promises nothing for these inputs */
    bool has_bytes;             /* its weights are bytes: what is expected knows them */
    uint32_t invocations;       /* that a workgroup must be able to have; 0: any device is fine */
    weft_graph *graph;
    weft_case_port inputs[WEFT_CASE_PORTS];
    uint32_t input_count;
    weft_case_port outputs[WEFT_CASE_PORTS];
    uint32_t output_count;
    uint32_t weight_count;           /* of weft_case_weight */
    struct weft_case_arrays *arrays; /* all that the case has */
    bool only_values;                /* see paired.h */
    bool only_ops;                   /* likewise */

    /* Of `weft bench`: */
    bool only_graph; /* no elements at all */
    weft_rows rows;  /* the last op is made for these tokens; none: for all */
    /** Source of the elements of inputs, with their shape; null: from `seed`. */
    const double *(*read)(void *user, const char *name, weft_shape *shape);
    void *user;
    weft_array expected; /* the output, without a port */
} weft_case;

/** An f32 input of the graph. */
weft_array weft_case_input(weft_case *c, const char *name, weft_shape shape, weft_values values);

/** An i32 input of indices that are uniform in first … last, and both of these somewhere. */
weft_array weft_case_indices(weft_case *c, const char *name, weft_shape shape, int32_t first,
                             int32_t last);

/** The state of steps that the graph has or will have, of NaN at first. The shape is the state's, f32. */
void weft_case_state(weft_case *c, const char *name, weft_shape shape);

/** An f32 constant of the graph. */
weft_array weft_case_weight(weft_case *c, weft_shape shape, weft_values values);

/** Makes a weight with given elements, which are copied. */
weft_array weft_case_weight_of(weft_case *c, weft_shape shape, const float *data);

/**
 * An f32 constant of WEFT_VALUES_UNIT times `scale`, rounded to a type of 16 bits; the graph has them so or, `widened`, in 32.
 */
weft_array weft_case_weight_rounded(weft_case *c, weft_shape shape, float scale, weft_stored type,
                                    bool widened);

/** One of WEFT_VALUES_UNIT; where it is not `present`, an empty array. */
weft_array weft_case_optional_weight(weft_case *c, bool present, weft_shape shape);

/** An i32 constant, which has no `value`. */
weft_tensor weft_case_indices_of(weft_case *c, weft_shape shape, const int32_t *data);

/** The result of adding an op to the graph; with `only_values` nothing is added. */
#define WEFT_CASE_ADD(c, call) \
    ((c)->only_values || (c)->ref.status != WEFT_OK ? (c)->ref.status : (call))

/**
 * Result of an op: keeps the status of adding it, and gives `tensor` with its shape and zeroed elements, `out`,
 * unless the case has only a graph. With by_row these are of c->rows alone, if it has any.
 */
weft_array weft_case_made(weft_case *c, weft_status status, weft_tensor tensor, weft_shape shape,
                          bool by_row, double **out);

/** The elements of `values`, made with `only_values`, as those of what a call added to the graph. */
weft_array weft_case_named(weft_case *c, weft_status status, weft_tensor tensor, weft_array values);

/** The input, constant or result with this tensor; an empty one for none. */
weft_array weft_case_find(const weft_case *c, weft_tensor tensor);

/** Makes an array an output, of which its elements are expected; with `only_ops` the output alone. */
void weft_case_expect(weft_case *c, const char *name, weft_array array);

/** Keeps the first failure of a call that builds the graph. */
void weft_case_check(weft_case *c, weft_status status);

/**
 * Makes a tensor an output and returns the array for the values expected of it, zeroed; null after
 * a failure. When it is not null, every array of the case so far has its values.
 */
double *weft_case_output(weft_case *c, const char *name, weft_tensor tensor);

/**
 * The newest output's array, zeroed, of the error that each element may have, beside the relative
 * L2 error of all; null after a failure. 0: the bits of the expected value rounded to float32, and
 * the sign of a zero; infinity: the formula leaves open what float32 makes of it, as when a partial
 * sum overflows. An element that is expected to be NaN or infinite has to be in any case.
 */
double *weft_case_allowed(weft_case *c);

/** Expects the newest output, a copy, to be these very words: also NaN and subnormals unchanged. */
void weft_case_expect_words(weft_case *c, const void *words);

/** Zeroed memory until the case is made; null after noting the failure. */
double *weft_case_scratch(weft_case *c, uint64_t count);

/* ---- families ---- */

#define WEFT_CASE_NAME_SIZE 128

typedef struct weft_case_family {
    const char *name;
    uint32_t count;
    double tolerance; /* which `build` may change */
    bool is_special;  /* its cases have only_reproducible and only_ops */
    /** Writes what follows "family/" in a case's name. */
    void (*name_case)(char text[WEFT_CASE_NAME_SIZE], uint32_t index);
    /** Builds graph and reference on an empty case that has its seed and tolerance. */
    void (*build)(weft_case *c, uint32_t index);
} weft_case_family;

/** A part of a case's name, printed as by printf, that is there only if `present`; otherwise "". */
#define WEFT_CASE_PART(present, ...) \
    ((present) ? weft_case_part((char[WEFT_CASE_PART_SIZE]){0}, __VA_ARGS__) : "")

#define WEFT_CASE_PART_SIZE 32

/** Returns text. */
const char *weft_case_part(char text[WEFT_CASE_PART_SIZE], const char *format, ...)
    WEFT_PRINTF(2, 3);

#define WEFT_COUNT(array) ((uint32_t)(sizeof(array) / sizeof(array)[0]))

/** Defines a family: its cases, their tolerance, and the functions that name and build them. */
#define WEFT_CASE_FAMILY(label, cases, bound, name_it, build_it)               \
    const weft_case_family weft_case_family_##label = {.name = #label,         \
                                                       .count = (cases),       \
                                                       .tolerance = (bound),   \
                                                       .name_case = (name_it), \
                                                       .build = (build_it)}

/** Family of inputs at the ends of float32's range: special/…, in reproducible mode alone. */
#define WEFT_SPECIAL_FAMILY(label, cases, bound, name_it, build_it)                       \
    const weft_case_family weft_case_family_special_##label = {.name = "special/" #label, \
                                                               .count = (cases),          \
                                                               .tolerance = (bound),      \
                                                               .is_special = true,        \
                                                               .name_case = (name_it),    \
                                                               .build = (build_it)}

/** Functions of a family of a table: they take a row of it in place of its index. */
#define WEFT_ROW_FUNCTIONS(label, rows, name_row, build_row)                      \
    static void name_##label##_at(char text[WEFT_CASE_NAME_SIZE], uint32_t row) { \
        name_row(text, &(rows)[row]);                                             \
    }                                                                             \
    static void build_##label##_at(weft_case *c, uint32_t row) {                  \
        build_row(c, &(rows)[row]);                                               \
    }

/** Defines the family of a table: a case for each row, which name_row and build_row take. */
#define WEFT_CASE_TABLE(label, rows, bound, name_row, build_row) \
    WEFT_ROW_FUNCTIONS(label, rows, name_row, build_row)         \
    WEFT_CASE_FAMILY(label, WEFT_COUNT(rows), bound, name_##label##_at, build_##label##_at)

#define WEFT_SPECIAL_TABLE(label, rows, bound, name_row, build_row)                \
    WEFT_ROW_FUNCTIONS(special_##label, rows, name_row, build_row)                 \
    WEFT_SPECIAL_FAMILY(label, WEFT_COUNT(rows), bound, name_special_##label##_at, \
                        build_special_##label##_at)

#define WEFT_DECLARE_FAMILY(name) extern const weft_case_family weft_case_family_##name;
WEFT_FAMILIES(WEFT_DECLARE_FAMILY)
#undef WEFT_DECLARE_FAMILY

/** The family at `index` in the table, or null behind the last. */
const weft_case_family *weft_case_family_at(uint32_t index);

/** Writes a case's whole name, such as "matmul/bT/m=5,n=37,k=129,batch=3". Returns text. */
const char *weft_case_name(char text[WEFT_CASE_NAME_SIZE], const weft_case_family *family,
                           uint32_t index);

/** Builds a case; release it with weft_case_destroy also after a failure. host may be null. */
weft_status weft_case_create(weft_case *c, const weft_case_family *family, uint32_t index,
                             const weft_host *host);
void weft_case_destroy(weft_case *c);

/* ---- running ---- */

#define WEFT_REASON_SIZE 320

/** Tells if weft_case_evaluate compared a case with its evaluation on the host. */
typedef enum weft_evaluation {
    WEFT_NOT_EVALUATED = 0, /* not asked for, or the case did not run */
    WEFT_EVALUATED,         /* compared, or the evaluation failed: the result says so */
    WEFT_EVALUATION_SKIPPED /* it takes more steps than the limit */
} weft_evaluation;

/** Result of running a case on a device. */
typedef struct weft_case_result {
    bool passed;
    bool skipped; /* not run at all, for `reason`: the case is not for this device or math */
    char reason[WEFT_REASON_SIZE]; /* when not passed: what went wrong, and where first */
    bool has_error;                /* there are outputs to tell the error of */
    double rel_l2; /* the largest of the outputs'; NaN when one has an unexpected NaN */
    double tolerance;
    char digest[WEFT_DIGEST_TEXT_SIZE]; /* of `bits`; empty when there are none */
    uint8_t *bits;                      /* the outputs' elements, one output after another */
    size_t size;
    weft_evaluation evaluation;
    uint64_t evaluation_steps; /* instructions times invocations, also of a skipped evaluation */
    weft_host host;
} weft_case_result;

/**
 * Runs a case: outputs are filled with NaN before, and must come out equal twice; nothing but the
 * outputs' own bytes may change. In reproducible mode every output but a copy must be canonical:
 * no subnormal, no NaN but 0x7fc00000. A failing call is a failed case. Release it with
 * weft_case_result_free.
 */
void weft_case_run(weft_case_result *result, const weft_case *c, weft_device *device);
void weft_case_result_free(weft_case_result *result);

/**
 * True if two results have the same bits; if not, writes which element differs first and both of
 * its values. `c` is the case of both.
 */
bool weft_case_same_bits(char text[WEFT_REASON_SIZE], const weft_case *c, const weft_case_result *a,
                         const weft_case_result *b);

#define WEFT_ELEMENT_NAME_SIZE 80

/** The first element in which two sets of outputs differ. */
typedef struct weft_case_difference {
    char element[WEFT_ELEMENT_NAME_SIZE]; /* such as "y[1, 0, 4]" */
    uint32_t word[2];
    double number[2];
} weft_case_difference;

/** True if there is such an element; a and b are as weft_case_result.bits. */
bool weft_case_find_difference(weft_case_difference *difference, const weft_case *c,
                               const uint8_t *a, const uint8_t *b);

struct weft_evaluator;

/**
 * Evaluates the plan of a case that was run on a reproducible device, by what its shaders mean
 * (evaluator/evaluator.h), and compares the bits: another result, or an error such as an access out
 * of bounds, is a failed case. A failure that `result` has already stays its reason. step_limit 0:
 * none.
 */
void weft_case_evaluate(weft_case_result *result, const weft_case *c, weft_device *device,
                        struct weft_evaluator *evaluator, uint64_t step_limit);

#endif
