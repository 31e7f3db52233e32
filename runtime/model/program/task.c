/* SPDX-License-Identifier: MIT */
/* Programs with a task: of tokens [batch, length], which are run as other models are. */
#include <string.h>

#include "core/text.h"
#include "core/try.h"
#include "graph/graph.h"
#include "model/network/common_fields.h"
#include "model/program/program.h"

static weft_json_fields fields_of(const struct weft_program *program) {
    return (weft_json_fields){
        .object = program->config, .path = program->path, .host = &program->host};
}

static const weft_model_port_info *find_input(const struct weft_program *program,
                                              const char *name) {
    for (uint32_t i = 0; i < program->input_count; i++) {
        if (strcmp(program->ports[i].name, name) == 0) {
            return &program->ports[i];
        }
    }
    return NULL;
}

/* ---- config.json ---- */

static weft_status read_task(struct weft_program *program, const json_t *word) {
    const weft_json_fields fields = fields_of(program);
    const char *text = json_string_value(word);
    for (int task = WEFT_TASK_HIDDEN; text && task < WEFT_TASK_PROGRAM; task++) {
        if (task != WEFT_TASK_RETRIEVE && strcmp(weft_task_name((weft_task)task), text) == 0) {
            program->task.task = (weft_task)task;
            return WEFT_OK;
        }
    }
    return weft_json_fail(&fields, WEFT_BAD_FILE, "task",
                          "hidden, classify, masked_lm, next_sentence, causal_lm, regress or "
                          "classify_tokens",
                          word);
}

/** Fields that only a program with a task may have. */
static weft_status refuse_fields(const struct weft_program *program) {
    static const char *const names[] = {"vocab_size", "id2label", "tokenizer_class",
                                        "eos_token_id"};
    const weft_json_fields fields = fields_of(program);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const json_t *found = json_object_get(program->config, names[i]);
        if (found) {
            return weft_json_fail(&fields, WEFT_BAD_FILE, names[i],
                                  "no such field without a \"task\"", found);
        }
    }
    return WEFT_OK;
}

weft_status weft_program_read_task(struct weft_program *program) {
    const weft_json_fields fields = fields_of(program);
    const json_t *word = json_object_get(program->config, "task");
    struct weft_program_task *task = &program->task;
    int64_t vocabulary = 0;
    int64_t eos = -1;
    task->task = WEFT_TASK_PROGRAM;
    if (!word) {
        return refuse_fields(program);
    }
    WEFT_TRY(read_task(program, word));
    WEFT_TRY(weft_json_integer(&vocabulary, &fields, "vocab_size", 1, INT32_MAX));
    WEFT_TRY(weft_json_optional_integer(&eos, &fields, "eos_token_id", -1, vocabulary - 1));
    WEFT_TRY(weft_read_tokenizer_class(&task->tokenizer, &task->tokenizer_class, &fields));
    task->vocabulary = (uint32_t)vocabulary;
    task->eos_token = (int32_t)eos;
    return weft_json_has(&fields, "id2label")
               ? weft_read_labels(&task->labels, &task->named_labels, 0, &fields)
               : WEFT_OK;
}

/* ---- ports ---- */

static bool has_axes(const weft_model_port_info *port, weft_dtype dtype, uint32_t rank) {
    static const char *const axes[] = {"batch", "length"};
    bool fits = port->dtype == dtype && port->example.rank == rank;
    for (uint32_t i = 0; i < rank && fits; i++) {
        fits = strcmp(port->axes[i], axes[i]) == 0;
    }
    return fits;
}

static bool inputs_fit(const struct weft_program *program) {
    const weft_model_port_info *tokens = find_input(program, "tokens");
    const weft_model_port_info *types = find_input(program, "token_types");
    const weft_model_port_info *lengths = find_input(program, "lengths");
    const uint32_t known = 1U + (types ? 1 : 0) + (lengths ? 1 : 0);
    return tokens && has_axes(tokens, WEFT_I32, 2) && (!types || has_axes(types, WEFT_I32, 2)) &&
           (!lengths || has_axes(lengths, WEFT_I32, 1)) && program->input_count == known &&
           program->symbols.count == 2;
}

/** True if each token has a row of the output, and not each sequence. */
static bool is_by_token(weft_task task) {
    return task == WEFT_TASK_HIDDEN || task == WEFT_TASK_MASKED_LM || task == WEFT_TASK_CAUSAL_LM ||
           task == WEFT_TASK_CLASSIFY_TOKENS;
}

static bool output_fits(const struct weft_program *program) {
    const struct weft_program_task *task = &program->task;
    const weft_model_port_info *output = &program->ports[program->input_count];
    const weft_shape tokens = find_input(program, "tokens")->example;
    const uint32_t rank = is_by_token(task->task) ? 3 : 2;
    const uint32_t columns = output->example.dim[rank - 1];
    const bool is_language = task->task == WEFT_TASK_MASKED_LM || task->task == WEFT_TASK_CAUSAL_LM;
    return program->port_count == program->input_count + 1 && output->dtype == WEFT_F32 &&
           output->example.rank == rank && output->example.dim[0] == tokens.dim[0] &&
           (rank == 2 || output->example.dim[1] == tokens.dim[1]) &&
           (!is_language || columns == task->vocabulary) &&
           (!task->labels || columns == task->named_labels) &&
           (task->task != WEFT_TASK_NEXT_SENTENCE || columns == 2);
}

