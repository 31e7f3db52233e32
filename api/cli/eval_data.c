/* SPDX-License-Identifier: MIT */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* stat, opendir */
#endif

#include "eval_data.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/file.h"
#include "input.h"

/* An archive may be small and its contents not; this is 500 million tokens. */
#define MEMBER_LIMIT ((size_t)1 << 31)

void weft_cli_data_clear(weft_cli_data *data, const weft_host *host) {
    weft_free(host, data->examples);
    weft_free(host, data->tokens);
    *data = (weft_cli_data){0};
}

/* ---- archives ---- */

int weft_cli_read_row(int32_t **values, weft_npz *npz, const char *member, uint32_t expected,
                      const char *path, const weft_host *host) {
    weft_npy npy = {0};
    weft_status status = weft_npz_get(&npy, npz, member, MEMBER_LIMIT);
    if (status != WEFT_OK) {
        return weft_cli_exit_code_of_file(status);
    }
    if (npy.rank != 1 || npy.shape[0] != expected) {
        char shape[WEFT_NPY_SHAPE_TEXT_SIZE];
        weft_fail(host, WEFT_BAD_FILE, "%s: member %s: expected shape [%u], found %s", path, member,
                  expected, weft_npy_shape_text(&npy, shape));
        weft_npy_close(&npy);
        return WEFT_CLI_BAD_FILE;
    }
    weft_cli_tokens row = {0};
    int exit_code = weft_cli_tokens_of_array(&row, &npy, path, host);
    weft_npy_close(&npy);
    *values = row.values;
    return exit_code;
}

static int read_token_rows(weft_cli_tokens *tokens, weft_npz *npz, const char *path,
                           const weft_host *host) {
    weft_npy npy = {0};
    weft_status status = weft_npz_get(&npy, npz, "tokens", MEMBER_LIMIT);
    if (status != WEFT_OK) {
        return weft_cli_exit_code_of_file(status);
    }
    int exit_code = WEFT_CLI_BAD_FILE;
    if (npy.rank == 2) {
        exit_code = weft_cli_tokens_of_array(tokens, &npy, path, host);
    } else {
        char shape[WEFT_NPY_SHAPE_TEXT_SIZE];
        weft_fail(host, WEFT_BAD_FILE, "%s: member tokens: expected shape [N, n], found %s", path,
                  weft_npy_shape_text(&npy, shape));
    }
    weft_npy_close(&npy);
    return exit_code;
}

/* Fills in the examples; lengths may be null. */
static int make_examples(weft_cli_data *data, const weft_cli_tokens *rows, const int32_t *labels,
                         const int32_t *lengths, const char *path,
                         const weft_cli_session *session) {
    const weft_host *host = &session->host;
    uint32_t label_count = session->info.label_count;
    for (uint32_t index = 0; index < rows->batch; index++) {
        if (labels[index] < 0 || (uint32_t)labels[index] >= label_count) {
            weft_fail(host, WEFT_BAD_FILE,
                      "%s: member labels, example %u: expected 0 to %u, found %d", path, index,
                      label_count - 1, (int)labels[index]);
            return WEFT_CLI_BAD_FILE;
        }
        uint32_t length = rows->length;
        if (lengths != NULL) {
            if (lengths[index] < 1 || (uint32_t)lengths[index] > rows->length) {
                weft_fail(host, WEFT_BAD_FILE,
                          "%s: member lengths, example %u: expected 1 to %u, found %d", path, index,
                          rows->length, (int)lengths[index]);
                return WEFT_CLI_BAD_FILE;
            }
            length = (uint32_t)lengths[index];
        }
        data->examples[index] = (weft_cli_example){.begin = (size_t)index * rows->length,
                                                   .length = length,
                                                   .label = (uint32_t)labels[index]};
    }
    return WEFT_CLI_FINE;
}

/* The tokens that count, example by example, so that a message can name the example. */
static int check_examples(const weft_cli_data *data, const char *path,
                          const weft_cli_session *session) {
    const weft_host *host = &session->host;
    for (uint32_t index = 0; index < data->count; index++) {
        const weft_cli_example *example = &data->examples[index];
        weft_cli_tokens row = {
            .values = &data->tokens[example->begin], .batch = 1, .length = example->length};
        char *name = weft_format(host, "%s: member tokens, example %u", path, index);
        if (name == NULL) {
            return weft_cli_exit_code(weft_fail_memory(host, path));
        }
        int exit_code = weft_cli_check_tokens(&row, &session->info, name, host);
        weft_free(host, name);
        if (exit_code != WEFT_CLI_FINE) {
            return exit_code;
        }
    }
    return WEFT_CLI_FINE;
}

