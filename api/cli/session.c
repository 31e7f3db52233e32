/* SPDX-License-Identifier: MIT */
#include "session.h"

#include <stdlib.h>
#include <string.h>

#include "core/system/clock.h"
#include "core/try.h"

int weft_cli_session_load(weft_cli_session *session, const weft_cli_common *common,
                          const char *folder) {
    *session = (weft_cli_session){.host = weft_cli_host(common), .folder = folder};
    weft_status status = weft_model_load(&session->model, folder, &session->host);
    if (status == WEFT_OK && common->state != WEFT_F32) {
        status = weft_model_set_state(session->model, common->state);
    }
    if (status == WEFT_OK) {
        status = weft_model_get_info(session->model, &session->info);
    }
    return weft_cli_exit_code_of_file(status);
}

int weft_cli_session_take_images(weft_cli_session *session) {
    weft_model *tower = NULL;
    weft_status status = weft_model_image_tower(&tower, session->model);
    if (status == WEFT_OK) {
        weft_model_destroy(&session->model);
        session->model = tower;
        status = weft_model_get_info(tower, &session->info);
    }
    return weft_cli_exit_code(status);
}

int weft_cli_session_open(weft_cli_session *session, const weft_cli_common *common) {
    weft_status status = weft_cli_open(&session->device, common);
    if (status == WEFT_OK) {
        status = weft_device_get_info(session->device, &session->device_info);
    }
    return status == WEFT_OK ? weft_cli_receipt_begin(&session->recording, session->model,
                                                      session->device, common)
                             : weft_cli_open_exit_code(status);
}

void weft_cli_session_close(weft_cli_session *session) {
    weft_receipt_destroy(&session->recording.receipt);
    weft_model_destroy(&session->model);
    weft_device_destroy(&session->device);
}

static int compare_times(const void *left, const void *right) {
    double a = *(const double *)left;
    double b = *(const double *)right;
    return (a > b) - (a < b);
}

double weft_cli_median(double *times, uint32_t count) {
    qsort(times, count, sizeof *times, compare_times);
    return (times[(count - 1) / 2] + times[count / 2]) / 2.0;
}

weft_status weft_cli_session_run(const weft_cli_session *session, weft_plan *plan,
                                 const weft_host_tensor *tensors, uint32_t count) {
    return session->recording.receipt
               ? weft_cli_receipt_execute(&session->recording, plan, tensors, count)
               : weft_plan_execute(plan, tensors, count);
}

weft_status weft_cli_execute(double *median_ms, const weft_cli_execution *execution) {
    const weft_host *host = &execution->session->host;
    uint32_t repeats = execution->repeats;
    double *times = weft_alloc_zero(host, repeats, sizeof *times);
    if (!times) {
        return weft_fail_memory(host, "run times");
    }
    weft_status status = WEFT_OK;
    for (uint32_t repeat = 0; repeat < repeats && status == WEFT_OK; repeat++) {
        double begin = weft_clock_ms();
        status = weft_cli_session_run(execution->session, execution->plan, execution->tensors,
                                      execution->tensor_count);
        times[repeat] = weft_clock_ms() - begin;
    }
    if (status == WEFT_OK) {
        *median_ms = weft_cli_median(times, repeats);
    }
    weft_free(host, times);
    return status;
}

static uint32_t last_axis(weft_shape shape) {
    return shape.dim[shape.rank - 1];
}

weft_status weft_cli_output_of(weft_cli_output *output, const weft_plan *plan,
                               const weft_model *model, uint32_t batch, uint32_t length,
                               const weft_host *host) {
    weft_shape expected;
    weft_port_info port;
    uint32_t index = 0;
    WEFT_TRY(weft_model_get_output_shape(model, batch, length, &expected));
    do {
        WEFT_TRY(weft_plan_get_port(plan, index++, &port));
    } while (!port.is_output || strcmp(port.name, "output") != 0);
    if (port.dtype != WEFT_F32 || !weft_shape_equal(port.shape, expected)) {
        char text[2][WEFT_SHAPE_TEXT_SIZE];
        return weft_fail(host, WEFT_BAD_FILE, "the plan's output: expected f32 %s, found %s %s",
                         weft_shape_text(expected, text[0]), weft_dtype_name(port.dtype),
                         weft_shape_text(port.shape, text[1]));
    }
    *output = (weft_cli_output){.shape = port.shape,
                                .elements = weft_shape_elements(port.shape),
                                .width = last_axis(port.shape)};
    return WEFT_OK;
}