/* ---- the output at other sizes ---- */

/** The output's shape as a node's field has it, such as [batch, length * 4]; null where that node has none. To be freed. */
static char *shape_field(const struct weft_program *program) {
    const json_t *output = json_array_get(json_object_get(program->config, "outputs"), 0);
    const json_t *nodes = json_object_get(program->config, "nodes");
    for (size_t i = 0; i < json_array_size(nodes); i++) {
        const json_t *node = json_array_get(nodes, i);
        const json_t *axes = json_object_get(node, "shape");
        if (!json_is_array(axes) ||
            !json_equal(json_object_get(node, "output"), json_object_get(output, "value"))) {
            continue;
        }
        struct weft_text text = {.host = program->host};
        for (size_t axis = 0; axis < json_array_size(axes); axis++) {
            const json_t *size = json_array_get(axes, axis);
            const char *comma = axis ? ", " : "";
            if (json_is_string(size)) {
                weft_text_add(&text, "%s%.200s", comma, json_string_value(size));
            } else {
                weft_text_add(&text, "%s%lld", comma, (long long)json_integer_value(size));
            }
        }
        return weft_text_take(&text);
    }
    return NULL;
}

/** The example's columns with these sizes: what the output must be for every value of the symbols. */
static weft_shape wanted_shape(const struct weft_program *program, uint32_t batch,
                               uint32_t length) {
    weft_shape shape = program->ports[program->input_count].example;
    shape.dim[0] = batch;
    if (shape.rank == 3) {
        shape.dim[1] = length;
    }
    return shape;
}

static weft_status check_output(const struct weft_program *program, weft_shape found,
                                uint32_t batch, uint32_t length) {
    const weft_shape expected = wanted_shape(program, batch, length);
    if (weft_shape_equal(found, expected)) {
        return WEFT_OK;
    }
    char text[2][WEFT_SHAPE_TEXT_SIZE];
    char *field = shape_field(program);
    const weft_status status = weft_fail(
        &program->host, WEFT_BAD_FILE,
        "%s: output%s%s%s: expected %s at batch %u and length %u, as the task %s asks, found %s",
        program->path, field ? " [" : "", field ? field : "", field ? "]" : "",
        weft_shape_text(expected, text[0]), batch, length, weft_task_name(program->task.task),
        weft_shape_text(found, text[1]));
    weft_free(&program->host, field);
    return status;
}

/** Other sizes, which tell an output of the wrong shape; a program may have to refuse some of them. */
static void choose_sizes(int64_t values[WEFT_MAX_SYMBOLS], const struct weft_program *program,
                         uint32_t choice) {
    for (uint32_t i = 0; i < program->symbols.count; i++) {
        const struct weft_symbol_row *row = &program->symbols.rows[i];
        const int64_t larger = row->example + (int64_t)choice * (3 + 2 * (int64_t)i);
        values[i] = choice == 0 ? row->minimum : larger > row->maximum ? row->maximum : larger;
    }
}

/**
 * Builds the program at other sizes than its examples', in silence. Every later build is checked as well
 * (weft_program_build_task): this only says so sooner.
 */
static weft_status try_sizes(struct weft_program *program) {
    const weft_host host = program->host;
    const uint32_t batch = weft_symbol_find(&program->symbols, "batch", strlen("batch"));
    const uint32_t length = weft_symbol_find(&program->symbols, "length", strlen("length"));
    for (uint32_t choice = 0; choice < 3; choice++) {
        int64_t values[WEFT_MAX_SYMBOLS] = {0};
        weft_graph *graph = NULL;
        choose_sizes(values, program, choice);
        program->host.log = NULL;
        weft_status status = weft_graph_create(&graph, &program->host);
        if (status == WEFT_OK) {
            status = weft_program_build(NULL, graph, program, values, NULL);
        }
        program->host = host;
        const bool built = status == WEFT_OK;
        const weft_shape found =
            built ? graph->values[graph->results[0].value].shape : (weft_shape){0};
        weft_graph_destroy(&graph);
        if (built) {
            WEFT_TRY(
                check_output(program, found, (uint32_t)values[batch], (uint32_t)values[length]));
        }
    }
    return WEFT_OK;
}

