/* SPDX-License-Identifier: MIT */
/* weft inspect: a model, its plan, and what the passes made of it. */
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "commands.h"
#include "core/try.h"
#include "inspect_case.h"
#include "inspect_layers.h"
#include "inspect_pipelines.h"
#include "program.h"
#include "session.h"
#include "stop.h"

typedef struct inspect_options {
    weft_cli_common common;
    const char *model; /* or a case's name */
    const char *pass;
    const char *isa;
    bool choices; /* --pass choices */
    bool pipelines;
    bool is_case;
    uint32_t length; /* 0: not given */
    uint32_t batch;
    weft_cli_list symbols; /* of a program */
} inspect_options;

typedef struct inspect_state {
    const inspect_options *options;
    weft_cli_session session; /* of a case: without a model */
    weft_cli_case *of_case;   /* or null */
    uint32_t length;
    weft_cli_symbols symbols; /* of a program */
    weft_plan *plan;
    weft_cli_pipelines *pipelines; /* or null */
    weft_plan_info info;
    uint32_t *layers; /* of each dispatch */
    uint32_t most_in_layer;
} inspect_state;

/* ---- the work ---- */

static bool is_program(const inspect_state *state) {
    return state->session.info.task == WEFT_TASK_PROGRAM;
}

/* The length to plan for: what was asked for, or the longest the model takes. */
static int choose_length(inspect_state *state, const weft_cli_syntax *syntax) {
    const weft_model_info *info = &state->session.info;
    uint32_t asked = state->options->length;
    if (is_program(state) && (asked != 0 || state->options->batch != 1)) {
        return weft_cli_usage_error(
            syntax, "--length and --batch: this model is a program: use --symbol NAME=N");
    }
    if (is_program(state)) {
        return weft_cli_symbols_read(&state->symbols, &state->options->symbols, true,
                                     &state->session, syntax);
    }
    if (state->options->symbols.count > 0) {
        return weft_cli_usage_error(syntax, "--symbol: this model is no program");
    }
    if (info->exact_length != 0 && asked != 0 && asked != info->exact_length) {
        return weft_cli_usage_error(syntax, "--length %u: this model runs with exactly %u tokens",
                                    asked, info->exact_length);
    }
    if (asked > info->max_length) {
        return weft_cli_usage_error(syntax, "--length %u: this model takes at most %u tokens",
                                    asked, info->max_length);
    }
    uint32_t longest = info->exact_length != 0 ? info->exact_length : info->max_length;
    state->length = asked != 0 ? asked : longest;
    return WEFT_CLI_FINE;
}

static uint32_t dispatches_in_layer(const inspect_state *state, uint32_t layer) {
    uint32_t count = 0;
    for (uint32_t index = 0; index < state->info.dispatches; index++) {
        count += state->layers[index] == layer;
    }
    return count;
}

static weft_status find_layers(inspect_state *state) {
    uint32_t count = state->info.dispatches;
    state->layers = weft_alloc_zero(&state->session.host, (size_t)count + 1, sizeof *state->layers);
    if (!state->layers) {
        return weft_fail_memory(&state->session.host, "the dispatches");
    }
    WEFT_TRY(weft_cli_dispatch_layers(state->layers, count, state->plan, &state->session.host));
    for (uint32_t layer = 0; layer < state->session.info.layers; layer++) {
        uint32_t found = dispatches_in_layer(state, layer);
        state->most_in_layer = found > state->most_in_layer ? found : state->most_in_layer;
    }
    return WEFT_OK;
}

static weft_status compile_plan(inspect_state *state) {
    const inspect_options *options = state->options;
    weft_cli_session *session = &state->session;
    if (state->of_case) {
        return weft_cli_case_compile(&state->plan, state->of_case, session->device);
    }
    if (is_program(state)) {
        return weft_model_compile_program(&state->plan, session->model, session->device,
                                          state->symbols.at, state->symbols.count, NULL);
    }
    return weft_model_compile(&state->plan, session->model, session->device, options->batch,
                              state->length, false, NULL);
}

