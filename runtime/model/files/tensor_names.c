/* SPDX-License-Identifier: MIT */
#include "model/files/tensor_names.h"

#include <stdlib.h>
#include <string.h>

#include "core/try.h"

static int compare(const void *left, const void *right) {
    const struct weft_named_tensor *a = left;
    const struct weft_named_tensor *b = right;
    return strcmp(a->name, b->name);
}

static const struct weft_named_tensor *find_in(const struct weft_named_tensor *list, uint32_t count,
                                               const char *name) {
    const struct weft_named_tensor key = {.name = name};
    return count > 0 ? bsearch(&key, list, count, sizeof key, compare) : NULL;
}

static weft_status collect_tensors(struct weft_tensor_names *names, weft_safetensors *const *files,
                                   uint32_t file_count, const weft_host *host) {
    uint64_t count = 0;
    for (uint32_t i = 0; i < file_count; i++) {
        count += weft_safetensors_count(files[i]);
    }
    if (count == 0) {
        return WEFT_OK;
    }
    names->tensors = weft_alloc_zero(host, (size_t)count, sizeof *names->tensors);
    if (!names->tensors) {
        return weft_fail_memory(host, "names of tensors");
    }
    for (uint32_t i = 0; i < file_count; i++) {
        for (uint32_t k = 0; k < weft_safetensors_count(files[i]); k++) {
            const weft_safetensors_tensor *tensor = weft_safetensors_at(files[i], k);
            names->tensors[names->count++] =
                (struct weft_named_tensor){tensor->name, files[i], tensor};
        }
    }
    qsort(names->tensors, names->count, sizeof *names->tensors, compare);
    for (uint32_t i = 1; i < names->count; i++) {
        const struct weft_named_tensor *pair = &names->tensors[i - 1];
        if (compare(&pair[0], &pair[1]) == 0) {
            return weft_fail(host, WEFT_BAD_FILE, "%s: tensor \"%.200s\" is also in %s",
                             weft_safetensors_path(pair[0].file), pair[0].name,
                             weft_safetensors_path(pair[1].file));
        }
    }
    return WEFT_OK;
}

/* The tensor that a note names, if the key of the note is no tensor's name; other notes mean nothing here. */
static const struct weft_named_tensor *noted_tensor(const struct weft_tensor_names *names,
                                                    const weft_safetensors_note *note) {
    return find_in(names->tensors, names->count, note->key)
               ? NULL
               : find_in(names->tensors, names->count, note->value);
}

/* Files of one model may note the same: it is kept once. */
static weft_status keep_each_once(struct weft_tensor_names *names, const weft_host *host) {
    const uint32_t found = names->other_count;
    qsort(names->others, found, sizeof *names->others, compare);
    names->other_count = 0;
    for (uint32_t i = 0; i < found; i++) {
        const struct weft_named_tensor *last = &names->others[i > 0 ? names->other_count - 1 : 0];
        const struct weft_named_tensor *other = &names->others[i];
        if (i > 0 && compare(last, other) == 0) {
            if (last->tensor != other->tensor) {
                return weft_fail(host, WEFT_BAD_FILE,
                                 "%s: __metadata__: \"%.200s\" stands for \"%.200s\" and for "
                                 "\"%.200s\"",
                                 weft_safetensors_path(other->file), other->name,
                                 last->tensor->name, other->tensor->name);
            }
            continue;
        }
        names->others[names->other_count++] = *other;
    }
    return WEFT_OK;
}

static weft_status collect_others(struct weft_tensor_names *names, weft_safetensors *const *files,
                                  uint32_t file_count, const weft_host *host) {
    uint64_t most = 0;
    for (uint32_t i = 0; i < file_count; i++) {
        for (uint32_t k = 0; k < weft_safetensors_note_count(files[i]); k++) {
            most += noted_tensor(names, weft_safetensors_note_at(files[i], k)) != NULL;
        }
    }
    if (most == 0) {
        return WEFT_OK;
    }
    names->others = weft_alloc_zero(host, (size_t)most, sizeof *names->others);
    if (!names->others) {
        return weft_fail_memory(host, "names of tensors");
    }
    for (uint32_t i = 0; i < file_count; i++) {
        for (uint32_t k = 0; k < weft_safetensors_note_count(files[i]); k++) {
            const weft_safetensors_note *note = weft_safetensors_note_at(files[i], k);
            const struct weft_named_tensor *kept = noted_tensor(names, note);
            if (kept) {
                names->others[names->other_count++] =
                    (struct weft_named_tensor){note->key, kept->file, kept->tensor};
            }
        }
    }
    return keep_each_once(names, host);
}

weft_status weft_tensor_names_collect(struct weft_tensor_names *names,
                                      weft_safetensors *const *files, uint32_t file_count,
                                      const weft_host *host) {
    WEFT_TRY(collect_tensors(names, files, file_count, host));
    return collect_others(names, files, file_count, host);
}

void weft_tensor_names_free(struct weft_tensor_names *names, const weft_host *host) {
    weft_free(host, names->tensors);
    weft_free(host, names->others);
    *names = (struct weft_tensor_names){.count = 0};
}

const struct weft_named_tensor *weft_tensor_names_find(const struct weft_tensor_names *names,
                                                       const char *name) {
    const struct weft_named_tensor *found = find_in(names->tensors, names->count, name);
    return found ? found : find_in(names->others, names->other_count, name);
}
