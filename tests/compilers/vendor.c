/* SPDX-License-Identifier: MIT */
/*
 * weft-ptxas PIPELINES ARCHITECTURE=OUT... --tools FOLDER [--clang CLANG] [--check] [--apart] [--break RULE]
 *     [--only KERNEL,...] [--jobs N]
 * weft-ocloc, with the same
 *
 * hands the pipelines that weft-pipelines wrote to NVIDIA's own compiler, as an OpenCL device that flushes subnormals gets them: OpenCL
 * C becomes PTX by clang, and machine code by ptxas -O3, which nvdisasm prints; both are in the folder. weft-ocloc hands them to Intel's
 * ocloc, as Intel's GPUs get them. For each architecture, as "sm_75" or "dg2", OUT has what compile.c writes for a GPU: pipelines.jsonl and NAME.SASS.txt.
 *   --check fails where machine code breaks reproducible or fused math (rules.h).
 *   --apart fails where an Fma of fused math is a product and a sum (multiply_adds.h).
 *   --break makes code against a rule, which --check has to find: "contraction", where clang may fuse; "flush", where nothing flushes.
 *   --only takes kernels by the beginnings of their files' names.
 */
#include "vendor.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apart.h"
#include "core/system/file.h"
#include "core/try.h"
#include "tool.h"

#define SECONDS 600 /* of processor time, for a batch */

static void print_log(void *user, weft_log_level level, const char *message) {
    (void)user;
    if (level <= WEFT_LOG_WARNING) {
        fprintf(stderr, "weft-%s: %s\n", weft_vendor.name, message);
    }
}

const weft_host weft_vendor_host = {.log = print_log};

/* ---- all of them ---- */

/* Prints what is wrong with a pipeline, and counts it. */
static void judge(struct weft_vendor_target *target, const json_t *line, const char *name) {
    const char *breaks = json_string_value(json_object_get(line, "breaks"));
    const char *failed = json_string_value(json_object_get(line, "failed"));
    const json_int_t split = json_integer_value(json_object_get(line, "split"));
    target->fused += (uint64_t)json_integer_value(json_object_get(line, "fused"));
    target->split += (uint64_t)split;
    target->broken += breaks != NULL;
    target->failed += failed != NULL;
    if (split > 0) {
        printf("%s, %s: %d Fma are products and sums\n", name, target->architecture, (int)split);
    }
    if (breaks || failed) {
        printf("%s, %s: %s\n", name, target->architecture, breaks ? breaks : failed);
    }
}

/* A pipeline's line, of the file that its process wrote, goes to all the others'. */
static weft_status collect(const struct weft_vendor_run *run, struct weft_vendor_target *target,
                           uint32_t index, enum weft_ending ending) {
    struct weft_vendor_pipeline pipeline = {0};
    char path[512];
    weft_status status = weft_vendor_read_interface(&pipeline, run, index);
    snprintf(path, sizeof path, "%s/%s.line", target->to, pipeline.name ? pipeline.name : "");
    if (status == WEFT_OK && ending == WEFT_ENDED_WELL) {
        json_decref(pipeline.line);
        pipeline.line = NULL;
        status = weft_json_read(&pipeline.line, path, &weft_vendor_host);
        unlink(path);
    } else if (status == WEFT_OK) {
        json_object_set_new(pipeline.line, "failed", json_string("was not compiled"));
    }
    if (status == WEFT_OK) {
        judge(target, pipeline.line, pipeline.name);
        json_dumpf(pipeline.line, target->out, JSON_COMPACT);
        fputc('\n', target->out);
    }
    weft_free(&weft_vendor_host, pipeline.name);
    json_decref(pipeline.line);
    return status;
}

static weft_status collect_all(const struct weft_vendor_run *run, struct weft_vendor_target *target,
                               const enum weft_ending *endings) {
    char *path = weft_format(&weft_vendor_host, "%s/pipelines.jsonl", target->to);
    target->out = path ? fopen(path, "w") : NULL;
    weft_free(&weft_vendor_host, path);
    if (!target->out) {
        return weft_fail(&weft_vendor_host, WEFT_IO_ERROR, "cannot write into %s", target->to);
    }
    weft_status status = WEFT_OK;
    fprintf(target->out, "{\"device\":\"%s\",\"driver\":\"%s\",\"version\":\"%s\"}\n",
            target->architecture, weft_vendor.name, run->version);
    for (uint32_t i = 0; status == WEFT_OK && i < run->count; i++) {
        status = collect(run, target, i, endings[i / WEFT_VENDOR_BATCH]);
    }
    if (fclose(target->out) != 0 && status == WEFT_OK) {
        status = weft_fail(&weft_vendor_host, WEFT_IO_ERROR, "cannot write into %s", target->to);
    }
    printf("%s, %s %s: %u pipelines, %u of them against the rules of equal bits, %u could not "
           "be compiled, %llu multiply-adds fused, %llu split\n",
           target->architecture, weft_vendor.name, run->version, run->count, target->broken,
           target->failed, (unsigned long long)target->fused, (unsigned long long)target->split);
    return status;
}

/* Whether --only, where it is given, has the beginning of the file's name. */
static bool is_wanted(const struct weft_vendor_run *run, const char *file) {
    for (const char *at = run->only; at && *at != '\0';) {
        const size_t length = strcspn(at, ",");
        if (strncmp(file, at, length) == 0) {
            return true;
        }
        at += length + (at[length] == ',');
    }
    return !run->only;
}