static int compile(inspect_state *state) {
    const inspect_options *options = state->options;
    WEFT_CLI_TRY(weft_cli_session_open(&state->session, &options->common));
    WEFT_CLI_TRY(weft_cli_exit_code(compile_plan(state)));
    WEFT_CLI_TRY(weft_cli_exit_code(weft_plan_get_info(state->plan, &state->info)));
    if (options->pipelines) {
        WEFT_CLI_TRY(weft_cli_exit_code(
            weft_cli_pipelines_read(&state->pipelines, state->plan, &state->session.host)));
    }
    if (options->isa) {
        WEFT_CLI_TRY(weft_cli_exit_code(weft_cli_pipelines_write(state->pipelines, options->isa)));
    }
    return weft_cli_exit_code(find_layers(state));
}

/* ---- a pass ---- */

static int report_pass(const inspect_state *state) {
    const char *text = NULL;
    WEFT_CLI_TRY(weft_cli_exit_code(weft_plan_describe(state->plan, state->options->pass, &text)));
    if (state->options->common.json) {
        return weft_cli_print_json(json_pack("{s:s, s:I, s:I, s:o}", "pass", state->options->pass,
                                             "batch", (json_int_t)state->options->batch, "length",
                                             (json_int_t)state->length, "text",
                                             weft_cli_json_text(text)));
    }
    weft_cli_print_lines(stdout, text);
    return WEFT_CLI_FINE;
}

/* ---- everything, as JSON ---- */

static double arena_ratio(const inspect_state *state) {
    return state->info.arena_lower_bound == 0
               ? 1.0
               : (double)state->info.arena_bytes / (double)state->info.arena_lower_bound;
}

static json_t *layer_json(uint32_t layer) {
    return layer == WEFT_CLI_NO_LAYER ? json_null() : json_integer((json_int_t)layer);
}

static json_t *dispatches_json(const inspect_state *state) {
    json_t *list = json_array();
    for (uint32_t index = 0; index < state->info.dispatches; index++) {
        weft_dispatch_info dispatch;
        if (weft_plan_get_dispatch(state->plan, index, &dispatch) != WEFT_OK) {
            json_decref(list);
            return NULL;
        }
        list = weft_cli_json_append(
            list,
            json_pack("{s:o, s:o, s:s, s:[I, I, I], s:o, s:o, s:b}", "layer",
                      layer_json(state->layers[index]), "node", weft_cli_json_text(dispatch.node),
                      "kernel", dispatch.kernel, "groups", (json_int_t)dispatch.groups[0],
                      (json_int_t)dispatch.groups[1], (json_int_t)dispatch.groups[2], "flops",
                      weft_cli_json_real(dispatch.flops), "bytes",
                      weft_cli_json_real(dispatch.bytes), "barrier", (int)dispatch.barrier));
    }
    return list;
}

static json_t *per_layer_json(const inspect_state *state) {
    json_t *list = json_array();
    for (uint32_t layer = 0; layer < state->session.info.layers; layer++) {
        list =
            weft_cli_json_append(list, json_integer((json_int_t)dispatches_in_layer(state, layer)));
    }
    return list;
}

static int report_json(const inspect_state *state) {
    json_t *report = weft_cli_session_json(&state->session, state->plan);
    if (state->of_case) {
        report = weft_cli_json_field(report, "case", weft_cli_json_text(state->options->model));
    }
    if (is_program(state)) {
        report = weft_cli_json_field(report, "symbols", weft_cli_symbols_json(&state->symbols));
    }
    if (state->pipelines) {
        report =
            weft_cli_json_field(report, "pipelines", weft_cli_pipelines_json(state->pipelines));
    }
    json_t *more = json_pack(
        "{s:I, s:I, s:o, s:o, s:I, s:I, s:o}", "batch", (json_int_t)state->options->batch, "length",
        (json_int_t)state->length, "arena_ratio", weft_cli_json_real(arena_ratio(state)),
        "dispatches_per_layer", per_layer_json(state), "most_dispatches_in_layer",
        (json_int_t)state->most_in_layer, "dispatches_outside_layers",
        (json_int_t)dispatches_in_layer(state, WEFT_CLI_NO_LAYER), "dispatch_list",
        dispatches_json(state));
    return weft_cli_print_json(weft_cli_json_merge(report, more));
}