weft_status weft_program_check_task(struct weft_program *program) {
    const weft_json_fields fields = fields_of(program);
    const json_t *word = json_object_get(program->config, "task");
    if (program->task.task == WEFT_TASK_PROGRAM) {
        return WEFT_OK;
    }
    if (!inputs_fit(program)) {
        return weft_json_fail(&fields, WEFT_BAD_FILE, "task",
                              "the symbols batch and length, the input tokens i32 [batch, length] "
                              "and at most token_types i32 [batch, length] and lengths i32 [batch]",
                              word);
    }
    if (!output_fits(program)) {
        return weft_json_fail(&fields, WEFT_BAD_FILE, "task",
                              "one output, f32 of the task's shape, with a column for each "
                              "label or token of the vocabulary",
                              word);
    }
    return try_sizes(program);
}

/* ---- as a model ---- */

void weft_program_describe(const struct weft_program *program, weft_model_info *info) {
    const struct weft_program_task *task = &program->task;
    *info = (weft_model_info){.architecture = "program",
                              .mixing = "program",
                              .task = task->task,
                              .eos_token = -1,
                              .parameters = program->parameters};
    if (task->task == WEFT_TASK_PROGRAM) {
        return;
    }
    const weft_shape output = program->ports[program->input_count].example;
    const uint32_t columns = output.dim[output.rank - 1];
    const uint32_t length = weft_symbol_find(&program->symbols, "length", strlen("length"));
    const bool has_labels = task->task == WEFT_TASK_CLASSIFY || task->task == WEFT_TASK_REGRESS ||
                            task->task == WEFT_TASK_NEXT_SENTENCE ||
                            task->task == WEFT_TASK_CLASSIFY_TOKENS;
    info->hidden_size = task->task == WEFT_TASK_HIDDEN ? columns : 0;
    info->vocabulary = task->vocabulary;
    info->causal = task->task == WEFT_TASK_CAUSAL_LM;
    info->max_length = (uint32_t)program->symbols.rows[length].maximum;
    info->takes_lengths = find_input(program, "lengths") != NULL;
    info->takes_types = weft_program_takes_types(program);
    info->label_count = has_labels ? columns : 0;
    info->multi_label = info->label_count == 1 && task->task == WEFT_TASK_CLASSIFY;
    info->eos_token = task->eos_token;
}

bool weft_program_takes_types(const struct weft_program *program) {
    return find_input(program, "token_types") != NULL;
}

/** Adds a constant with one number everywhere. */
static weft_status add_full(weft_tensor *out, weft_graph *graph, const char *name, weft_shape shape,
                            uint32_t value) {
    const size_t count = (size_t)weft_shape_elements(shape);
    uint32_t *words = weft_alloc_zero(&graph->host, count, sizeof *words);
    if (!words) {
        return weft_fail_memory(&graph->host, name);
    }
    for (size_t i = 0; i < count; i++) {
        words[i] = value;
    }
    const weft_status status = weft_graph_constant(out, graph, name, WEFT_I32, shape, words);
    weft_free(&graph->host, words);
    return status;
}

weft_status weft_program_given_input(weft_tensor *out, weft_graph *graph,
                                     const weft_model_inputs *given, const char *name,
                                     weft_shape shape) {
    weft_shape tokens;
    WEFT_TRY(weft_graph_get_tensor(graph, given->tokens, &tokens, NULL));
    const bool is_lengths = strcmp(name, "lengths") == 0;
    *out = is_lengths                         ? given->lengths
           : strcmp(name, "token_types") == 0 ? given->types
                                              : given->tokens;
    return out->id ? WEFT_OK : add_full(out, graph, name, shape, is_lengths ? tokens.dim[1] : 0);
}

weft_status weft_program_check_symbol(const struct weft_program *program, uint32_t symbol,
                                      int64_t value) {
    const struct weft_symbol_row *row = &program->symbols.rows[symbol];
    if (value < row->minimum || value > row->maximum) {
        return weft_fail(&program->host, WEFT_INVALID_ARGUMENT,
                         "%s: symbol %s: expected %lld to %lld, found %lld", program->path,
                         row->name, (long long)row->minimum, (long long)row->maximum,
                         (long long)value);
    }
    return WEFT_OK;
}

weft_status weft_program_build_task(weft_tensor *out, weft_graph *graph,
                                    struct weft_program *program, const weft_model_inputs *inputs) {
    int64_t values[WEFT_MAX_SYMBOLS] = {0};
    weft_shape tokens;
    WEFT_TRY(weft_graph_get_tensor(graph, inputs->tokens, &tokens, NULL));
    for (uint32_t i = 0; i < program->symbols.count; i++) {
        const bool is_batch = strcmp(program->symbols.rows[i].name, "batch") == 0;
        values[i] = tokens.dim[is_batch ? 0 : 1];
        WEFT_TRY(weft_program_check_symbol(program, i, values[i]));
    }
    const struct weft_graph_mark mark = weft_graph_mark(graph);
    weft_status status = weft_program_build(out, graph, program, values, inputs);
    weft_shape found;
    if (status == WEFT_OK) {
        status = weft_graph_get_tensor(graph, *out, &found, NULL);
    }
    if (status == WEFT_OK) {
        status = check_output(program, found, tokens.dim[0], tokens.dim[1]);
    }
    return weft_graph_end(graph, mark, status);
}
