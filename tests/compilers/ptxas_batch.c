/* SPDX-License-Identifier: MIT */
/* Pipelines that are compiled at once, and what came of it. */
#include <dirent.h>
#include <string.h>

#include "core/system/file.h"
#include "core/text.h"
#include "core/try.h"
#include "multiply_adds.h"
#include "ptxas.h"
#include "sass_text.h"
#include "text.h"

weft_status weft_ptxas_read_interface(struct weft_ptxas_pipeline *read,
                                      const struct weft_ptxas *run, uint32_t index) {
    const char *file = run->files[index]->d_name;
    char *path = weft_format(&weft_ptxas_host, "%s/%s", run->from, file);
    read->name = weft_format(&weft_ptxas_host, "%.*s", (int)(strlen(file) - strlen(".json")), file);
    const weft_status status = path && read->name
                                   ? weft_json_read(&read->line, path, &weft_ptxas_host)
                                   : weft_fail_memory(&weft_ptxas_host, "a path");
    weft_free(&weft_ptxas_host, path);
    WEFT_TRY(status);
    json_object_set_new(read->line, "name", json_string(read->name));
    json_object_set_new(read->line, "taken", json_true());
    return WEFT_OK;
}

static weft_status open_batch(struct weft_ptxas_batch *batch, const struct weft_ptxas *run,
                              uint32_t number) {
    const uint32_t first = number * WEFT_PTXAS_BATCH, left = run->count - first;
    *batch = (struct weft_ptxas_batch){.number = number,
                                       .first = first,
                                       .count = left < WEFT_PTXAS_BATCH ? left : WEFT_PTXAS_BATCH};
    weft_status status = WEFT_OK;
    for (uint32_t i = 0; status == WEFT_OK && i < batch->count; i++) {
        status = weft_ptxas_read_interface(&batch->pipelines[i], run, first + i);
    }
    return status;
}

static void close_batch(struct weft_ptxas_batch *batch) {
    for (uint32_t i = 0; i < batch->count; i++) {
        weft_free(&weft_ptxas_host, batch->pipelines[i].name);
        json_decref(batch->pipelines[i].line);
    }
}

/* Adds a text whose names no other has: "weft_main" is "weft_7_main" of the pipeline 7 of a batch. */
static void gather(struct weft_text *all, const char *text, uint32_t number) {
    static const char prefix[] = "weft_";
    for (const char *at = strstr(text, prefix); at; at = strstr(text, prefix)) {
        weft_text_put(all, text, (size_t)(at - text));
        weft_text_add(all, "%s%u_", prefix, number);
        text = at + sizeof prefix - 1;
    }
    weft_text_add(all, "%s", text);
}

static weft_status add_text(struct weft_text *all, const struct weft_ptxas *run,
                            const struct weft_ptxas_pipeline *pipeline, uint32_t number) {
    struct weft_source source = {0};
    struct weft_cl_text text = {0};
    WEFT_TRY(
        weft_source_read(&source, run->from, pipeline->name, pipeline->line, &weft_ptxas_host));
    const weft_status status =
        weft_source_text(&text, &source, weft_source_math(pipeline->line), run->apart,
                         weft_ptxas_breaks(run, "contraction"), &weft_ptxas_host);
    if (status == WEFT_OK) {
        gather(all, text.text, number);
    } else {
        weft_fail(&weft_ptxas_host, status, "%s has no text", pipeline->name);
    }
    weft_free(&weft_ptxas_host, text.text);
    weft_free(&weft_ptxas_host, source.words);
    return status;
}

static weft_status write_texts(const struct weft_ptxas *run, const struct weft_ptxas_batch *batch,
                               const char *path) {
    struct weft_text all = {.host = weft_ptxas_host};
    weft_status status = WEFT_OK;
    for (uint32_t i = 0; status == WEFT_OK && i < batch->count; i++) {
        status = add_text(&all, run, &batch->pipelines[i], i);
    }
    if (status == WEFT_OK) {
        status = all.failed ? weft_fail_memory(&weft_ptxas_host, "texts")
                            : weft_file_write(path, all.data, all.length, &weft_ptxas_host);
    }
    weft_free(&weft_ptxas_host, all.data);
    return status;
}

/* ---- what came of it ---- */

