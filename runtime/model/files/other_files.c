/* SPDX-License-Identifier: MIT */
#include "model/files/other_files.h"

#include <string.h>

#include "core/system/file.h"
#include "core/system/system.h"
#include "core/try.h"

#define MOST_BYTES ((size_t)256 << 20)
#define CONFIG     "config.json"

static bool ends(const char *name, const char *end) {
    const size_t length = strlen(name), size = strlen(end);
    return length >= size && strcmp(name + length - size, end) == 0;
}

static bool is_wanted(const char *name) {
    static const char *const all[] = {".json", ".txt", ".model", ".jinja", ".md"};
    bool found = false;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        found = found || ends(name, all[i]);
    }
    return found && name[0] != '.' && !ends(name, ".index.json");
}

/* ---- where links lead ---- */

struct place {
    char root[WEFT_SYSTEM_PATH_SIZE]; /* the model's folder, without links */
    char path[WEFT_SYSTEM_PATH_SIZE]; /* what was looked at last, likewise */
};

static size_t last_separator(const char *path, size_t length) {
    while (length > 0 && !weft_system_is_separator(path[length - 1])) {
        length--;
    }
    return length > 0 ? length - 1 : 0;
}

static bool is_below(const char *path, const char *root, size_t length) {
    return strncmp(path, root, length) == 0 &&
           (weft_system_is_separator(path[length]) ||
            (length > 0 && weft_system_is_separator(path[length - 1])));
}

/*
 * The cache of the Hub has a folder of links for each revision, .../snapshots/REVISION, and beside snapshots the files: blobs/HASH.
 * Paths are without links, so that these are those folders themselves.
 */
static bool is_blob(const struct place *place) {
    const char *root = place->root, *path = place->path;
    const size_t snapshots = last_separator(root, strlen(root));
    const size_t above = last_separator(root, snapshots);
    const size_t name = last_separator(path, strlen(path));
    const size_t blobs = last_separator(path, name);
    const char *hash = path + name + 1;
    return above > 0 && snapshots - above == strlen("/snapshots") &&
           strncmp(root + above + 1, "snapshots", strlen("snapshots")) == 0 && blobs == above &&
           strncmp(root, path, above) == 0 && name - blobs == strlen("/blobs") &&
           strncmp(path + blobs + 1, "blobs", strlen("blobs")) == 0 &&
           strspn(hash, "0123456789abcdef") == strlen(hash) && strlen(hash) >= 40;
}

/* Whoever made the folder may have put links into it to files of ours, and may be shown what is made of the folder. */
static weft_status check_place(struct place *place, const char *from, const weft_host *host) {
    const int error = weft_system_resolve(place->path, from);
    if (error != 0) {
        return weft_file_fail(host, error, "resolve", from);
    }
    return is_below(place->path, place->root, strlen(place->root)) || is_blob(place)
               ? WEFT_OK
               : weft_fail(host, WEFT_BAD_FILE,
                           "%s: expected a file or folder of the model's folder, found a link out "
                           "of it, to %s: remove the link, or put that in its place",
                           from, place->path);
}

/* ---- copying ---- */

struct copy {
    const char *folder, *out; /* out null: links are looked at, and nothing is copied */
    const weft_host *host;
    struct place *place;
    bool nested; /* it is in the model's folder */
    weft_status status;
};

static weft_status copy_file(const struct copy *copy, const char *to) {
    uint8_t *data = NULL;
    size_t size = 0;
    WEFT_TRY(weft_file_read_regular(&data, &size, MOST_BYTES, copy->place->path, copy->host));
    weft_status status = weft_make_folders(copy->out, copy->host);
    if (status == WEFT_OK) {
        status = weft_file_write(to, data, size, copy->host);
    }
    weft_free(copy->host, data);
    return status;
}

static bool take(void *user, const char *name);

static weft_status copy_folder(struct copy *copy) {
    const int error = weft_system_list(copy->folder, take, copy);
    if (error != 0) {
        char text[128];
        weft_system_error_text(text, sizeof text, error);
        return weft_fail(copy->host, WEFT_IO_ERROR, "%s: %s", copy->folder, text);
    }
    return copy->status;
}

static weft_status copy_entry(const struct copy *copy, const char *name, const char *from,
                              const char *to) {
    weft_file_facts facts;
    if (weft_system_facts(&facts, from) != 0) {
        return WEFT_OK; /* a link that leads nowhere */
    }
    const bool entered = facts.kind == WEFT_FILE_FOLDER && !copy->nested && name[0] != '.';
    const bool copied = facts.kind == WEFT_FILE_REGULAR && is_wanted(name);
    if (!entered && !copied) {
        return WEFT_OK;
    }
    WEFT_TRY(check_place(copy->place, from, copy->host));
    if (copied) {
        return copy->out ? copy_file(copy, to) : WEFT_OK;
    }
    struct copy inner = *copy;
    inner.folder = from;
    inner.out = copy->out ? to : NULL;
    inner.nested = true;
    return copy_folder(&inner);
}

static weft_status copy_named(const struct copy *copy, const char *name) {
    const weft_host *host = copy->host;
    char *from = weft_path_join(copy->folder, name, host);
    char *to = weft_path_join(copy->out ? copy->out : "", name, host);
    const weft_status status =
        from && to ? copy_entry(copy, name, from, to) : weft_fail_memory(host, "a path");
    weft_free(host, from);
    weft_free(host, to);
    return status;
}

static bool take(void *user, const char *name) {
    struct copy *copy = user;
    if (copy->nested || !copy->out || strcmp(name, CONFIG) != 0) {
        copy->status = copy_named(copy, name);
    }
    return copy->status == WEFT_OK;
}

static weft_status copy_all(const char *folder, const char *out, const weft_host *host) {
    struct place *place = weft_alloc(host, sizeof *place);
    if (!place) {
        return weft_fail_memory(host, "paths");
    }
    struct copy copy = {.folder = folder, .out = out, .host = host, .place = place};
    const int error = weft_system_resolve(place->root, folder);
    weft_status status =
        error == 0 ? copy_folder(&copy) : weft_file_fail(host, error, "resolve", folder);
    if (status == WEFT_OK && out) {
        status = copy_named(&copy, CONFIG);
    }
    weft_free(host, place);
    return status;
}

weft_status weft_check_other_files(const char *folder, const weft_host *host) {
    return copy_all(folder, NULL, host);
}

weft_status weft_copy_other_files(const char *folder, const char *out, const weft_host *host) {
    return copy_all(folder, out, host);
}
