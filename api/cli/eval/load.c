/* SPDX-License-Identifier: MIT */
#include "eval/load.h"

#include "eval/texts.h"
#include "members.h"

typedef struct reader {
    weft_cli_archive archive;
    weft_cli_data *data;
    const weft_cli_session *session;
    uint32_t length; /* of a whole row */
    bool looks;      /* only at what the members are: nothing is unpacked yet */
} reader;

static bool has(const reader *self, const char *member) {
    return weft_npz_has(self->archive.npz, member);
}

static int take_integers(int32_t **values, uint32_t shape[WEFT_CLI_MEMBER_RANK], reader *self,
                         const weft_cli_member *member) {
    return self->looks ? weft_cli_member_look(shape, &self->archive, member)
                       : weft_cli_member_integers(values, shape, &self->archive, member);
}

static int take_reals(float **values, uint32_t shape[WEFT_CLI_MEMBER_RANK], reader *self,
                      const weft_cli_member *member) {
    return self->looks ? weft_cli_member_look(shape, &self->archive, member)
                       : weft_cli_member_reals(values, shape, &self->archive, member);
}

/* Tokens or inputs, whichever there are: whether they are what the model takes is checked later. */
static int read_rows(reader *self) {
    weft_cli_data *data = self->data;
    uint32_t shape[WEFT_CLI_MEMBER_RANK] = {0};
    if (has(self, "tokens") && has(self, "inputs")) {
        return weft_cli_bad_file(self->archive.host,
                                 "%s: expected one of the members tokens and inputs, found both",
                                 data->path);
    }
    bool features =
        has(self, "inputs") || (!has(self, "tokens") && self->session->info.input_size > 0);
    const weft_cli_member tokens = {.name = "tokens", .values = WEFT_CLI_INTEGERS, .axes = "Nn"};
    const weft_cli_member inputs = {
        .name = "inputs", .values = WEFT_CLI_REALS_OR_BYTES, .axes = "Nnc"};
    int exit_code = features ? take_reals(&data->features, shape, self, &inputs)
                             : take_integers(&data->tokens, shape, self, &tokens);
    data->sequence_count = shape[0];
    self->length = shape[1];
    data->feature_size = features ? shape[2] : 0;
    return exit_code;
}

static int read_positions(reader *self) {
    weft_cli_data *data = self->data;
    if (!has(self, "positions")) {
        return WEFT_CLI_FINE;
    }
    const weft_cli_member expected = {.name = "positions",
                                      .values = WEFT_CLI_REALS,
                                      .axes = "Nnl",
                                      .shape = {data->sequence_count, self->length, 0}};
    uint32_t shape[WEFT_CLI_MEMBER_RANK] = {0};
    int exit_code = take_reals(&data->positions, shape, self, &expected);
    data->position_size = shape[2];
    return exit_code;
}

static int check_lengths(const reader *self, const int32_t *lengths) {
    for (uint32_t row = 0; row < self->data->sequence_count; row++) {
        if (lengths[row] < 1 || (uint32_t)lengths[row] > self->length) {
            return weft_cli_bad_file(self->archive.host,
                                     "%s: member lengths, sequence %u: expected 1 to %u, found %d",
                                     self->data->path, row, self->length, (int)lengths[row]);
        }
    }
    return WEFT_CLI_FINE;
}

static int make_sequences(reader *self) {
    weft_cli_data *data = self->data;
    const weft_host *host = self->archive.host;
    const weft_cli_member expected = {.name = "lengths",
                                      .values = WEFT_CLI_INTEGERS,
                                      .axes = "N",
                                      .shape = {data->sequence_count}};
    int32_t *lengths = NULL;
    uint32_t shape[WEFT_CLI_MEMBER_RANK];
    int exit_code = WEFT_CLI_FINE;
    if (self->looks) {
        return has(self, "lengths") ? weft_cli_member_look(shape, &self->archive, &expected)
                                    : WEFT_CLI_FINE;
    }
    data->sequences = weft_alloc_zero(host, data->sequence_count, sizeof *data->sequences);
    if (!data->sequences) {
        return weft_cli_exit_code(weft_fail_memory(host, data->path));
    }
    if (has(self, "lengths")) {
        exit_code = weft_cli_member_integers(&lengths, shape, &self->archive, &expected);
        exit_code = exit_code == WEFT_CLI_FINE ? check_lengths(self, lengths) : exit_code;
    }
    for (uint32_t row = 0; exit_code == WEFT_CLI_FINE && row < data->sequence_count; row++) {
        data->sequences[row] =
            (weft_cli_sequence){.begin = (size_t)row * self->length,
                                .length = lengths ? (uint32_t)lengths[row] : self->length};
    }
    weft_free(host, lengths);
    return exit_code;
}

