/* SPDX-License-Identifier: MIT */
#include "eval/texts.h"

#include <stdlib.h>
#include <string.h>

#include "core/file.h"
#include "core/system.h"
#include "input.h"

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

static bool add_name(name_list *list, const char *name, const weft_host *host) {
    char *copy = weft_strdup(host, name);
    if (!copy ||
        !weft_grow(host, &list->names, list->count, &list->capacity, sizeof *list->names)) {
        weft_free(host, copy);
        return false;
    }
    list->names[list->count++] = copy;
    return true;
}

struct listing {
    name_list *list;
    const weft_host *host;
    bool fine;
};

static bool take_name(void *user, const char *name) {
    struct listing *listing = user;
    listing->fine = name[0] == '.' || add_name(listing->list, name, listing->host);
    return listing->fine;
}

/* The entries of a folder, sorted, without hidden ones. */
static weft_status list_folder(name_list *list, const char *path, const weft_host *host) {
    struct listing listing = {list, host, true};
    const int error = weft_system_list(path, take_name, &listing);
    if (error != 0) {
        char reason[128];
        weft_system_error_text(reason, sizeof reason, error);
        return weft_fail(host, WEFT_IO_ERROR, "%s: cannot list: %s", path, reason);
    }
    if (!listing.fine) {
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
                  "%s: expected a folder named after one of the model's %u labels, such as \"%s\"; "
                  "\"%s\" is %s",
                  path, session->info.label_count, weft_model_label(session->model, 0), name,
                  matches == 0 ? "none" : "several");
    }
    return matches == 1;
}

typedef struct folder_reader {
    const weft_cli_session *session;
    weft_cli_adder adder;
    uint32_t label_count;
    uint32_t label_capacity;
} folder_reader;

static bool add_example(folder_reader *reader, const weft_cli_tokens *text, uint32_t label) {
    weft_cli_data *data = reader->adder.data;
    if (!weft_grow(&reader->session->host, &data->labels, reader->label_count,
                   &reader->label_capacity, sizeof *data->labels) ||
        !weft_cli_data_add(&reader->adder, text->values, NULL, text->length)) {
        return false;
    }
    data->labels[reader->label_count++] = (int32_t)label;
    return true;
}

static int read_example(folder_reader *reader, const char *path, uint32_t label) {
    const weft_cli_session *session = reader->session;
    weft_cli_tokens text = {0};
    weft_cli_text_note note = {0};
    WEFT_CLI_TRY(weft_cli_read_text(&text, &note, session->model, &(weft_cli_source){.file = path},
                                    &session->host));
    int exit_code = weft_cli_check_tokens(&text, &session->info, path, &session->host);
    if (exit_code == WEFT_CLI_FINE && !add_example(reader, &text, label)) {
        exit_code = weft_cli_exit_code(weft_fail_memory(&session->host, path));
    }
    reader->adder.data->cut += note.cut ? 1 : 0;
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
        exit_code = !file ? weft_cli_exit_code(weft_fail_memory(host, path))
                          : read_example(reader, file, label);
        weft_free(host, file);
    }
    clear_names(&files, host);
    return exit_code;
}

static int read_entry(folder_reader *reader, const char *path, const char *name) {
    const weft_host *host = &reader->session->host;
    char *folder = weft_path_join(path, name, host);
    if (!folder) {
        return weft_cli_exit_code(weft_fail_memory(host, path));
    }
    int exit_code = WEFT_CLI_FINE;
    if (weft_cli_is_folder(folder)) {
        uint32_t label = 0;
        exit_code = find_label(&label, name, path, reader->session)
                        ? read_label_folder(reader, folder, label)
                        : WEFT_CLI_BAD_FILE;
    }
    weft_free(host, folder);
    return exit_code;
}

/* A folder gives each text one label, which only a classifier can use. */
static int check_classifier(const char *path, const weft_cli_session *session) {
    if (session->info.task == WEFT_TASK_CLASSIFY || session->info.task == WEFT_TASK_NEXT_SENTENCE) {
        return WEFT_CLI_FINE;
    }
    return weft_cli_bad_file(
        &session->host,
        "%s: expected an .npz file, since the task of the model %s is %s, found a folder", path,
        session->folder, weft_task_name(session->info.task));
}

int weft_cli_texts_load(weft_cli_data *data, const char *path, const weft_cli_session *session) {
    const weft_host *host = &session->host;
    folder_reader reader = {.session = session, .adder = {.data = data, .host = host}};
    name_list entries = {0};
    WEFT_CLI_TRY(check_classifier(path, session));
    int exit_code = weft_cli_exit_code(list_folder(&entries, path, host));
    for (uint32_t index = 0; exit_code == WEFT_CLI_FINE && index < entries.count; index++) {
        exit_code = read_entry(&reader, path, entries.names[index]);
    }
    clear_names(&entries, host);
    if (exit_code == WEFT_CLI_FINE && data->sequence_count == 0) {
        weft_fail(host, WEFT_BAD_FILE, "%s: expected texts, LABEL/NAME.txt; found none", path);
        exit_code = WEFT_CLI_BAD_FILE;
    }
    return exit_code;
}
