/* SPDX-License-Identifier: MIT */
#include "model/files/shards.h"

#include <string.h>

#include "core/formats/json.h"
#include "core/system/file.h"
#include "core/system/system.h"
#include "core/try.h"
#include "model/files/other_weights.h"

struct index {
    struct weft_shards *shards;
    const char *folder, *path;
    const weft_host *host;
};

static const char *name_of_file(const weft_safetensors *file) {
    const char *path = weft_safetensors_path(file);
    const char *name = path;
    for (; *path != '\0'; path++) {
        name = weft_system_is_separator(*path) ? path + 1 : name;
    }
    return name;
}

static weft_safetensors *find_file(const struct index *index, const char *name) {
    for (uint32_t i = 0; i < index->shards->count; i++) {
        if (strcmp(name_of_file(index->shards->files[i]), name) == 0) {
            return index->shards->files[i];
        }
    }
    return NULL;
}

/* Also what a name leads to on other systems. */
static bool is_plain(const char *name) {
    static const char end[] = ".safetensors";
    const size_t length = strlen(name);
    return length >= sizeof end && strcspn(name, "/\\:") == length &&
           strcmp(name + length - (sizeof end - 1), end) == 0;
}

static weft_status open_file(const struct index *index, const char *tensor, const char *name) {
    struct weft_shards *shards = index->shards;
    const weft_host *host = index->host;
    char *path = weft_path_join(index->folder, name, host);
    if (!path ||
        !weft_grow(host, &shards->files, shards->count, &shards->capacity, sizeof *shards->files)) {
        weft_free(host, path);
        return weft_fail_memory(host, index->path);
    }
    weft_status status = weft_safetensors_open(&shards->files[shards->count], path, host);
    if (status == WEFT_OK) {
        shards->count++;
    } else if (status == WEFT_NOT_FOUND) {
        status = weft_fail(host, status,
                           "%s: weight_map: tensor \"%.200s\" is in %.200s, which is not there: "
                           "the download is not complete",
                           index->path, tensor, name);
    } else {
        status = weft_other_weights_explain_file(path, status, host);
    }
    weft_free(host, path);
    return status;
}

static weft_status open_files(const struct index *index, json_t *map) {
    const char *tensor = NULL;
    json_t *value = NULL;
    json_object_foreach(map, tensor, value) {
        const char *name = json_string_value(value);
        if (!name || !is_plain(name)) {
            char found[WEFT_JSON_TEXT_SIZE];
            return weft_fail(index->host, WEFT_BAD_FILE,
                             "%s: weight_map: tensor \"%.200s\": expected the name of a "
                             ".safetensors file in the same folder, found %s",
                             index->path, tensor, weft_json_describe(value, found));
        }
        if (!find_file(index, name)) {
            WEFT_TRY(open_file(index, tensor, name));
        }
    }
    return WEFT_OK;
}

/* Each name of the map is of a tensor in its file, and each tensor has its name there. */
static weft_status check_map(const struct index *index, json_t *map) {
    const struct weft_tensor_names *names = &index->shards->names;
    const char *tensor = NULL;
    json_t *value = NULL;
    json_object_foreach(map, tensor, value) {
        const struct weft_named_tensor *found = weft_tensor_names_find(names, tensor);
        const char *file = found ? name_of_file(found->file) : NULL;
        if (!file || strcmp(file, json_string_value(value)) != 0) {
            return weft_fail(index->host, WEFT_BAD_FILE,
                             "%s: weight_map: tensor \"%.200s\": expected it in %.200s, found %s%s",
                             index->path, tensor, json_string_value(value),
                             file ? "it in " : "it nowhere", file ? file : "");
        }
    }
    for (uint32_t i = 0; names->count != json_object_size(map) && i < names->count; i++) {
        if (!json_object_get(map, names->tensors[i].name)) {
            return weft_fail(index->host, WEFT_BAD_FILE,
                             "%s: tensor \"%.200s\": expected it in weight_map of %s, found none",
                             weft_safetensors_path(names->tensors[i].file), names->tensors[i].name,
                             index->path);
        }
    }
    return WEFT_OK;
}

static weft_status open_map(const struct index *index, const json_t *object) {
    json_t *map = json_object_get(object, "weight_map");
    if (!json_is_object(map) || json_object_size(map) == 0) {
        char found[WEFT_JSON_TEXT_SIZE];
        return weft_fail(index->host, WEFT_BAD_FILE,
                         "%s: field \"weight_map\": expected an object of names of tensors and "
                         "files, found %s",
                         index->path, weft_json_describe(map, found));
    }
    struct weft_shards *shards = index->shards;
    WEFT_TRY(open_files(index, map));
    WEFT_TRY(weft_tensor_names_collect(&shards->names, shards->files, shards->count, index->host));
    return check_map(index, map);
}

weft_status weft_shards_open(struct weft_shards *shards, const char *folder, const char *path,
                             const weft_host *host) {
    json_t *object = NULL;
    const struct index index = {.shards = shards, .folder = folder, .path = path, .host = host};
    weft_status status = weft_json_read(&object, path, host);
    if (status != WEFT_OK) {
        return weft_other_weights_explain_file(path, status, host);
    }
    status = open_map(&index, object);
    json_decref(object);
    return status;
}

weft_status weft_shards_take(struct weft_shards *shards, weft_safetensors *file) {
    const weft_host host = *weft_safetensors_host(file);
    if (!weft_grow(&host, &shards->files, shards->count, &shards->capacity,
                   sizeof *shards->files)) {
        const weft_status status = weft_fail_memory(&host, weft_safetensors_path(file));
        weft_safetensors_close(&file);
        return status;
    }
    shards->files[shards->count++] = file;
    return weft_tensor_names_collect(&shards->names, shards->files, shards->count, &host);
}

void weft_shards_close(struct weft_shards *shards, const weft_host *host) {
    weft_tensor_names_free(&shards->names, host);
    for (uint32_t i = 0; i < shards->count; i++) {
        weft_safetensors_close(&shards->files[i]);
    }
    weft_free(host, shards->files);
    *shards = (struct weft_shards){.count = 0};
}
