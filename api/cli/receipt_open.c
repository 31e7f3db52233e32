/* SPDX-License-Identifier: MIT */
#include "receipt_open.h"

#include <stdio.h>
#include <string.h>

#include "core/formats/npy.h"
#include "core/hash.h"
#include "core/host.h"
#include "core/system/clock.h"
#include "core/try.h"

/* ---- choosing ---- */

static bool is_value(const weft_record_info *record) {
    return record->kind == WEFT_RECORD_VALUE || record->kind == WEFT_RECORD_OUTPUT;
}

static bool read_count(uint32_t *value, const char **text) {
    uint64_t number = 0;
    const bool fits = weft_cli_take_number(&number, text) && number <= UINT32_MAX;
    *value = (uint32_t)number;
    return fits;
}

static int add_target(weft_cli_opening *self, uint32_t record) {
    weft_cli_target *grown =
        weft_realloc(&self->host, self->targets, (self->count + 1) * sizeof *grown);
    if (!grown) {
        return weft_cli_exit_code(weft_fail_memory(&self->host, "what is opened"));
    }
    self->targets = grown;
    grown[self->count] = (weft_cli_target){.record = record};
    if (weft_receipt_get_record(self->receipt, record, &grown[self->count].info) != WEFT_OK ||
        !is_value(&grown[self->count].info)) {
        return weft_cli_bad_file(&self->host,
                                 "--open: expected a value or an output, found record %u, which is "
                                 "none",
                                 record);
    }
    self->count++;
    self->left++;
    return WEFT_CLI_FINE;
}

int weft_cli_opening_choose_record(weft_cli_opening *self, uint32_t record) {
    return add_target(self, record);
}

/* How many values and outputs all runs have; `records`, if it is given, gets where they are. */
static uint32_t find_values(const weft_cli_opening *self, uint32_t *records) {
    weft_record_info info;
    uint32_t found = 0;
    for (uint32_t i = 0; weft_receipt_get_record(self->receipt, i, &info) == WEFT_OK; i++) {
        if (is_value(&info)) {
            if (records) {
                records[found] = i;
            }
            found++;
        }
    }
    return found;
}

/* The same in memory that is the caller's to free; null when it is out. */
static uint32_t *list_values(const weft_cli_opening *self, uint32_t *count) {
    *count = find_values(self, NULL);
    uint32_t *records = weft_alloc_zero(&self->host, (size_t)*count + 1, sizeof *records);
    if (records) {
        find_values(self, records);
    }
    return records;
}

/* Sampling without replacement, by SHA-256 of the receipt's root, the seed and a count: whoever knows both draws the same. */
static int draw(weft_cli_opening *self, uint32_t wanted, const char *seed, const char *root) {
    uint32_t values = 0;
    uint32_t *left = list_values(self, &values); /* from number i on, those that are not drawn */
    if (!left) {
        return weft_cli_exit_code(weft_fail_memory(&self->host, "what is opened"));
    }
    int exit_code =
        wanted >= 1 && wanted <= values
            ? WEFT_CLI_FINE
            : weft_cli_bad_file(&self->host, "--open RANDOM: expected 1 to %u values, found %u",
                                values, wanted);
    for (uint32_t i = 0; i < wanted && exit_code == WEFT_CLI_FINE; i++) {
        char text[256];
        uint64_t word = 0;
        const int size = snprintf(text, sizeof text, "%s %s %u", root, seed, i);
        const weft_digest digest = weft_digest_of(text, (size_t)size);
        memcpy(&word, digest.bytes, sizeof word);
        const uint32_t chosen = i + (uint32_t)(word % (values - i));
        const uint32_t record = left[chosen];
        left[chosen] = left[i];
        exit_code = add_target(self, record);
    }
    weft_free(&self->host, left);
    return exit_code;
}