/* ---- everything, as text ---- */

static void print_model(const inspect_state *state) {
    const weft_model_info *info = &state->session.info;
    if (is_program(state)) {
        weft_cli_print_program(&state->session);
        return;
    }
    weft_cli_print(stdout, "%s, mixing %s, task %s\n", info->architecture, info->mixing,
                   weft_task_name(info->task));
    weft_cli_print(stdout, "  %u layers, hidden size %u, intermediate size %u, vocabulary %u\n",
                   info->layers, info->hidden_size, info->intermediate_size, info->vocabulary);
    weft_cli_print(stdout, "  %s %u tokens, %u labels, tokenizer %s\n",
                   info->exact_length != 0 ? "exactly" : "at most",
                   info->exact_length != 0 ? info->exact_length : info->max_length,
                   info->label_count, info->tokenizer);
    weft_embed_info embed = {0};
    if (info->task == WEFT_TASK_EMBED && info->layers > 0 && /* not of a program */
        weft_model_get_embedding(state->session.model, &embed) == WEFT_OK &&
        (embed.sparse || embed.multi_vector)) {
        weft_cli_print(stdout,
                       embed.sparse ? "  sparse vectors of %u values, one for each token\n"
                                    : "  several vectors of a text, of %u values each\n",
                       info->embedding_size);
    }
    if (info->image_size != 0) {
        weft_cli_print(stdout, "  images of %u channels, %u x %u pixels\n", info->image_channels,
                       info->image_size, info->image_size);
    }
    weft_cli_print(stdout, "  %llu parameters\n", (unsigned long long)info->parameters);
}

static void print_plan(const inspect_state *state) {
    const weft_plan_info *info = &state->info;
    const weft_device_info *device = &state->session.device_info;
    char arena[WEFT_CLI_BYTES_SIZE];
    char bound[WEFT_CLI_BYTES_SIZE];
    char weights[WEFT_CLI_BYTES_SIZE];
    if (state->of_case) {
        weft_cli_print(stdout, "plan of %s", state->options->model);
    } else if (is_program(state)) {
        char symbols[512];
        weft_cli_print(stdout, "\nplan%s%s", state->symbols.count ? " for " : "",
                       weft_cli_symbols_text(symbols, sizeof symbols, &state->symbols));
    } else {
        weft_cli_print(stdout, "\nplan for batch %u, length %u", state->options->batch,
                       state->length);
    }
    weft_cli_print(stdout, " on %s (%s), %s", device->name, weft_device_type_name(device->type),
                   weft_math_name(state->options->common.math));
    if (device->fma != WEFT_FMA_NONE) {
        weft_cli_print(stdout, ", fma by %s", weft_fma_name(device->fma));
    }
    weft_cli_print(stdout, "\n");
    if (state->of_case || is_program(state)) {
        weft_cli_print(stdout, "  %u dispatch%s\n", info->dispatches,
                       info->dispatches == 1 ? "" : "es");
    } else {
        weft_cli_print(stdout, "  %u dispatches, at most %u in a layer, %u outside of layers\n",
                       info->dispatches, state->most_in_layer,
                       dispatches_in_layer(state, WEFT_CLI_NO_LAYER));
    }
    weft_cli_print(stdout, "  %u barriers, %u submission%s\n", info->barriers, info->submissions,
                   info->submissions == 1 ? "" : "s");
    weft_cli_print(stdout, "  arena %s (%llu bytes), lower bound %s, ratio %.3f\n",
                   weft_cli_bytes(info->arena_bytes, arena), (unsigned long long)info->arena_bytes,
                   weft_cli_bytes(info->arena_lower_bound, bound), arena_ratio(state));
    weft_cli_print(stdout, "  weights %s", weft_cli_bytes(info->weight_bytes, weights));
    const struct {
        const char *what;
        uint64_t bytes;
    } kinds[] = {{"f16", info->f16_weight_bytes},
                 {"in 16 bits as given",
                  info->narrow_weight_bytes - info->int8_weight_bytes - info->block_weight_bytes},
                 {"int8", info->int8_weight_bytes},
                 {"in blocks", info->block_weight_bytes}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (kinds[i].bytes > 0) {
            weft_cli_print(stdout, ", of these %s %s", kinds[i].what,
                           weft_cli_bytes(kinds[i].bytes, weights));
        }
    }
    weft_cli_print(stdout, "\n");
    weft_cli_print(stdout, "  %.3f GFLOP a run\n", info->flops * 1e-9);
    weft_cli_print(stdout, "  compiled in %.1f ms: %u shaders, %u pipelines not in the cache\n\n",
                   info->compile_ms, info->shaders_compiled, info->pipelines_compiled);
}