static int load_members(weft_cli_data *data, weft_npz *npz, const char *path,
                        const weft_cli_session *session) {
    const weft_host *host = &session->host;
    weft_cli_tokens rows = {0};
    int exit_code = read_token_rows(&rows, npz, path, host);
    if (exit_code != WEFT_CLI_FINE) {
        return exit_code;
    }
    data->tokens = rows.values;
    data->count = rows.batch;
    data->examples = weft_alloc_zero(host, rows.batch, sizeof *data->examples);
    if (data->examples == NULL) {
        return weft_cli_exit_code(weft_fail_memory(host, path));
    }
    int32_t *labels = NULL;
    int32_t *lengths = NULL;
    exit_code = weft_cli_read_row(&labels, npz, "labels", rows.batch, path, host);
    if (exit_code == WEFT_CLI_FINE && weft_npz_has(npz, "lengths")) {
        exit_code = weft_cli_read_row(&lengths, npz, "lengths", rows.batch, path, host);
    }
    if (exit_code == WEFT_CLI_FINE && labels != NULL) {
        exit_code = make_examples(data, &rows, labels, lengths, path, session);
    }
    weft_free(host, labels);
    weft_free(host, lengths);
    return exit_code == WEFT_CLI_FINE ? check_examples(data, path, session) : exit_code;
}

static int load_archive(weft_cli_data *data, const char *path, const weft_cli_session *session) {
    weft_npz *npz = NULL;
    weft_status status = weft_npz_open(&npz, path, &session->host);
    if (status != WEFT_OK) {
        return weft_cli_exit_code_of_file(status);
    }
    int exit_code = load_members(data, npz, path, session);
    weft_npz_close(&npz);
    return exit_code;
}

/* ---- folders ---- */

typedef struct name_list {
    char **names;
    uint32_t count;
    uint32_t capacity;
} name_list;

static void clear_names(name_list *list, const weft_host *host) {
    for (uint32_t index = 0; index < list->count; index++) {
        weft_free(host, list->names[index]);
    }
    weft_free(host, list->names);
    *list = (name_list){0};
}

static int compare_names(const void *left, const void *right) {
    return strcmp(*(char *const *)left, *(char *const *)right);
}

static bool is_folder(const char *path) {
    struct stat information;
    return stat(path, &information) == 0 && S_ISDIR(information.st_mode);
}

static bool add_name(name_list *list, const char *name, const weft_host *host) {
    char *copy = weft_strdup(host, name);
    if (copy == NULL ||
        !weft_grow(host, &list->names, list->count, &list->capacity, sizeof *list->names)) {
        weft_free(host, copy);
        return false;
    }
    list->names[list->count++] = copy;
    return true;
}

/* The entries of a folder, sorted, without hidden ones. */
static weft_status list_folder(name_list *list, const char *path, const weft_host *host) {
    DIR *folder = opendir(path);
    if (folder == NULL) {
        return weft_fail(host, WEFT_IO_ERROR, "%s: cannot list: %s", path, strerror(errno));
    }
    bool fine = true;
    const struct dirent *entry;
    while (fine && (entry = readdir(folder)) != NULL) {
        fine = entry->d_name[0] == '.' || add_name(list, entry->d_name, host);
    }
    closedir(folder);
    if (!fine) {
        return weft_fail_memory(host, path);
    }
    if (list->count > 0) {
        qsort(list->names, list->count, sizeof *list->names, compare_names);
    }
    return WEFT_OK;
}

/* Whether a folder's name is the label's text or its first word. */
static bool names_label(const char *name, const char *label) {
    size_t word = strcspn(label, " \t");
    return strcmp(name, label) == 0 || (strlen(name) == word && strncmp(name, label, word) == 0);
}

/* The only label of that name; false after a message. */
static bool find_label(uint32_t *found, const char *name, const char *path,
                       const weft_cli_session *session) {
    uint32_t matches = 0;
    for (uint32_t label = 0; label < session->info.label_count; label++) {
        if (names_label(name, weft_model_label(session->model, label))) {
            *found = label;
            matches++;
        }
    }
    if (matches != 1) {
        weft_fail(&session->host, WEFT_BAD_FILE,
                  "%s: expected a folder called as one of the model's %u labels, such as \"%s\"; "
                  "\"%s\" is %s",
                  path, session->info.label_count, weft_model_label(session->model, 0), name,
                  matches == 0 ? "none" : "several");
    }
    return matches == 1;
}

