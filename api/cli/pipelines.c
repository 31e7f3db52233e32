/* SPDX-License-Identifier: MIT */
#include "pipelines.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/hash.h"
#include "core/system/file.h"
#include "core/try.h"

#define DIGITS 12 /* of a SHA-256, in names */

/* ---- names ---- */

static weft_status hash_module(weft_digest *digest, const weft_plan *plan, uint32_t dispatch,
                               weft_module_form form, const weft_kernel_info *info,
                               const weft_host *host) {
    size_t size = 0;
    WEFT_TRY(weft_plan_get_module(plan, dispatch, form, NULL, &size));
    uint32_t *words = weft_alloc(host, size);
    if (!words) {
        return weft_fail_memory(host, "a module");
    }
    const weft_status status = weft_plan_get_module(plan, dispatch, form, words, &size);
    if (status == WEFT_OK) {
        weft_sha256 hash;
        weft_sha256_begin(&hash);
        weft_sha256_add(&hash, words, size);
        weft_sha256_add(&hash, info->specialization,
                        info->specialization_count * sizeof *info->specialization);
        *digest = weft_sha256_end(&hash);
    }
    weft_free(host, words);
    return status;
}

weft_status weft_cli_pipeline_name(char name[WEFT_CLI_PIPELINE_NAME_SIZE], const weft_plan *plan,
                                   uint32_t dispatch, weft_module_form form,
                                   const weft_host *host) {
    weft_dispatch_info found;
    weft_kernel_info info;
    weft_digest digest;
    char text[WEFT_DIGEST_TEXT_SIZE];
    WEFT_TRY(weft_plan_get_dispatch(plan, dispatch, &found));
    WEFT_TRY(weft_plan_get_kernel(plan, dispatch, &info));
    WEFT_TRY(hash_module(&digest, plan, dispatch, form, &info, host));
    snprintf(name, WEFT_CLI_PIPELINE_NAME_SIZE, "%.120s.%.*s", found.kernel, DIGITS,
             weft_digest_text(&digest, text));
    for (char *at = name; *at != '\0'; at++) {
        *at = (char)(strchr("/ ", *at) ? '-' : *at);
    }
    return WEFT_OK;
}

/* ---- what was made of them ---- */

static json_t *number_json(double value) {
    const double most = 9007199254740992.0; /* 2^53 */
    const bool is_whole = value == floor(value) && fabs(value) < most;
    return is_whole ? json_integer((json_int_t)value) : weft_cli_json_real(value);
}

json_t *weft_cli_executable_json(const weft_executable *executable) {
    json_t *statistics = json_object();
    for (uint32_t i = 0; i < executable->statistic_count; i++) {
        const weft_statistic *statistic = &executable->statistics[i];
        statistics =
            weft_cli_json_field(statistics, statistic->name, number_json(statistic->value));
    }
    return json_pack("{s:I, s:o}", "subgroup_size", (json_int_t)executable->subgroup_size,
                     "statistics", statistics);
}

/* "OUT/NAME.Final_Assembly.txt" */
static char *listing_path(const char *folder, const char *name, const weft_listing *listing,
                          const weft_host *host) {
    char kind[WEFT_EXECUTABLE_NAME_SIZE];
    size_t length = 0;
    for (; listing->name[length] != '\0'; length++) {
        const char letter = listing->name[length];
        const bool plain = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
                           (letter >= '0' && letter <= '9');
        kind[length] = (char)(plain ? letter : '_');
    }
    kind[length] = '\0';
    return weft_format(host, "%s/%s.%s.txt", folder, name, kind);
}

weft_status weft_cli_write_listings(const weft_executable *executable, const char *folder,
                                    const char *name, const weft_host *host) {
    weft_status status = WEFT_OK;
    for (uint32_t i = 0; i < executable->listing_count && status == WEFT_OK; i++) {
        const weft_listing *listing = &executable->listings[i];
        char *path = listing_path(folder, name, listing, host);
        status = path ? weft_file_write(path, listing->text, strlen(listing->text), host)
                      : weft_fail_memory(host, "a path");
        weft_free(host, path);
    }
    return status;
}
