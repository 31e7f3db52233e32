/* SPDX-License-Identifier: MIT */
/* From a model folder to one whose matrices are smaller: those that a device would make bytes of (plan/quantize.c). */
#include <weft/model.h>

#include <stdio.h>
#include <string.h>

#include "core/given.h"
#include "core/system/file.h"
#include "core/system/system.h"
#include "core/try.h"
#include "graph/graph.h"
#include "model/files/checkpoint.h"
#include "model/files/folder_save.h"
#include "model/files/other_files.h"
#include "model/files/quantized_files.h"
#include "model/gguf/gguf_model.h"
#include "model/gguf/gguf_quantize.h"
#include "model/network/architecture.h"
#include "model/network/network_build.h"
#include "model/network/network_decoder.h"
#include "model/program/program.h"
#include "plan/matrices.h"

#define LENGTH 16u

struct quantize {
    const weft_graph *graph;
    struct weft_quantized_files files;
};

/* ---- the graph ---- */

static weft_status build_task(weft_graph *graph, weft_model *model, const weft_model_info *info,
                              const char *output) {
    weft_model_inputs inputs = {0};
    weft_tensor out = {0};
    const uint32_t batch = info->task == WEFT_TASK_RETRIEVE ? 2 : 1;
    const uint32_t most = info->max_length < LENGTH ? info->max_length : LENGTH;
    const uint32_t length = info->exact_length ? info->exact_length : most;
    WEFT_TRY(weft_model_add_inputs(&inputs, graph, batch, length, info));
    WEFT_TRY(info->task == WEFT_TASK_TEXT_TO_TEXT
                 ? weft_network_build_both(&out, weft_model_network(model), graph, &inputs)
                 : weft_model_build(&out, model, graph, &inputs));
    return weft_graph_output(graph, output, out);
}

/* The tower of images beside that of texts, which the model is. */
static weft_status build_images(weft_graph *graph, weft_model *model) {
    weft_model *tower = NULL;
    weft_model_info info;
    WEFT_TRY(weft_model_image_tower(&tower, model));
    weft_status status = weft_model_get_info(tower, &info);
    if (status == WEFT_OK) {
        status = build_task(graph, tower, &info, "images");
    }
    weft_model_destroy(&tower);
    return status;
}

static weft_status build_program(weft_graph **graph, weft_model *model) {
    weft_symbol symbols[WEFT_MAX_SYMBOLS];
    weft_symbol_info info;
    uint32_t count = 0;
    while (weft_model_get_symbol(model, count, &info) == WEFT_OK) {
        symbols[count++] = (weft_symbol){.name = info.name, .value = info.example};
    }
    return weft_model_program_graph(graph, model, symbols, count);
}

/* As a plan sees it when weights become bytes. To be destroyed also after an error. */
static weft_status build(weft_graph **graph, weft_model *model, const weft_host *host) {
    weft_model_info info;
    WEFT_TRY(weft_model_get_info(model, &info));
    if (weft_model_program(model)) {
        WEFT_TRY(build_program(graph, model));
    } else {
        WEFT_TRY(weft_graph_create(graph, host));
        WEFT_TRY(build_task(*graph, model, &info, "output"));
        WEFT_TRY(info.similarity_scale > 0 ? build_images(*graph, model) : WEFT_OK);
    }
    return weft_plan_prepare_matrices(*graph);
}

/* ---- its matrices ---- */

static weft_status take(void *user, uint32_t value, bool columns) {
    struct quantize *quantize = user;
    return weft_quantized_files_mark(&quantize->files, quantize->graph->values[value].weight,
                                     columns);
}

static weft_status find_matrices(struct quantize *quantize) {
    const weft_graph *graph = quantize->graph;
    for (uint32_t i = 1; i < graph->value_count; i++) {
        if (graph->values[i].weight) {
            WEFT_TRY(weft_quantized_files_add(&quantize->files, graph->values[i].weight));
        }
    }
    return weft_plan_each_matrix(graph, take, quantize);
}

/* ---- the folder ---- */

static weft_status check_folders(const char *folder, const char *out, const weft_host *host) {
    char *paths = weft_alloc(host, (size_t)2 * WEFT_SYSTEM_PATH_SIZE);
    if (!paths) {
        return weft_fail_memory(host, "paths");
    }
    char *other = paths + WEFT_SYSTEM_PATH_SIZE;
    const bool same = weft_system_resolve(paths, folder) == 0 &&
                      weft_system_resolve(other, out) == 0 && strcmp(paths, other) == 0;
    weft_free(host, paths);
    return same ? weft_fail(host, WEFT_INVALID_ARGUMENT,
                            "%s: expected another place than the model's", out)
                : WEFT_OK;
}

