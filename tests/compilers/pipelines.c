/* SPDX-License-Identifier: MIT */
/*
 * weft-pipelines FOLDER reproducible|fused|fast [LIST [compile-only]]: every pipeline that a case of `weft verify`, or one that LIST names, needs on
 * a Vulkan device, which with compile-only may be one that cannot run, as files that compile.c hands to compilers of other devices: KERNEL.HASH.spv, and KERNEL.HASH.json with its constants and its interface. Plans
 * are compiled and not run. In reproducible and fused math the modules are those that define the bits, before what a driver needs is added.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/inspect.h>

#include "cli/pipelines.h"
#include "core/formats/json.h"
#include "core/system/file.h"
#include "core/try.h"
#include "verify/conformance.h"

struct dump {
    const char *folder;
    weft_device *device;
    weft_math math;
    weft_module_form form;
    const char *list; /* names, each on a line; null: all cases */
    uint32_t plans, written;
};

static void print_log(void *user, weft_log_level level, const char *message) {
    (void)user;
    if (level == WEFT_LOG_ERROR) {
        fprintf(stderr, "weft-pipelines: %s\n", message);
    }
}

static const weft_host host = {.log = print_log};

static weft_status write_file(const struct dump *dump, const char *name, const char *ending,
                              const void *data, size_t size) {
    char *path = weft_format(&host, "%s/%s.%s", dump->folder, name, ending);
    const weft_status status =
        path ? weft_file_write(path, data, size, &host) : weft_fail_memory(&host, "a path");
    weft_free(&host, path);
    return status;
}

static weft_status write_interface(const struct dump *dump, const char *name, const char *kernel,
                                   const weft_kernel_info *info) {
    json_t *constants = json_array();
    for (uint32_t i = 0; constants && i < info->specialization_count; i++) {
        json_array_append_new(constants, json_integer(info->specialization[i]));
    }
    json_t *object = json_pack(
        "{s:s, s:s, s:I, s:I, s:I, s:o}", "kernel", kernel, "math", weft_math_name(dump->math),
        "bindings", (json_int_t)info->operand_count, "push_bytes", (json_int_t)info->push_bytes,
        "subgroup", (json_int_t)info->subgroup, "constants", constants);
    char *text = object ? json_dumps(object, JSON_COMPACT) : NULL;
    const weft_status status = text ? write_file(dump, name, "json", text, strlen(text))
                                    : weft_fail_memory(&host, "a pipeline's interface");
    free(text);
    json_decref(object);
    return status;
}

static bool is_there(const struct dump *dump, const char *name) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s.spv", dump->folder, name);
    FILE *file = fopen(path, "rb");
    if (file) {
        fclose(file);
    }
    return file != NULL;
}

static weft_status write_module(struct dump *dump, const weft_plan *plan, uint32_t index,
                                const char *kernel, uint32_t *words, size_t size) {
    weft_kernel_info info;
    char name[WEFT_CLI_PIPELINE_NAME_SIZE];
    WEFT_TRY(weft_plan_get_kernel(plan, index, &info));
    WEFT_TRY(weft_plan_get_module(plan, index, dump->form, words, &size));
    WEFT_TRY(weft_cli_pipeline_name(name, plan, index, dump->form, &host));
    if (is_there(dump, name)) {
        return WEFT_OK;
    }
    WEFT_TRY(write_interface(dump, name, kernel, &info));
    dump->written++;
    return write_file(dump, name, "spv", words, size);
}

static weft_status write_plan(struct dump *dump, const weft_plan *plan) {
    weft_dispatch_info dispatch;
    weft_status status = WEFT_OK;
    dump->plans++;
    for (uint32_t i = 0; status == WEFT_OK && weft_plan_get_dispatch(plan, i, &dispatch) == WEFT_OK;
         i++) {
        size_t size = 0;
        WEFT_TRY(weft_plan_get_module(plan, i, dump->form, NULL, &size));
        uint32_t *words = malloc(size);
        status = words ? write_module(dump, plan, i, dispatch.kernel, words, size)
                       : weft_fail_memory(&host, "a module");
        free(words);
    }
    return status;
}

