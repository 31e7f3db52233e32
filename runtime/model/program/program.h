/* SPDX-License-Identifier: MIT */
/* Programs: graphs in model folders, whose shapes are functions of symbols. docs/programs.md has the format. */
#ifndef WEFT_MODEL_PROGRAM_H
#define WEFT_MODEL_PROGRAM_H

#include <weft/model.h>

#include "graph/op.h"
#include "model/files/source.h"
#include "model/program/expression.h"
#include "tokenizer/tokenizer.h"

#define WEFT_PROGRAM_FORMAT 1
/** Most elements of a constant that a program describes by "arange" or "full". */
#define WEFT_PROGRAM_MAX_CONSTANT (UINT64_C(1) << 24)
/** Most elements of all of them together: what memory a few lines of a config can ask for. */
#define WEFT_PROGRAM_MAX_CONSTANTS (UINT64_C(1) << 25)

/** Task in the config of a program that runs like other models. */
struct weft_program_task {
    weft_task task; /* WEFT_TASK_PROGRAM: it is not, and the rest is not set */
    uint32_t vocabulary;
    int32_t eos_token;
    weft_tokenizer_kind tokenizer;
    char *tokenizer_class; /* in host memory, or null */
    char **labels;         /* named_labels, or null */
    uint32_t named_labels;
};

struct weft_program {
    weft_host host;
    char *path;     /* of the config, for messages */
    json_t *config; /* names of this struct are borrowed from it */
    struct weft_checkpoint *checkpoint;
    struct weft_symbol_table symbols;
    weft_model_port_info *ports; /* inputs, then outputs */
    uint32_t port_count, input_count;
    weft_weight **weights; /* that nodes have named, each once */
    uint32_t weight_count, weight_capacity;
    struct weft_digest_map weight_index; /* by name */
    uint64_t parameters;                 /* elements of these weights */
    struct weft_program_task task;
};

/** The op of that name in graph/op_list.h, or null. */
const struct weft_op *weft_op_named(const char *name);

/** True if a config is one. */
bool weft_program_is_config(const json_t *config);

/**
 * Reads a program and builds it once, for the examples of its symbols; takes over a reference to `config`. Errors: WEFT_BAD_FILE,
 * WEFT_UNSUPPORTED, naming file, field, expected and found; those of the ops.
 */
weft_status weft_program_load(struct weft_program **program, json_t *config,
                              const struct weft_model_source *source, const weft_host *host);
void weft_program_destroy(struct weft_program **program);

/**
 * Adds the program to a graph, for one value of each symbol. With `given` its inputs are these tensors (weft_program_given_input),
 * and *out is its first output; otherwise inputs and outputs are the graph's.
 */
weft_status weft_program_build(weft_tensor *out, weft_graph *graph, struct weft_program *program,
                               const int64_t *values, const weft_model_inputs *given);

/** WEFT_INVALID_ARGUMENT, with a message, unless the value is in the symbol's range. */
weft_status weft_program_check_symbol(const struct weft_program *program, uint32_t symbol,
                                      int64_t value);

/* ---- programs with a task ---- */

/** The fields of the config about it. */
weft_status weft_program_read_task(struct weft_program *program);
/**
 * Checks that ports and symbols fit the task, when there are ports, and that the output has the task's shape at other
 * sizes than the examples'.
 */
weft_status weft_program_check_task(struct weft_program *program);

/** Describes the model; without a task only names and parameters. */
void weft_program_describe(const struct weft_program *program, weft_model_info *info);
bool weft_program_takes_types(const struct weft_program *program);

/** One of the model's inputs; token types that are none are zeros, and lengths the whole length. */
weft_status weft_program_given_input(weft_tensor *out, weft_graph *graph,
                                     const weft_model_inputs *given, const char *name,
                                     weft_shape shape);

/** weft_model_build: inputs have been checked. The output has the task's shape at these sizes, or it is WEFT_BAD_FILE. */
weft_status weft_program_build_task(weft_tensor *out, weft_graph *graph,
                                    struct weft_program *program, const weft_model_inputs *inputs);

/* ---- what reads the parts of a config ---- */

/** Place of a value in the config, for messages. */
struct weft_program_place {
    const struct weft_program *program;
    const int64_t *values; /* of the symbols */
    const char *list;      /* "nodes", "inputs" or "outputs" */
    uint32_t index;
    const json_t *object; /* the entry of that list */
    uint64_t *constants;  /* elements that constants may still have */
};

/** Logs `path: field "nodes[3].shape[1]": expected …, found …` and gives WEFT_BAD_FILE; element UINT32_MAX: of the whole field. */
weft_status weft_program_fail(const struct weft_program_place *place, const char *field,
                              uint32_t element, const char *expected, const json_t *found);

/** A string field that must be there. */
weft_status weft_program_string(const char **text, const struct weft_program_place *place,
                                const char *field);

/** Refuses keys of an entry that are neither in `known`, which null ends, nor fields of an op, which may be null. */
weft_status weft_program_check_keys(const struct weft_program_place *place,
                                    const char *const *known, const struct weft_op *op);

/** A number or an expression between minimum and maximum. */
weft_status weft_program_integer(int64_t *value, const struct weft_program_place *place,
                                 const char *field, uint32_t element, const json_t *json,
                                 int64_t minimum, int64_t maximum);

/** A number, "inf", "-inf", "nan" or an expression. */
weft_status weft_program_real(float *value, const struct weft_program_place *place,
                              const char *field, uint32_t element, const json_t *json);

/** A word's number, of `count` words of which some may be null. */
weft_status weft_program_word(uint32_t *value, const struct weft_program_place *place,
                              const char *field, const json_t *json, const char *const *words,
                              uint32_t count);

/** The field "shape". */
weft_status weft_program_shape(weft_shape *shape, const struct weft_program_place *place);

/** A node's parameters, zeros before, by the fields of its op. */
weft_status weft_program_params(void *params, const struct weft_program_place *place,
                                const struct weft_op *op);

/** The constants "arange" and "full". */
bool weft_program_is_constant(const char *op);
weft_status weft_program_add_constant(weft_tensor *out, weft_graph *graph,
                                      const struct weft_program_place *place, const char *op,
                                      const char *name);

#endif