static int print_dispatches(const inspect_state *state) {
    static const char *const columns[] = {">#",     ">layer", "node",  "kernel", "groups",
                                          ">MFLOP", ">KiB",   "waits", NULL};
    weft_cli_table *table = weft_cli_table_begin(columns);
    weft_status status = WEFT_OK;
    for (uint32_t index = 0; index < state->info.dispatches; index++) {
        weft_dispatch_info dispatch;
        status = weft_plan_get_dispatch(state->plan, index, &dispatch);
        if (status != WEFT_OK) {
            break;
        }
        weft_cli_table_cell(table, "%u", index);
        if (state->layers[index] == WEFT_CLI_NO_LAYER) {
            weft_cli_table_cell(table, "-");
        } else {
            weft_cli_table_cell(table, "%u", state->layers[index]);
        }
        weft_cli_table_cell(table, "%s", dispatch.node);
        weft_cli_table_cell(table, "%s", dispatch.kernel);
        weft_cli_table_cell(table, "%u x %u x %u", dispatch.groups[0], dispatch.groups[1],
                            dispatch.groups[2]);
        weft_cli_table_cell(table, "%.3f", dispatch.flops * 1e-6);
        weft_cli_table_cell(table, "%.1f", dispatch.bytes / 1024.0);
        weft_cli_table_cell(table, "%s", dispatch.barrier ? "yes" : "");
    }
    int exit_code = weft_cli_table_print(&table);
    return status == WEFT_OK ? exit_code : weft_cli_exit_code(status);
}

static int report(const inspect_state *state) {
    weft_cli_stop_settle(true);
    if (state->options->pass) {
        WEFT_CLI_TRY(report_pass(state));
    } else if (state->options->common.json) {
        WEFT_CLI_TRY(report_json(state));
    } else {
        if (!state->of_case) {
            print_model(state);
        }
        print_plan(state);
        WEFT_CLI_TRY(state->pipelines ? weft_cli_pipelines_print(state->pipelines)
                                      : print_dispatches(state));
    }
    return weft_cli_validation_code(state->session.device);
}

/* A model that makes one text of another has no plan of a length: that of its encoder is shown, which says so by its task. */
static weft_status take_encoder(weft_cli_session *session) {
    weft_model *encoder = NULL;
    WEFT_TRY(weft_model_without_head(&encoder, session->model));
    weft_model_destroy(&session->model);
    session->model = encoder;
    return weft_model_get_info(encoder, &session->info);
}

static int load(inspect_state *state, const weft_cli_syntax *syntax) {
    const inspect_options *options = state->options;
    if (options->is_case) {
        state->session.host = weft_cli_host(&options->common);
        return weft_cli_exit_code(
            weft_cli_case_make(&state->of_case, options->model, &state->session.host));
    }
    WEFT_CLI_TRY(weft_cli_session_load(&state->session, &options->common, options->model));
    if (state->session.info.task == WEFT_TASK_TEXT_TO_TEXT) {
        WEFT_CLI_TRY(weft_cli_exit_code(take_encoder(&state->session)));
    }
    return choose_length(state, syntax);
}