typedef struct folder_reader {
    weft_cli_data *data;
    const weft_cli_session *session;
    uint32_t example_capacity;
    size_t token_count;
    size_t token_capacity;
} folder_reader;

static bool add_example(folder_reader *reader, const weft_cli_tokens *text, uint32_t label) {
    weft_cli_data *data = reader->data;
    const weft_host *host = &reader->session->host;
    if (!weft_grow(host, &data->examples, data->count, &reader->example_capacity,
                   sizeof *data->examples)) {
        return false;
    }
    if (text->length > reader->token_capacity - reader->token_count) {
        size_t capacity = (reader->token_count + text->length) * 2;
        int32_t *tokens = weft_realloc(host, data->tokens, capacity * sizeof *tokens);
        if (tokens == NULL) {
            return false;
        }
        data->tokens = tokens;
        reader->token_capacity = capacity;
    }
    memcpy(&data->tokens[reader->token_count], text->values, text->length * sizeof *text->values);
    data->examples[data->count++] =
        (weft_cli_example){.begin = reader->token_count, .length = text->length, .label = label};
    reader->token_count += text->length;
    return true;
}

static int read_example(folder_reader *reader, const char *path, uint32_t label) {
    const weft_cli_session *session = reader->session;
    weft_cli_tokens text = {0};
    weft_cli_text_note note = {0};
    int exit_code = weft_cli_read_text(&text, &note, session->model, path, &session->host);
    if (exit_code == WEFT_CLI_FINE) {
        exit_code = weft_cli_check_tokens(&text, &session->info, path, &session->host);
    }
    if (exit_code == WEFT_CLI_FINE && !add_example(reader, &text, label)) {
        exit_code = weft_cli_exit_code(weft_fail_memory(&session->host, path));
    }
    reader->data->cut += note.cut ? 1 : 0;
    weft_free(&session->host, text.values);
    return exit_code;
}

static bool is_text(const char *name) {
    size_t length = strlen(name);
    return length > 4 && strcmp(name + length - 4, ".txt") == 0;
}

static int read_label_folder(folder_reader *reader, const char *path, uint32_t label) {
    const weft_host *host = &reader->session->host;
    name_list files = {0};
    int exit_code = weft_cli_exit_code(list_folder(&files, path, host));
    for (uint32_t index = 0; exit_code == WEFT_CLI_FINE && index < files.count; index++) {
        if (!is_text(files.names[index])) {
            continue;
        }
        char *file = weft_path_join(path, files.names[index], host);
        exit_code = file == NULL ? weft_cli_exit_code(weft_fail_memory(host, path))
                                 : read_example(reader, file, label);
        weft_free(host, file);
    }
    clear_names(&files, host);
    return exit_code;
}

static int read_entry(folder_reader *reader, const char *path, const char *name) {
    const weft_host *host = &reader->session->host;
    char *folder = weft_path_join(path, name, host);
    if (folder == NULL) {
        return weft_cli_exit_code(weft_fail_memory(host, path));
    }
    int exit_code = WEFT_CLI_FINE;
    if (is_folder(folder)) {
        uint32_t label = 0;
        exit_code = find_label(&label, name, path, reader->session)
                        ? read_label_folder(reader, folder, label)
                        : WEFT_CLI_BAD_FILE;
    }
    weft_free(host, folder);
    return exit_code;
}

static int load_folder(weft_cli_data *data, const char *path, const weft_cli_session *session) {
    const weft_host *host = &session->host;
    folder_reader reader = {.data = data, .session = session};
    name_list entries = {0};
    int exit_code = weft_cli_exit_code(list_folder(&entries, path, host));
    for (uint32_t index = 0; exit_code == WEFT_CLI_FINE && index < entries.count; index++) {
        exit_code = read_entry(&reader, path, entries.names[index]);
    }
    clear_names(&entries, host);
    if (exit_code == WEFT_CLI_FINE && data->count == 0) {
        weft_fail(host, WEFT_BAD_FILE, "%s: expected texts, LABEL/NAME.txt; found none", path);
        exit_code = WEFT_CLI_BAD_FILE;
    }
    return exit_code;
}

int weft_cli_data_load(weft_cli_data *data, const char *path, const weft_cli_session *session) {
    *data = (weft_cli_data){0};
    int exit_code =
        is_folder(path) ? load_folder(data, path, session) : load_archive(data, path, session);
    if (exit_code != WEFT_CLI_FINE) {
        weft_cli_data_clear(data, &session->host);
    }
    return exit_code;
}