static int choose_random(weft_cli_opening *self, const char *text, weft_receipt *receipt) {
    uint32_t wanted = 0;
    const char *root = weft_receipt_root(receipt);
    if (!root) {
        return weft_cli_exit_code(weft_fail_memory(&self->host, "a root"));
    }
    if (!read_count(&wanted, &text) || text[0] != ':' || text[1] == '\0' || strlen(text) > 64) {
        return weft_cli_bad_file(&self->host,
                                 "--open RANDOM: expected RANDOM:K:SEED, such as RANDOM:3:58210, "
                                 "with a seed that the maker did not know");
    }
    return draw(self, wanted, text + 1, root);
}

/* "node 12 layer_norm" by its name or its number. */
static bool is_named(const weft_record_info *record, const char *what) {
    char node[32];
    const int size = snprintf(node, sizeof node, "node %.16s ", what);
    return strcmp(record->name, what) == 0 || strncmp(record->name, node, (size_t)size) == 0;
}

static int choose_name(weft_cli_opening *self, const char *what) {
    weft_record_info info;
    for (uint32_t i = 0; weft_receipt_get_record(self->receipt, i, &info) == WEFT_OK; i++) {
        if (is_value(&info) && info.run == 0 && is_named(&info, what)) {
            return add_target(self, i);
        }
    }
    return weft_cli_bad_file(&self->host,
                             "--open %s: expected a value or an output of run 0, such as 'node 12 "
                             "layer_norm' or 12, or record:N, LAYER:N or RANDOM:K:SEED",
                             what);
}

/* The Nth value of the first run, of a receipt that kept layers. */
static int choose_layer(weft_cli_opening *self, const char *text) {
    uint32_t layer = 0;
    uint32_t record = UINT32_MAX;
    weft_record_info info;
    const bool fits = read_count(&layer, &text) && *text == '\0';
    for (uint32_t i = 0; weft_receipt_get_record(self->receipt, i, &info) == WEFT_OK; i++) {
        if (info.kind == WEFT_RECORD_RUN && strcmp(info.type, "layers") != 0) {
            return weft_cli_bad_file(
                &self->host,
                "--open LAYER: expected a receipt with the checkpoints layers, "
                "found one with %s: name a node",
                info.type);
        }
    }
    uint32_t values = 0;
    uint32_t *records = list_values(self, &values);
    if (!records) {
        return weft_cli_exit_code(weft_fail_memory(&self->host, "what is opened"));
    }
    record = layer < values ? records[layer] : UINT32_MAX;
    weft_free(&self->host, records);
    return fits && record != UINT32_MAX &&
                   weft_receipt_get_record(self->receipt, record, &info) == WEFT_OK && info.run == 0
               ? add_target(self, record)
               : weft_cli_bad_file(&self->host,
                                   "--open LAYER: expected a layer of run 0, counted from 0; all "
                                   "runs have %u values",
                                   values);
}

int weft_cli_opening_choose(weft_cli_opening *self, const char *what, weft_receipt *receipt) {
    const char *number = strncmp(what, "record:", 7) == 0 ? what + 7 : "";
    uint32_t record = 0;
    if (strncmp(what, "RANDOM:", 7) == 0) {
        return choose_random(self, what + 7, receipt);
    }
    if (strncmp(what, "LAYER:", 6) == 0) {
        return choose_layer(self, what + 6);
    }
    if (read_count(&record, &number) && *number == '\0') {
        return add_target(self, record);
    }
    return choose_name(self, what);
}

void weft_cli_opening_clear(weft_cli_opening *self) {
    weft_free(&self->host, self->targets);
    self->targets = NULL;
    self->count = 0;
}

/* ---- what needs no run ---- */

static bool needs_run(const weft_record_info *record) {
    return is_value(record) || record->kind == WEFT_RECORD_ANSWER;
}

static bool next_record(weft_record_info *info, uint32_t *at, const weft_receipt *receipt) {
    while (weft_receipt_get_record(receipt, *at, info) == WEFT_OK) {
        if (!needs_run(info)) {
            return true;
        }
        ++*at;
    }
    return false;
}