/* How many examples the sequences make. */
static int count_examples(reader *self) {
    weft_cli_data *data = self->data;
    data->example_count = data->sequence_count;
    if (self->session->info.task != WEFT_TASK_RETRIEVE) {
        return WEFT_CLI_FINE;
    }
    data->example_count = data->sequence_count / 2;
    if (data->sequence_count % 2 == 0) {
        return WEFT_CLI_FINE;
    }
    return weft_cli_bad_file(
        self->archive.host,
        "%s: expected pairs of sequences, as the model %s takes them, found %u sequences",
        data->path, self->session->folder, data->sequence_count);
}

/* What is to be predicted. */
static int read_answers(reader *self) {
    weft_cli_data *data = self->data;
    weft_task task = self->session->info.task;
    uint32_t shape[WEFT_CLI_MEMBER_RANK] = {0};
    if (task == WEFT_TASK_CAUSAL_LM) {
        return WEFT_CLI_FINE;
    }
    if (task == WEFT_TASK_REGRESS) {
        const weft_cli_member targets = {.name = "targets",
                                         .values = WEFT_CLI_REALS,
                                         .axes = "Nm",
                                         .shape = {data->example_count, 0}};
        int exit_code = take_reals(&data->targets, shape, self, &targets);
        data->target_size = shape[1];
        return exit_code;
    }
    bool of_tokens = task == WEFT_TASK_MASKED_LM;
    const weft_cli_member labels = {.name = "labels",
                                    .values = WEFT_CLI_INTEGERS,
                                    .axes = of_tokens ? "Nn" : "N",
                                    .shape = {data->example_count, of_tokens ? self->length : 0}};
    return take_integers(&data->labels, shape, self, &labels);
}

static int read_all(reader *self) {
    WEFT_CLI_TRY(read_rows(self));
    WEFT_CLI_TRY(read_positions(self));
    WEFT_CLI_TRY(make_sequences(self));
    WEFT_CLI_TRY(count_examples(self));
    return read_answers(self);
}

static int load_archive(weft_cli_data *data, const char *path, const weft_cli_session *session) {
    reader self = {.data = data, .session = session};
    WEFT_CLI_TRY(weft_cli_archive_open(&self.archive, path, &session->host));
    self.looks = true; /* what is missing or misshapen is said before the rest is paid for */
    int exit_code = read_all(&self);
    self.looks = false;
    exit_code = exit_code == WEFT_CLI_FINE ? read_all(&self) : exit_code;
    weft_cli_archive_close(&self.archive);
    return exit_code;
}

/* A bare encoder gives vectors, and nothing says which are right; data sets with a label for each token are not read. */
static int check_task(const weft_cli_session *session) {
    if (session->info.task != WEFT_TASK_HIDDEN && session->info.task != WEFT_TASK_CLASSIFY_TOKENS) {
        return WEFT_CLI_FINE;
    }
    return weft_cli_bad_file(
        &session->host,
        "%s: expected a model with a head whose labels, tokens or values can be scored, found "
        "%s, whose task is %s",
        session->folder, session->info.architecture, weft_task_name(session->info.task));
}

int weft_cli_data_load(weft_cli_data *data, const char *path, const weft_cli_session *session) {
    *data = (weft_cli_data){.path = path, .task = session->info.task};
    int exit_code = check_task(session);
    if (exit_code == WEFT_CLI_FINE) {
        exit_code = weft_cli_is_folder(path) ? weft_cli_texts_load(data, path, session)
                                             : load_archive(data, path, session);
    }
    data->whole_count = data->example_count;
    if (exit_code == WEFT_CLI_FINE) {
        exit_code = weft_cli_data_check(data, session);
    }
    if (exit_code != WEFT_CLI_FINE) {
        weft_cli_data_clear(data, &session->host);
    }
    return exit_code;
}
