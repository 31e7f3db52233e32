/* SPDX-License-Identifier: MIT */
/* Lowering work that several kernels can do. */
#include <stdio.h>
#include <string.h>

#include "graph/choose.h"
#include "graph/cut.h"
#include "graph/lowering.h"

struct job {
    struct weft_lowering *lowering;
    const struct weft_variant_set *set;
    uint32_t batches;
    const void *args;
};

static weft_status measure(double *ms, void *user, uint32_t candidate) {
    const struct job *job = user;
    const struct weft_variant *variant = &job->set->rows[candidate];
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
    return job->lowering->time_dispatch(ms, job->lowering->device, &dispatch);
}

/** What of the arguments makes a row faster than another: all words but the storages, of which the sizes count. */
static void identify(struct weft_choice *choice, const struct job *job) {
    const struct weft_shader_interface *interface = &job->set->rows[0].shader->interface;
    const uint32_t *words = job->args;
    weft_sha256_add(&choice->identity, &job->batches, sizeof job->batches);
    weft_sha256_add(&choice->identity, words, interface->push_size);
    words += interface->push_count;
    for (uint32_t i = 0; i < interface->binding_count; i++) {
        const uint64_t bytes =
            words[i] == WEFT_NO_STORAGE ? 0 : job->lowering->storages[words[i]].bytes;
        weft_sha256_add(&choice->identity, &bytes, sizeof bytes);
    }
    words += interface->binding_count;
    weft_sha256_add(&choice->identity, words, interface->constant_count * sizeof *words);
}

static const char *why_left_out(const struct weft_variant *row, const void *args,
                                const struct weft_chooser *chooser) {
    const bool named = chooser->forced && strcmp(chooser->forced, row->name) == 0;
    const char *missing = weft_variant_missing(row, chooser->device, named);
    return missing || named || !row->suits || row->suits(row, args) ? missing : "for other shapes";
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
                                    .left_out = why_left_out(row, job->args, chooser)};
    }
}

/* Such a dispatch is taken back, and never run. */
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

struct weft_dispatch *weft_lower_variants(struct weft_lowering *lowering,
                                          const struct weft_variant_set *set, uint32_t batches,
                                          const void *args) {
    if (lowering->status != WEFT_OK) {
        return weft_lower_dispatch(lowering);
    }
    const struct weft_variant *first = &set->rows[0];
    if (binds_too_much(lowering, &first->shader->interface, args)) {
        return weft_lower_kernel(lowering, first->shader, first->tiles,
                                 first->grid(first, args, batches), args);
    }
    char work[96];
    snprintf(work, sizeof work, "%s of %s", set->name, lowering->label);
    struct job job = {.lowering = lowering, .set = set, .batches = batches, .args = args};
    struct weft_choice choice = {
        .group = set->group ? set->group(args) : 0, .measure = measure, .user = &job};
    weft_choice_begin(&choice, work, lowering->device);
    weft_sha256_add(&choice.identity, set->name, strlen(set->name) + 1);
    identify(&choice, &job);
    fill_candidates(&choice, &job);
    uint32_t chosen = 0;
    weft_lower_fail(lowering, weft_choose(&chosen, &choice, lowering->chooser));
    if (lowering->status == WEFT_OK && chosen == choice.count) {
        weft_lower_fail(lowering,
                        weft_fail(&lowering->device->host, WEFT_UNSUPPORTED,
                                  "%s has no variant for %s", work, lowering->device->info.name));
    }
    if (lowering->status != WEFT_OK) {
        return weft_lower_dispatch(lowering);
    }
    const struct weft_variant *variant = &set->rows[chosen];
    struct weft_dispatch *dispatch = weft_lower_kernel(lowering, variant->shader, variant->tiles,
                                                       variant->grid(variant, args, batches), args);
    dispatch->pipeline.subgroup = variant->subgroup;
    return dispatch;
}