/* A tensor that is not hashed here is compared once it has been used. */
static bool same_record(const weft_record_info *mine, const weft_record_info *theirs) {
    const bool named = mine->kind == WEFT_RECORD_TENSOR && mine->sha256[0] == '\0';
    return mine->kind == theirs->kind && strcmp(mine->name, theirs->name) == 0 &&
           strcmp(mine->type, theirs->type) == 0 &&
           (named || strcmp(mine->sha256, theirs->sha256) == 0);
}

static bool has_record(const weft_receipt *receipt, uint32_t index, const weft_record_info *mine) {
    weft_record_info theirs;
    return receipt && weft_receipt_get_record(receipt, index, &theirs) == WEFT_OK &&
           same_record(mine, &theirs);
}

/* Goes on to compare what is here with the receipt: settings, the model, data, and inputs of runs. */
static bool compare_records(weft_cli_opening *self, const weft_receipt *here) {
    weft_record_info mine;
    weft_record_info theirs;
    while (next_record(&mine, &self->here_at, here)) {
        const bool same =
            next_record(&theirs, &self->receipt_at, self->receipt) && same_record(&mine, &theirs);
        if (self->receipt_at == self->wanted || !same) {
            self->differs = same ? UINT32_MAX : self->receipt_at;
            self->agrees[0] = has_record(self->receipt, self->receipt_at, &mine);
            self->agrees[1] = has_record(self->other, self->receipt_at, &mine);
            return false;
        }
        self->here_at++;
        self->receipt_at++;
    }
    return true;
}

/* ---- the maker's tensors ---- */

static char *path_of(const weft_host *host, const char *folder, uint32_t record) {
    return weft_format(host, "%s/record-%u.npy", folder, record);
}

/* The record of a port in the run of a target, before it. */
static uint32_t record_of(const weft_cli_opening *self, const weft_cli_target *target,
                          const char *name) {
    weft_record_info info;
    for (uint32_t i = target->record; i-- > 0;) {
        if (weft_receipt_get_record(self->receipt, i, &info) != WEFT_OK ||
            info.kind == WEFT_RECORD_RUN) {
            break;
        }
        if (strcmp(info.name, name) == 0) {
            return i;
        }
    }
    return UINT32_MAX;
}

static weft_status check_array(const weft_npy *array, const weft_port_info *port, const char *path,
                               const weft_host *host) {
    const bool fits = (port->dtype == WEFT_F32 && array->dtype == WEFT_NPY_F32) ||
                      (port->dtype == WEFT_I32 && array->dtype == WEFT_NPY_I32);
    return fits && array->bytes == port->bytes
               ? WEFT_OK
               : weft_fail(host, WEFT_BAD_FILE,
                           "%s: expected %llu bytes of %s for '%.200s', found %llu of %s", path,
                           (unsigned long long)port->bytes, weft_dtype_name(port->dtype),
                           port->name, (unsigned long long)array->bytes,
                           weft_npy_dtype_name(array->dtype));
}

/* A stranger's file: no more is read than the port has. The copy is the caller's to free. */
static weft_status read_values(void **data, const weft_port_info *port, const char *path,
                               const weft_host *host) {
    struct weft_npy_file file;
    struct weft_npy_stream stream;
    weft_npy array;
    WEFT_TRY(weft_npy_file_open(&file, &stream, path, host));
    weft_status status = weft_npy_open_stream(&array, &stream, port->bytes, path, host);
    weft_npy_file_close(&file);
    if (status != WEFT_OK) {
        return status;
    }
    status = check_array(&array, port, path, host);
    *data = status == WEFT_OK ? weft_alloc(host, (size_t)port->bytes) : NULL;
    if (*data) {
        memcpy(*data, array.data, (size_t)port->bytes);
    } else if (status == WEFT_OK) {
        status = weft_fail_memory(host, path);
    }
    weft_npy_close(&array);
    return status;
}

/* ---- lists of tensors ---- */

/* Those of the run, and behind them others, whose memory is this list's. */
typedef struct list {
    weft_host_tensor *at;
    uint32_t given, count;
    uint32_t *records; /* of those behind the given ones */
} list;

static bool has_tensor(const list *tensors, const char *name) {
    bool found = false;
    for (uint32_t i = 0; i < tensors->count && !found; i++) {
        found = strcmp(tensors->at[i].name, name) == 0;
    }
    return found;
}