static weft_status list_files(struct weft_vendor_run *run) {
    const int found = weft_source_list(&run->files, run->from);
    for (int i = 0; i < found; i++) {
        if (is_wanted(run, run->files[i]->d_name)) {
            run->files[run->count++] = run->files[i];
        } else {
            free(run->files[i]);
        }
    }
    return run->count > 0 ? WEFT_OK
                          : weft_fail(&weft_vendor_host, WEFT_NOT_FOUND, "%s has no such pipelines",
                                      run->from);
}

static weft_status compile_all(struct weft_vendor_run *run) {
    WEFT_TRY(list_files(run));
    const uint32_t batches = (run->count - 1) / WEFT_VENDOR_BATCH + 1;
    enum weft_ending *endings = calloc(batches, sizeof *endings);
    weft_status status =
        endings ? WEFT_OK : weft_fail_memory(&weft_vendor_host, "how compiling ended");
    if (status == WEFT_OK &&
        !weft_run_apart(endings, batches, run->jobs, SECONDS, weft_vendor_compile_batch, run)) {
        status = weft_fail(&weft_vendor_host, WEFT_IO_ERROR, "no process can be started");
    }
    for (uint32_t i = 0; status == WEFT_OK && i < run->target_count; i++) {
        status = collect_all(run, &run->targets[i], endings);
    }
    free(endings);
    for (uint32_t i = 0; i < run->count; i++) {
        free(run->files[i]);
    }
    free(run->files);
    return status;
}

/* ---- starting ---- */

/* "sm_75=OUT" */
static bool add_target(struct weft_vendor_run *run, char *word) {
    char *equals = strchr(word, '=');
    if (!equals || run->target_count == WEFT_VENDOR_TARGETS) {
        return false;
    }
    *equals = '\0';
    if (!weft_vendor.knows(word)) {
        return false;
    }
    run->targets[run->target_count++] =
        (struct weft_vendor_target){.architecture = word, .to = equals + 1};
    return true;
}

static bool read_option(struct weft_vendor_run *run, char ***at) {
    const struct {
        const char *name;
        bool *flag;
        const char **value;
    } options[] = {{"--check", &run->checks, NULL}, {"--apart", &run->apart, NULL},
                   {"--break", NULL, &run->broken}, {"--tools", NULL, &run->tools},
                   {"--clang", NULL, &run->clang},  {"--only", NULL, &run->only}};
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        if (strcmp(**at, options[i].name) == 0) {
            if (options[i].flag) {
                *options[i].flag = true;
            } else {
                *options[i].value = *++*at;
            }
            return **at != NULL;
        }
    }
    if (strcmp(**at, "--jobs") == 0 && *++*at) {
        run->jobs = (uint32_t)strtoul(**at, NULL, 10);
        return run->jobs > 0;
    }
    return **at && add_target(run, **at);
}

static bool read_options(struct weft_vendor_run *run, int argc, char **argv) {
    *run = (struct weft_vendor_run){
        .clang = "clang", .broken = "", .jobs = 1, .isa = weft_isa_of(weft_vendor.name)};
    if (argc < 3) {
        return false;
    }
    run->from = argv[1];
    for (char **at = argv + 2; *at; at++) {
        if (!read_option(run, &at)) {
            return false;
        }
    }
    const bool is_rule = run->broken[0] == '\0' || weft_vendor_breaks(run, "contraction") ||
                         weft_vendor_breaks(run, "flush");
    return run->tools && run->target_count > 0 && is_rule;
}

static weft_status read_version(struct weft_vendor_run *run) {
    char program[512], path[512], *text = NULL;
    size_t size = 0;
    snprintf(program, sizeof program, "%s/%s", run->tools, weft_vendor.name);
    snprintf(path, sizeof path, "%s/version.txt", run->targets[0].to);
    const char *const arguments[] = {program, "--version", NULL};
    if (!weft_run_tool(arguments, path, "/dev/null")) {
        return weft_fail(&weft_vendor_host, WEFT_NOT_FOUND, "%s does not run", program);
    }
    WEFT_TRY(weft_file_read((uint8_t **)&text, &size, 1 << 16, path, &weft_vendor_host));
    const char *version = weft_vendor.version_in(text);
    snprintf(run->version, sizeof run->version, "%.*s", (int)strcspn(version, "\n"), version);
    weft_free(&weft_vendor_host, text);
    return run->version[0] != '\0' ? WEFT_OK
                                   : weft_fail(&weft_vendor_host, WEFT_BAD_FILE,
                                               "%s names no version, see %s", program, path);
}

int main(int argc, char **argv) {
    struct weft_vendor_run run;
    if (!read_options(&run, argc, argv)) {
        fprintf(stderr,
                "usage: weft-%s PIPELINES ARCHITECTURE=OUT... --tools FOLDER [--clang CLANG] "
                "[--check] [--apart] [--break RULE] [--only KERNEL,...] [--jobs N]\n",
                weft_vendor.name);
        return 2;
    }
    weft_status status = WEFT_OK;
    bool is_well = true;
    for (uint32_t i = 0; status == WEFT_OK && i < run.target_count; i++) {
        status = weft_make_folders(run.targets[i].to, &weft_vendor_host);
    }
    status = status ? status : read_version(&run);
    status = status ? status : compile_all(&run);
    for (uint32_t i = 0; i < run.target_count; i++) {
        const struct weft_vendor_target *target = &run.targets[i];
        is_well = is_well && target->failed == 0 && target->split == 0 &&
                  (!run.checks || target->broken == 0);
    }
    return status == WEFT_OK && is_well ? 0 : 1;
}