static weft_status write(weft_quantize_info *info, struct quantize *quantize, const char *folder,
                         const char *out, const weft_host *host) {
    if (weft_quantized_files_matrices(&quantize->files) == 0) {
        return weft_fail(host, WEFT_UNSUPPORTED,
                         "%s: expected matrices of floating-point numbers that only products and "
                         "embeddings read%s, found none",
                         folder, quantize->files.format ? ", along rows of multiples of 32" : "");
    }
    WEFT_TRY(weft_check_other_files(folder, host));
    WEFT_TRY(weft_make_folders(out, host));
    struct weft_folder_save saving;
    weft_status status = weft_folder_save_begin(&saving, out, host);
    if (status == WEFT_OK) {
        status = weft_quantized_files_write(info, &quantize->files, folder, out);
    }
    if (status == WEFT_OK) {
        status = weft_copy_other_files(folder, out, host);
    }
    weft_folder_save_end(&saving, host);
    return status;
}

/* Null: bytes. */
static const struct weft_ggml_format *format_of(weft_quantization to) {
    return to == WEFT_QUANTIZE_Q8_0   ? weft_ggml_format_called("q8_0")
           : to == WEFT_QUANTIZE_Q4_0 ? weft_ggml_format_called("q4_0")
           : to == WEFT_QUANTIZE_Q4_K ? weft_ggml_format_called("q4_k")
                                      : NULL;
}

static weft_status quantize(weft_quantize_info *info, weft_model *model, const char *folder,
                            const char *out, weft_quantization to, const weft_host *host) {
    struct quantize quantize = {
        .files = {.stored = to == WEFT_QUANTIZE_I8_ONLY ? WEFT_STORED_I8_ONLY : WEFT_STORED_I8,
                  .format = format_of(to),
                  .host = host}};
    weft_graph *graph = NULL;
    weft_status status = build(&graph, model, host);
    quantize.graph = graph;
    if (status == WEFT_OK) {
        status = find_matrices(&quantize);
    }
    if (status == WEFT_OK) {
        status = write(info, &quantize, folder, out, host);
    }
    weft_quantized_files_free(&quantize.files);
    weft_graph_destroy(&graph);
    return status;
}

/* One file of another, whose keys and tokenizer are copied as they are. */
static weft_status quantize_gguf(weft_quantize_info *info, const char *file, const char *out,
                                 weft_quantization to, const weft_host *host) {
    const struct weft_ggml_format *format = format_of(to);
    if (!format) {
        return weft_fail(host, WEFT_UNSUPPORTED,
                         "%s: expected q8_0, q4_0 or q4_k, as a GGUF file has no matrices of int8",
                         file);
    }
    if (!weft_ends_with(out, ".gguf")) {
        return weft_fail(host, WEFT_INVALID_ARGUMENT,
                         "%s: expected a name that ends in .gguf, since %s is such a file", out,
                         file);
    }
    return weft_gguf_quantize(info, file, out, format, host);
}

/* Its table is made of what its files say, which have no scales. */
static weft_status refuse_static(const weft_model *model, const char *folder,
                                 const weft_host *host) {
    weft_model_info about;
    WEFT_TRY(weft_model_get_info(model, &about));
    return strcmp(about.mixing, "model2vec") != 0
               ? WEFT_OK
               : weft_fail(host, WEFT_UNSUPPORTED,
                           "%s: expected a network, found a static embedding: the weight storage "
                           "int8 of a device keeps its table in bytes",
                           folder);
}

weft_status weft_model_quantize(weft_quantize_info *info, const char *folder, const char *out,
                                weft_quantization to, const weft_host *host) {
    WEFT_ENTER;
    WEFT_GIVEN(host, folder, out);
    weft_quantize_info ignored;
    weft_model *model = NULL;
    if ((int)to < WEFT_QUANTIZE_I8 || (int)to > WEFT_QUANTIZE_Q4_K) {
        return weft_fail(host, WEFT_INVALID_ARGUMENT,
                         "weft_model_quantize: to: expected I8, I8_ONLY, Q8_0, Q4_0 or Q4_K, "
                         "found %d",
                         (int)to);
    }
    info = info ? info : &ignored;
    WEFT_TRY(check_folders(folder, out, host));
    WEFT_TRY(weft_model_load(&model, folder, host));
    char *file = NULL;
    weft_status status = refuse_static(model, folder, host);
    if (status == WEFT_OK) {
        status = weft_gguf_model_find(&file, folder, host);
    }
    if (status == WEFT_OK) {
        status = file ? quantize_gguf(info, file, out, to, host)
                      : quantize(info, model, folder, out, to, host);
    }
    weft_free(host, file);
    weft_model_destroy(&model);
    return status;
}