/* Room for the inputs of one part more. */
static weft_status make_room(list *tensors, const weft_plan *part, const weft_host *host) {
    weft_port_info port;
    uint32_t ports = 0;
    while (weft_plan_get_port(part, ports, &port) == WEFT_OK) {
        ports++;
    }
    const size_t most = (size_t)tensors->count + ports;
    weft_host_tensor *at = weft_realloc(host, tensors->at, most * sizeof *at);
    tensors->at = at ? at : tensors->at;
    uint32_t *records = at ? weft_realloc(host, tensors->records, most * sizeof *records) : NULL;
    tensors->records = records ? records : tensors->records;
    return records ? WEFT_OK : weft_fail_memory(host, "a run's tensors");
}

static weft_status begin_list(list *tensors, const weft_host_tensor *given, uint32_t count,
                              const weft_host *host) {
    *tensors = (list){.given = count, .count = count};
    tensors->at = weft_alloc_zero(host, (size_t)count + 1, sizeof *tensors->at);
    if (!tensors->at) {
        return weft_fail_memory(host, "a run's tensors");
    }
    for (uint32_t i = 0; i < count; i++) {
        tensors->at[i] = given[i];
    }
    return WEFT_OK;
}

static void end_list(list *tensors, const weft_host *host) {
    for (uint32_t i = tensors->given; i < tensors->count; i++) {
        weft_free(host, tensors->at[i].data);
    }
    weft_free(host, tensors->at);
    weft_free(host, tensors->records);
}

/* Appends what a part reads and the run was not given: read from --values, or room for what is to be given. */
static weft_status add_inputs(list *tensors, const weft_cli_opening *self,
                              const weft_cli_target *target, const weft_plan *part) {
    const weft_host *host = &self->host;
    weft_port_info port;
    WEFT_TRY(make_room(tensors, part, host));
    for (uint32_t i = 0; weft_plan_get_port(part, i, &port) == WEFT_OK; i++) {
        if (port.is_output || has_tensor(tensors, port.name)) {
            continue;
        }
        const uint32_t record = record_of(self, target, port.name);
        weft_record_info info;
        void *data = NULL;
        weft_status status = weft_receipt_get_record(self->receipt, record, &info);
        char *path = self->values ? path_of(host, self->values, record) : NULL;
        if (status == WEFT_OK && self->values) {
            status =
                path ? read_values(&data, &port, path, host) : weft_fail_memory(host, "a path");
        } else if (status == WEFT_OK) {
            data = weft_alloc_zero(host, (size_t)port.bytes, 1);
            status = data ? WEFT_OK : weft_fail_memory(host, port.name);
        }
        weft_free(host, path);
        WEFT_TRY(status);
        /* The receipt's name: that of the port is gone with the part. */
        tensors->records[tensors->count] = record;
        tensors->at[tensors->count++] = (weft_host_tensor){info.name, data, port.bytes};
    }
    return WEFT_OK;
}

/* ---- opening ---- */

static weft_status open_part(weft_cli_opening *self, weft_cli_target *target, weft_plan *plan,
                             weft_plan *part, const weft_host_tensor *given, uint32_t count) {
    list tensors;
    weft_plan_info info;
    WEFT_TRY(begin_list(&tensors, given, count, &self->host));
    weft_status status = add_inputs(&tensors, self, target, part);
    const double begin = weft_clock_ms();
    if (status == WEFT_OK) {
        status = weft_receipt_open(&target->opened, self->receipt, target->record, plan, part,
                                   tensors.at, tensors.count);
    }
    target->run_ms = weft_clock_ms() - begin;
    if (weft_plan_get_info(part, &info) == WEFT_OK) {
        target->compile_ms = info.compile_ms;
        target->flops = info.flops;
    }
    end_list(&tensors, &self->host);
    return status;
}