/* The stack has what is spilled, and arrays that are no registers. */
static json_t *statistics_of(const char *told) {
    return json_pack("{s:I, s:I, s:I}", "Registers", weft_ptxas_told(told, " registers"),
                     "Stack words", weft_ptxas_told(told, " bytes stack frame") / 4,
                     "Shared memory", weft_ptxas_told(told, " bytes smem"));
}

/* The pipeline's line, in a file, and its code. */
static weft_status describe(const struct weft_ptxas *run, const struct weft_ptxas_target *target,
                            const struct weft_ptxas_pipeline *pipeline, const char *sass,
                            const char *told) {
    char why[256], path[512];
    json_t *line = json_copy(pipeline->line);
    const struct weft_multiply_adds found = weft_multiply_adds_of("ptxas", sass);
    json_object_set_new(line, "ms", json_integer(0)); /* of many at once */
    json_object_set_new(line, "subgroup_size", json_integer(32));
    json_object_set_new(line, "statistics", statistics_of(told));
    json_object_set_new(line, "fused", json_integer(found.kept));
    json_object_set_new(line, "split", json_integer(run->apart ? found.apart : 0));
    if (weft_isa_breaks(run->isa, why, sizeof why, weft_source_math(line), sass)) {
        json_object_set_new(line, "breaks", json_string(why));
    }
    snprintf(path, sizeof path, "%s/%s.SASS.txt", target->to, pipeline->name);
    weft_status status = weft_file_write(path, sass, strlen(sass), &weft_ptxas_host);
    snprintf(path, sizeof path, "%s/%s.line", target->to, pipeline->name);
    if (status == WEFT_OK && json_dump_file(line, path, 0) != 0) {
        status = weft_fail(&weft_ptxas_host, WEFT_IO_ERROR, "cannot write %s", path);
    }
    json_decref(line);
    return status;
}

static weft_status describe_part(const struct weft_ptxas *run,
                                 const struct weft_ptxas_target *target,
                                 const struct weft_ptxas_batch *batch, uint32_t i,
                                 const char *all_sass, const char *all_told) {
    char code[32], kernel[32];
    snprintf(code, sizeof code, ".text.weft_%u_main:", i);
    snprintf(kernel, sizeof kernel, "'weft_%u_main'", i);
    char *sass = weft_sass_part(all_sass, code, "\n.text.", &weft_ptxas_host);
    char *told = weft_sass_part(all_told, kernel, "Compiling entry", &weft_ptxas_host);
    const weft_status status =
        sass && told
            ? describe(run, target, &batch->pipelines[i], sass, told)
            : weft_fail(&weft_ptxas_host, WEFT_BAD_FILE,
                        "%s is not in what nvdisasm and ptxas print", batch->pipelines[i].name);
    weft_free(&weft_ptxas_host, sass);
    weft_free(&weft_ptxas_host, told);
    return status;
}

static weft_status compile_for(const struct weft_ptxas *run, const struct weft_ptxas_target *target,
                               const struct weft_ptxas_batch *batch) {
    struct weft_ptxas_paths paths;
    char *sass = NULL, *told = NULL;
    weft_ptxas_name_paths(&paths, run, target, batch->number);
    weft_status status = weft_ptxas_make_sass(&sass, &told, run, target, &paths);
    for (uint32_t i = 0; status == WEFT_OK && i < batch->count; i++) {
        status = describe_part(run, target, batch, i, sass, told);
    }
    weft_free(&weft_ptxas_host, sass);
    weft_free(&weft_ptxas_host, told);
    return status;
}

bool weft_ptxas_compile_batch(void *user, uint32_t number) {
    const struct weft_ptxas *run = user;
    struct weft_ptxas_batch batch;
    struct weft_ptxas_paths paths;
    weft_ptxas_name_paths(&paths, run, &run->targets[0], number);
    weft_status status = open_batch(&batch, run, number);
    status = status ? status : write_texts(run, &batch, paths.text);
    status = status ? status : weft_ptxas_make_ptx(run, &paths);
    for (uint32_t i = 0; status == WEFT_OK && i < run->target_count; i++) {
        status = compile_for(run, &run->targets[i], &batch);
    }
    close_batch(&batch);
    return status == WEFT_OK;
}