/* A case that this device or math mode has not, makes nothing. */
static weft_status write_case(struct dump *dump, const weft_case_family *family, uint32_t index) {
    weft_case c;
    weft_status status = weft_case_create(&c, family, index, &host);
    for (int unfused = 0; status == WEFT_OK && unfused <= (int)c.check_fusion; unfused++) {
        weft_plan *plan = NULL;
        if (c.ref.status == WEFT_OK &&
            weft_plan_compile(&plan, dump->device, c.graph,
                              weft_plan_params(.no_fusion = unfused,
                                               .implementation = c.implementation)) == WEFT_OK) {
            status = write_plan(dump, plan);
        }
        weft_plan_destroy(&plan);
    }
    weft_case_destroy(&c);
    weft_device_trim(dump->device);
    return status;
}

static bool is_listed(const struct dump *dump, const weft_case_family *family, uint32_t index) {
    char name[WEFT_CASE_NAME_SIZE];
    weft_case_name(name, family, index);
    const size_t length = strlen(name);
    const char *at = dump->list;
    while (at && (strncmp(at, name, length) != 0 || at[length] != '\n')) {
        at = strchr(at, '\n');
        at = at ? at + 1 : NULL;
    }
    return !dump->list || at;
}

static weft_status write_cases(struct dump *dump) {
    const weft_case_family *family = NULL;
    for (uint32_t i = 0; (family = weft_case_family_at(i)); i++) {
        for (uint32_t k = 0; k < family->count; k++) {
            if (is_listed(dump, family, k)) {
                WEFT_TRY(write_case(dump, family, k));
            }
        }
    }
    return dump->plans > 0 ? WEFT_OK : weft_fail(&host, WEFT_NOT_FOUND, "no case is listed");
}

/* With a zero behind it, and a line break before that. */
static weft_status read_list(char **text, const char *path) {
    uint8_t *data = NULL;
    size_t size = 0;
    WEFT_TRY(weft_file_read(&data, &size, (size_t)1 << 20, path, &host));
    *text = weft_format(&host, "%.*s\n", (int)size, (const char *)data);
    weft_free(&host, data);
    return *text ? WEFT_OK : weft_fail_memory(&host, "a list of cases");
}

static weft_math math_of(const char *name) {
    return strcmp(name, "fast") == 0    ? WEFT_MATH_FAST
           : strcmp(name, "fused") == 0 ? WEFT_MATH_FUSED
                                        : WEFT_MATH_REPRODUCIBLE;
}

static bool is_usage(int argc, char **argv) {
    return argc >= 3 && argc <= 5 && (argc < 5 || strcmp(argv[4], "compile-only") == 0) &&
           strcmp(argv[2], weft_math_name(math_of(argv[2]))) == 0;
}

int main(int argc, char **argv) {
    if (!is_usage(argc, argv)) {
        fprintf(stderr,
                "usage: weft-pipelines FOLDER reproducible|fused|fast [LIST [compile-only]]\n");
        return 2;
    }
    struct dump dump = {.folder = argv[1], .math = math_of(argv[2])};
    dump.form = dump.math == WEFT_MATH_FAST ? WEFT_MODULE_OF_DEVICE : WEFT_MODULE_PORTABLE;
    char *list = NULL;
    weft_status status = argc >= 4 ? read_list(&list, argv[3]) : WEFT_OK;
    dump.list = list;
    status = status ? status : weft_make_folders(dump.folder, &host);
    if (status == WEFT_OK) {
        status = weft_device_open(&dump.device,
                                  weft_device_params(.host = host, .select = "0", .cache_dir = "",
                                                     .compile_only = argc == 5, .math = dump.math));
    }
    status = status ? status : write_cases(&dump);
    weft_device_destroy(&dump.device);
    weft_free(&host, list);
    printf("%u plans, %u pipelines: %s\n", dump.plans, dump.written, weft_status_name(status));
    return status == WEFT_OK ? 0 : 1;
}
