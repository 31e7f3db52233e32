/* SPDX-License-Identifier: MIT */
#include "model/other_files.h"

#include <string.h>

#include "core/file.h"
#include "core/system.h"
#include "core/try.h"

#define MOST_BYTES ((size_t)256 << 20)

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

struct copy {
    const char *folder, *out;
    const weft_host *host;
    bool nested; /* it is in the model's folder */
    weft_status status;
};

static weft_status copy_file(const struct copy *copy, const char *from, const char *to) {
    uint8_t *data = NULL;
    size_t size = 0;
    WEFT_TRY(weft_file_read_regular(&data, &size, MOST_BYTES, from, copy->host));
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
    if (facts.kind == WEFT_FILE_FOLDER && !copy->nested && name[0] != '.') {
        struct copy inner = {.folder = from, .out = to, .host = copy->host, .nested = true};
        return copy_folder(&inner);
    }
    return facts.kind == WEFT_FILE_REGULAR && is_wanted(name) ? copy_file(copy, from, to) : WEFT_OK;
}

static bool take(void *user, const char *name) {
    struct copy *copy = user;
    char *from = weft_path_join(copy->folder, name, copy->host);
    char *to = weft_path_join(copy->out, name, copy->host);
    copy->status =
        from && to ? copy_entry(copy, name, from, to) : weft_fail_memory(copy->host, "a path");
    weft_free(copy->host, from);
    weft_free(copy->host, to);
    return copy->status == WEFT_OK;
}

weft_status weft_copy_other_files(const char *folder, const char *out, const weft_host *host) {
    struct copy copy = {.folder = folder, .out = out, .host = host};
    return copy_folder(&copy);
}
