/* SPDX-License-Identifier: MIT */
/* Pipelines that are compiled at once, and what came of it. */
#include <dirent.h>
#include <string.h>

#include "core/system/file.h"
#include "core/text.h"
#include "core/try.h"
#include "multiply_adds.h"
#include "text.h"
#include "tool.h"
#include "vendor.h"

bool weft_vendor_breaks(const struct weft_vendor_run *run, const char *rule) {
    return strcmp(run->broken, rule) == 0;
}

void weft_vendor_name_paths(struct weft_vendor_paths *paths, const struct weft_vendor_run *run,
                            const struct weft_vendor_target *target, uint32_t number) {
    const char *first = run->targets[0].to; /* has what all have in common */
    snprintf(paths->text, sizeof paths->text, "%s/batch-%u.cl", first, number);
    snprintf(paths->shared, sizeof paths->shared, "%s/batch-%u.ptx", first, number);
    snprintf(paths->code, sizeof paths->code, "%s/batch-%u.bin", target->to, number);
    snprintf(paths->listing, sizeof paths->listing, "%s/batch-%u.listing", target->to, number);
    snprintf(paths->errors, sizeof paths->errors, "%s/batch-%u.errors", target->to, number);
}

weft_status weft_vendor_tool(const char *const arguments[], const char *output,
                             const struct weft_vendor_paths *paths) {
    return weft_run_tool(arguments, output, paths->errors)
               ? WEFT_OK
               : weft_fail(&weft_vendor_host, WEFT_COMPILE_ERROR, "%s failed, see %s", arguments[0],
                           paths->errors);
}

weft_status weft_vendor_read_interface(struct weft_vendor_pipeline *read,
                                       const struct weft_vendor_run *run, uint32_t index) {
    const char *file = run->files[index]->d_name;
    char *path = weft_format(&weft_vendor_host, "%s/%s", run->from, file);
    read->name =
        weft_format(&weft_vendor_host, "%.*s", (int)(strlen(file) - strlen(".json")), file);
    const weft_status status = path && read->name
                                   ? weft_json_read(&read->line, path, &weft_vendor_host)
                                   : weft_fail_memory(&weft_vendor_host, "a path");
    weft_free(&weft_vendor_host, path);
    WEFT_TRY(status);
    json_object_set_new(read->line, "name", json_string(read->name));
    json_object_set_new(read->line, "taken", json_true());
    return WEFT_OK;
}

static weft_status open_batch(struct weft_vendor_batch *batch, const struct weft_vendor_run *run,
                              uint32_t number) {
    const uint32_t first = number * WEFT_VENDOR_BATCH, left = run->count - first;
    *batch =
        (struct weft_vendor_batch){.number = number,
                                   .first = first,
                                   .count = left < WEFT_VENDOR_BATCH ? left : WEFT_VENDOR_BATCH};
    weft_status status = WEFT_OK;
    for (uint32_t i = 0; status == WEFT_OK && i < batch->count; i++) {
        status = weft_vendor_read_interface(&batch->pipelines[i], run, first + i);
    }
    return status;
}