static int inspect_all(inspect_state *state, const weft_cli_syntax *syntax) {
    WEFT_CLI_TRY(load(state, syntax));
    WEFT_CLI_TRY(compile(state));
    return report(state);
}

static int inspect(const inspect_options *options, const weft_cli_syntax *syntax) {
    inspect_state state = {.options = options};
    int exit_code = inspect_all(&state, syntax);
    weft_host host = state.session.host;
    weft_free(&host, state.layers);
    weft_cli_pipelines_free(&state.pipelines);
    weft_plan_destroy(&state.plan);
    weft_cli_case_free(&state.of_case);
    weft_cli_session_close(&state.session);
    return exit_code;
}

/* What options ask for together; WEFT_CLI_FINE, or a usage error. */
static int settle(inspect_options *options, const weft_cli_syntax *syntax) {
    if (options->choices) {
        options->pass = "choices";
    }
    if (options->is_case && (options->length != 0 || options->batch != 1)) {
        return weft_cli_usage_error(syntax, "--case: a case has its own length and batch");
    }
    options->pipelines = options->pipelines || options->isa;
    if (options->pipelines && options->pass) {
        return weft_cli_usage_error(syntax, "--pass and --pipelines: use only one of them");
    }
    options->common.executables = options->pipelines;
    return WEFT_CLI_FINE;
}

int weft_cli_inspect(int argc, char **argv) {
    inspect_options options = {.batch = 1};
    const weft_cli_option table[] = {
        {"length", WEFT_CLI_COUNT, &options.length, "N",
         "tokens of a sequence (default: the most the model takes)"},
        {"batch", WEFT_CLI_COUNT, &options.batch, "B", "sequences (default 1)"},
        {"symbol", WEFT_CLI_LIST, &options.symbols, "NAME=N",
         "of a program, a symbol's value (default: its example)"},
        {"pass", WEFT_CLI_TEXT, &options.pass, "graph|fuse|choose|place|order|choices",
         "print the result of a pass instead"},
        {"choices", WEFT_CLI_FLAG, &options.choices, NULL,
         "print the candidates for each choice instead, why some were left "
         "out, their times, and the one taken"},
        {"pipelines", WEFT_CLI_FLAG, &options.pipelines, NULL,
         "print the driver's report on each compiled kernel instead: registers, spills, "
         "occupancy, instructions. For drivers with VK_KHR_pipeline_executable_properties; with "
         "--json all that they tell"},
        {"isa", WEFT_CLI_TEXT, &options.isa, "DIR",
         "the same, and write the machine code of each kernel to DIR"},
        {"compile-only", WEFT_CLI_FLAG, &options.common.compile_only, NULL,
         "accept a device that can only compile, for absent hardware"},
        {"case", WEFT_CLI_FLAG, &options.is_case, NULL,
         "MODEL is the name of a case of weft verify, such as one op"},
        WEFT_CLI_DEVICE_OPTIONS(&options.common),
        WEFT_CLI_STATE_OPTION(&options.common),
        WEFT_CLI_OUTPUT_OPTIONS(&options.common),
        {.name = NULL},
    };
    const weft_cli_syntax syntax = {
        .command = "inspect",
        .positionals = "MODEL",
        .positional_count = 1,
        .summary =
            "Shows a model and its plan for a batch and a length: dispatches, submissions, "
            "bytes, and the driver's report on compiled kernels. Of a model that makes one text of "
            "another it shows the encoder.",
        .options = table,
    };
    int exit_code = WEFT_CLI_FINE;
    if (!weft_cli_parse(&syntax, argc, argv, &options.model, &exit_code)) {
        return exit_code;
    }
    exit_code = settle(&options, &syntax);
    return exit_code == WEFT_CLI_FINE ? inspect(&options, &syntax) : exit_code;
}
