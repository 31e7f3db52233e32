/* SPDX-License-Identifier: MIT */
#include "eval/texts.h"

#include <string.h>

#include "core/system/file.h"
#include "core/system/folder.h"
#include "input.h"

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
    struct weft_names files = {0};
    int exit_code = weft_cli_exit_code(weft_folder_list(&files, path, host));
    for (uint32_t index = 0; exit_code == WEFT_CLI_FINE && index < files.count; index++) {
        if (!is_text(files.at[index])) {
            continue;
        }
        char *file = weft_path_join(path, files.at[index], host);
        exit_code = !file ? weft_cli_exit_code(weft_fail_memory(host, path))
                          : read_example(reader, file, label);
        weft_free(host, file);
    }
    weft_names_free(&files, host);
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
    struct weft_names entries = {0};
    WEFT_CLI_TRY(check_classifier(path, session));
    int exit_code = weft_cli_exit_code(weft_folder_list(&entries, path, host));
    for (uint32_t index = 0; exit_code == WEFT_CLI_FINE && index < entries.count; index++) {
        exit_code = read_entry(&reader, path, entries.at[index]);
    }
    weft_names_free(&entries, host);
    if (exit_code == WEFT_CLI_FINE && data->sequence_count == 0) {
        weft_fail(host, WEFT_BAD_FILE, "%s: expected texts, LABEL/NAME.txt; found none", path);
        exit_code = WEFT_CLI_BAD_FILE;
    }
    return exit_code;
}