static weft_status open_target(weft_cli_opening *self, weft_cli_target *target, weft_plan *plan,
                               const weft_host_tensor *given, uint32_t count) {
    weft_plan *part = NULL;
    WEFT_TRY(weft_receipt_compile_part(&part, self->receipt, target->record, plan));
    const weft_status status = open_part(self, target, plan, part, given, count);
    weft_plan_destroy(&part);
    target->done = status == WEFT_OK;
    self->left -= target->done;
    return status;
}

static weft_status open_all(weft_cli_opening *self, uint32_t run, weft_plan *plan,
                            const weft_host_tensor *tensors, uint32_t count) {
    for (uint32_t i = 0; i < self->count; i++) {
        if (self->targets[i].info.run == run) {
            WEFT_TRY(open_target(self, &self->targets[i], plan, tensors, count));
        }
    }
    return WEFT_OK;
}

/* ---- giving ---- */

static weft_status add_needs(list *tensors, weft_cli_opening *self, uint32_t run, weft_plan *plan) {
    for (uint32_t i = 0; i < self->count; i++) {
        weft_cli_target *target = &self->targets[i];
        if (target->info.run != run) {
            continue;
        }
        weft_plan *part = NULL;
        WEFT_TRY(weft_receipt_compile_part(&part, self->receipt, target->record, plan));
        const weft_status status = add_inputs(tensors, self, target, part);
        weft_plan_destroy(&part);
        WEFT_TRY(status);
        target->done = true;
        self->left--;
    }
    return WEFT_OK;
}

static weft_status write_values(const weft_cli_opening *self, const weft_plan *plan,
                                const weft_host_tensor *tensor, uint32_t record) {
    weft_port_info port;
    uint32_t index = 0;
    do {
        WEFT_TRY(weft_plan_get_port(plan, index++, &port));
    } while (strcmp(port.name, tensor->name) != 0);
    char *path = path_of(&self->host, self->give, record);
    const weft_status status =
        !path                    ? weft_fail_memory(&self->host, "a path")
        : port.dtype == WEFT_F32 ? weft_npy_write_f32(path, tensor->data, port.shape, &self->host)
                                 : weft_npy_write_i32(path, tensor->data, port.shape, &self->host);
    weft_free(&self->host, path);
    return status;
}

static weft_status give(weft_cli_opening *self, weft_receipt *here, uint32_t run, weft_plan *plan,
                        const weft_host_tensor *given, uint32_t count) {
    list tensors;
    WEFT_TRY(begin_list(&tensors, given, count, &self->host));
    weft_status status = add_needs(&tensors, self, run, plan);
    if (status == WEFT_OK) {
        status = weft_receipt_execute(here, plan, tensors.at, tensors.count);
    }
    for (uint32_t i = tensors.given; i < tensors.count && status == WEFT_OK; i++) {
        status = write_values(self, plan, &tensors.at[i], tensors.records[i]);
        self->given += status == WEFT_OK;
    }
    end_list(&tensors, &self->host);
    return status;
}

/* ---- in place of a run ---- */

static weft_status open_run(weft_cli_opening *self, weft_receipt *here, uint32_t run,
                            weft_plan *plan, const weft_host_tensor *tensors, uint32_t count) {
    WEFT_TRY(weft_receipt_execute(here, plan, tensors, count));
    self->finished = !compare_records(self, here);
    if (self->finished) {
        return WEFT_OK;
    }
    WEFT_TRY(open_all(self, run, plan, tensors, count));
    self->finished = self->left == 0 && self->wanted == UINT32_MAX;
    return self->finished ? weft_receipt_check_tensors(&self->differs, self->receipt, self->model)
                          : WEFT_OK;
}

weft_status weft_cli_opening_execute(weft_cli_opening *self, weft_receipt *here, weft_plan *plan,
                                     const weft_host_tensor *tensors, uint32_t count) {
    const uint32_t run = self->runs++;
    if (self->give) {
        WEFT_TRY(give(self, here, run, plan, tensors, count));
        self->finished = self->left == 0;
    } else {
        WEFT_TRY(open_run(self, here, run, plan, tensors, count));
    }
    return self->finished ? WEFT_CANCELLED : WEFT_OK;
}