static void close_batch(struct weft_vendor_batch *batch) {
    for (uint32_t i = 0; i < batch->count; i++) {
        weft_free(&weft_vendor_host, batch->pipelines[i].name);
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

static weft_status add_text(struct weft_text *all, const struct weft_vendor_run *run,
                            const struct weft_vendor_pipeline *pipeline, uint32_t number) {
    struct weft_source source = {0};
    struct weft_cl_text text = {0};
    WEFT_TRY(
        weft_source_read(&source, run->from, pipeline->name, pipeline->line, &weft_vendor_host));
    const weft_status status = weft_source_text(
        &text, &source,
        &(const struct weft_text_form){.math = weft_source_math(pipeline->line),
                                       .flushes = weft_vendor.flushes,
                                       .apart = run->apart,
                                       .contracted = weft_vendor_breaks(run, "contraction")},
        &weft_vendor_host);
    if (status == WEFT_OK) {
        gather(all, text.text, number);
    } else {
        weft_fail(&weft_vendor_host, status, "%s has no text", pipeline->name);
    }
    weft_free(&weft_vendor_host, text.text);
    weft_free(&weft_vendor_host, source.words);
    return status;
}

static weft_status write_texts(const struct weft_vendor_run *run,
                               const struct weft_vendor_batch *batch, const char *path) {
    struct weft_text all = {.host = weft_vendor_host};
    weft_status status = WEFT_OK;
    for (uint32_t i = 0; status == WEFT_OK && i < batch->count; i++) {
        status = add_text(&all, run, &batch->pipelines[i], i);
    }
    if (status == WEFT_OK) {
        status = all.failed ? weft_fail_memory(&weft_vendor_host, "texts")
                            : weft_file_write(path, all.data, all.length, &weft_vendor_host);
    }
    weft_free(&weft_vendor_host, all.data);
    return status;
}

/* ---- what came of it ---- */

/* The pipeline's line, in a file, and its code. */
static weft_status describe(const struct weft_vendor_run *run,
                            const struct weft_vendor_target *target,
                            const struct weft_vendor_pipeline *pipeline,
                            const struct weft_vendor_code *made) {
    char why[256], path[512];
    json_t *line = json_copy(pipeline->line);
    const struct weft_multiply_adds found = weft_multiply_adds_of(weft_vendor.name, made->code);
    json_object_set_new(line, "ms", json_integer(0)); /* of many at once */
    json_object_set_new(line, "subgroup_size", json_integer(weft_vendor.subgroup(made->told)));
    json_object_set_new(line, "statistics", weft_vendor.statistics(made->told));
    json_object_set_new(line, "fused", json_integer(found.kept));
    json_object_set_new(line, "split", json_integer(run->apart ? found.apart : 0));
    if (weft_isa_breaks(run->isa, why, sizeof why, weft_source_math(line), made->code)) {
        json_object_set_new(line, "breaks", json_string(why));
    } else if (weft_isa_lacks_modes(run->isa, made->code)) {
        json_object_set_new(line, "breaks", json_string("sets no float modes"));
    }
    snprintf(path, sizeof path, "%s/%s.%s.txt", target->to, pipeline->name, weft_vendor.end);
    weft_status status = weft_file_write(path, made->code, strlen(made->code), &weft_vendor_host);
    snprintf(path, sizeof path, "%s/%s.line", target->to, pipeline->name);
    if (status == WEFT_OK && json_dump_file(line, path, 0) != 0) {
        status = weft_fail(&weft_vendor_host, WEFT_IO_ERROR, "cannot write %s", path);
    }
    json_decref(line);
    return status;
}

static void free_code(struct weft_vendor_code *made) {
    weft_free(&weft_vendor_host, made->code);
    weft_free(&weft_vendor_host, made->told);
}

static weft_status describe_part(const struct weft_vendor_run *run,
                                 const struct weft_vendor_target *target,
                                 const struct weft_vendor_batch *batch, uint32_t i,
                                 const struct weft_vendor_code *all,
                                 const struct weft_vendor_paths *paths) {
    struct weft_vendor_code part = {0};
    weft_status status = weft_vendor.take(&part, all, target, paths, i);
    if (status == WEFT_OK) {
        status = part.code && part.told
                     ? describe(run, target, &batch->pipelines[i], &part)
                     : weft_fail(&weft_vendor_host, WEFT_BAD_FILE,
                                 "%s is not in what %s and its disassembler print",
                                 batch->pipelines[i].name, weft_vendor.name);
    }
    free_code(&part);
    return status;
}

static weft_status compile_for(const struct weft_vendor_run *run,
                               const struct weft_vendor_target *target,
                               const struct weft_vendor_batch *batch) {
    struct weft_vendor_paths paths;
    struct weft_vendor_code made = {0};
    weft_vendor_name_paths(&paths, run, target, batch->number);
    weft_status status = weft_vendor.compile(&made, run, target, &paths);
    for (uint32_t i = 0; status == WEFT_OK && i < batch->count; i++) {
        status = describe_part(run, target, batch, i, &made, &paths);
    }
    free_code(&made);
    return status;
}

bool weft_vendor_compile_batch(void *user, uint32_t number) {
    const struct weft_vendor_run *run = user;
    struct weft_vendor_batch batch;
    struct weft_vendor_paths paths;
    weft_vendor_name_paths(&paths, run, &run->targets[0], number);
    weft_status status = open_batch(&batch, run, number);
    status = status ? status : write_texts(run, &batch, paths.text);
    if (status == WEFT_OK && weft_vendor.prepare) {
        status = weft_vendor.prepare(run, &paths);
    }
    for (uint32_t i = 0; status == WEFT_OK && i < run->target_count; i++) {
        status = compile_for(run, &run->targets[i], &batch);
    }
    close_batch(&batch);
    return status == WEFT_OK;
}