uint32_t weft_cli_output_width(const weft_model *model) {
    weft_shape shape;
    return weft_model_get_output_shape(model, 2, 1, &shape) == WEFT_OK ? last_axis(shape) : 0;
}

static json_t *model_json(const weft_cli_session *session) {
    const weft_model_info *info = &session->info;
    return json_pack(
        "{s:o, s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:b, s:I, s:b, s:b, "
        "s:I, s:I, s:b, s:I, s:s}",
        "folder", weft_cli_json_text(session->folder), "architecture", info->architecture, "mixing",
        info->mixing, "task", weft_task_name(info->task), "layers", (json_int_t)info->layers,
        "hidden_size", (json_int_t)info->hidden_size, "embedding_size",
        (json_int_t)info->embedding_size, "intermediate_size", (json_int_t)info->intermediate_size,
        "vocabulary", (json_int_t)info->vocabulary, "input_size", (json_int_t)info->input_size,
        "image_size", (json_int_t)info->image_size, "image_channels",
        (json_int_t)info->image_channels, "position_size", (json_int_t)info->position_size,
        "causal", (int)info->causal, "max_length", (json_int_t)info->max_length, "takes_types",
        (int)info->takes_types, "takes_lengths", (int)info->takes_lengths, "exact_length",
        (json_int_t)info->exact_length, "label_count", (json_int_t)info->label_count, "multi_label",
        (int)info->multi_label, "parameters", (json_int_t)info->parameters, "tokenizer",
        info->tokenizer);
}

static json_t *plan_json(const weft_plan *plan) {
    weft_plan_info info;
    if (weft_plan_get_info(plan, &info) != WEFT_OK) {
        return NULL;
    }
    return json_pack(
        "{s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o}", "compile_ms",
        weft_cli_json_real(info.compile_ms), "arena_bytes", (json_int_t)info.arena_bytes,
        "arena_lower_bound", (json_int_t)info.arena_lower_bound, "weight_bytes",
        (json_int_t)info.weight_bytes, "f16_weight_bytes", (json_int_t)info.f16_weight_bytes,
        "narrow_weight_bytes", (json_int_t)info.narrow_weight_bytes, "int8_weight_bytes",
        (json_int_t)info.int8_weight_bytes, "block_weight_bytes",
        (json_int_t)info.block_weight_bytes, "dispatches", (json_int_t)info.dispatches, "barriers",
        (json_int_t)info.barriers, "submissions", (json_int_t)info.submissions, "flops",
        weft_cli_json_real(info.flops));
}

json_t *weft_cli_session_json(const weft_cli_session *session, const weft_plan *plan) {
    weft_device_stats stats;
    if (weft_device_get_stats(session->device, &stats) != WEFT_OK) {
        return NULL;
    }
    json_t *report = json_pack("{s:o, s:o, s:s, s:I, s:I}", "model",
                               session->model ? model_json(session) : json_null(), "device",
                               weft_cli_device_json(&session->device_info), "math",
                               weft_math_name(weft_device_get_math(session->device)),
                               "shaders_compiled", (json_int_t)stats.shaders_compiled,
                               "pipelines_compiled", (json_int_t)stats.pipelines_compiled);
    report = plan ? weft_cli_json_merge(report, plan_json(plan)) : report;
    return weft_cli_json_merge(
        report, json_pack("{s:I, s:I}", "peak_bytes", (json_int_t)stats.peak_bytes,
                          "validation_messages", (json_int_t)stats.validation_messages));
}
