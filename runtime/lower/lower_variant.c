/* SPDX-License-Identifier: MIT */
/* Lowering work that several kernels can do. */
#include <stdio.h>
#include <string.h>

#include "lower/choose.h"
#include "lower/cut.h"
#include "lower/lowering.h"

struct job {
    struct weft_lowering *lowering;
    const struct weft_variant_set *set;
    uint32_t batches;
    const void *args;
};

static struct weft_measured_dispatch dispatch_of(const struct job *job, uint32_t row) {
    const struct weft_variant *variant = &job->set->rows[row];
    const struct weft_shader_interface *interface = &variant->shader->interface;
    const uint32_t *storages = (const uint32_t *)job->args + interface->push_count;
    struct weft_measured_dispatch dispatch = {.variant = variant,
                                              .grid =
                                                  variant->grid(variant, job->args, job->batches),
                                              .args = job->args};
    for (uint32_t i = 0; i < interface->binding_count; i++) {
        const bool none = storages[i] == WEFT_NO_STORAGE;
        dispatch.bytes[i] = none ? 0 : job->lowering->storages[storages[i]].bytes;
    }
    return dispatch;
}

static weft_status measure(double *ms, void *user, uint32_t candidate) {
    const struct job *job = user;
    const struct weft_measured_dispatch dispatch = dispatch_of(job, candidate);
    return job->lowering->engine->time_dispatch(ms, job->lowering->device, &dispatch);
}

static weft_status prepare(const struct weft_choice *choice) {
    const struct job *job = choice->user;
    struct weft_measured_dispatch dispatches[WEFT_MAX_VARIANTS];
    uint32_t count = 0;
    for (uint32_t i = 0; i < choice->count; i++) {
        if (!choice->candidates[i].left_out) {
            dispatches[count++] = dispatch_of(job, i);
        }
    }
    return job->lowering->engine->compile_dispatches(job->lowering->device, dispatches, count);
}

/** Adds the arguments that make a row faster than another: all words but storages, of which only the sizes count. */
static void identify(weft_sha256 *identity, const void *user) {
    const struct job *job = user;
    const struct weft_shader_interface *interface = &job->set->rows[0].shader->interface;
    const uint32_t *words = job->args;
    weft_sha256_add(identity, job->set->name, strlen(job->set->name) + 1);
    weft_sha256_add(identity, &job->batches, sizeof job->batches);
    weft_sha256_add(identity, words, interface->push_size);
    words += interface->push_count;
    for (uint32_t i = 0; i < interface->binding_count; i++) {
        const uint64_t bytes =
            words[i] == WEFT_NO_STORAGE ? 0 : job->lowering->storages[words[i]].bytes;
        weft_sha256_add(identity, &bytes, sizeof bytes);
    }
    words += interface->binding_count;
    weft_sha256_add(identity, words, interface->constant_count * sizeof *words);
}

static bool is_crowded(const struct weft_variant *row, const struct job *job) {
    uint32_t groups[3];
    weft_lower_groups(groups, job->lowering, &row->shader->interface,
                      row->grid(row, job->args, job->batches));
    return weft_lower_crowded_axis(job->lowering, groups) < 3;
}

static const char *why_left_out(const struct weft_variant *row, const struct job *job) {
    const struct weft_chooser *chooser = job->lowering->chooser;
    const bool named = chooser->forced && strcmp(chooser->forced, row->name) == 0;
    const char *missing = weft_variant_missing(row, chooser->device, named);
    if (missing || named) {
        return missing;
    }
    return row->suits && !row->suits(row, job->args) ? "for other shapes"
           : is_crowded(row, job) ? "more workgroups along an axis than one dispatch may have"
                                  : NULL;
}

static void fill_candidates(struct weft_choice *choice, const struct job *job) {
    const struct weft_chooser *chooser = job->lowering->chooser;
    choice->count = job->set->count;
    for (uint32_t i = 0; i < choice->count; i++) {
        const struct weft_variant *row = &job->set->rows[i];
        choice->candidates[i] =
            (struct weft_candidate){.name = row->name,
                                    .bits = row->bits,
                                    .cost = weft_cost_on(&row->cost, chooser->device),
                                    .left_out = why_left_out(row, job)};
    }
}

/* Such a dispatch is taken back, and never run (cut.c). */
static bool binds_too_much(const struct weft_lowering *lowering,
                           const struct weft_shader_interface *interface, const uint32_t *args) {
    const uint32_t *storages = args + interface->push_count;
    bool found = false;
    for (uint32_t i = 0; i < interface->binding_count; i++) {
        found = found || (storages[i] != WEFT_NO_STORAGE &&
                          lowering->storages[storages[i]].bytes > weft_cut_limit(lowering));
    }
    return found;
}

static struct weft_dispatch *lower_row(const struct job *job, uint32_t row) {
    const struct weft_variant *variant = &job->set->rows[row];
    struct weft_dispatch *dispatch =
        weft_lower_kernel(job->lowering, variant->shader, variant->tiles,
                          variant->grid(variant, job->args, job->batches), job->args);
    dispatch->pipeline.subgroup = variant->subgroup;
    return dispatch;
}

/* Likewise, where no row is left that has as few workgroups as the device takes: the first that has more; or `count`. */
static uint32_t find_crowded(const struct job *job) {
    uint32_t row = 0;
    while (row < job->set->count && !is_crowded(&job->set->rows[row], job)) {
        row++;
    }
    return row;
}

struct weft_dispatch *weft_lower_variants(struct weft_lowering *lowering,
                                          const struct weft_variant_set *set, uint32_t batches,
                                          const void *args) {
    struct job job = {.lowering = lowering, .set = set, .batches = batches, .args = args};
    if (lowering->status != WEFT_OK) {
        return weft_lower_dispatch(lowering);
    }
    if (binds_too_much(lowering, &set->rows[0].shader->interface, args)) {
        return lower_row(&job, 0);
    }
    char work[96];
    snprintf(work, sizeof work, "%s of %s", set->name, lowering->label);
    struct weft_choice choice = {
        .work = work, .identify = identify, .prepare = prepare, .measure = measure, .user = &job};
    fill_candidates(&choice, &job);
    uint32_t chosen = 0;
    weft_lower_fail(lowering, weft_choose(&chosen, &choice, lowering->chooser));
    if (lowering->status == WEFT_OK && chosen == choice.count) {
        chosen = find_crowded(&job);
    }
    if (lowering->status == WEFT_OK && chosen == choice.count) {
        weft_lower_fail(lowering,
                        weft_fail(&lowering->device->host, WEFT_UNSUPPORTED,
                                  "%s has no variant for %s", work, lowering->device->info.name));
    }
    return lowering->status == WEFT_OK ? lower_row(&job, chosen) : weft_lower_dispatch(lowering);
}
