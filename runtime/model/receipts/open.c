/* SPDX-License-Identifier: MIT */
/* One value of a receipt, computed again out of those before it. */
#include "plan/open.h"

#include <string.h>

#include "core/given.h"
#include "core/try.h"
#include "model/receipts/port_type.h"
#include "model/receipts/receipt.h"

static weft_status check_record(const weft_receipt *receipt, uint32_t record) {
    const weft_host *host = &receipt->host;
    if (record >= receipt->count) {
        return weft_fail(host, WEFT_INVALID_ARGUMENT, "record %u: the receipt has %u", record,
                         receipt->count);
    }
    const struct weft_record *found = &receipt->records[record];
    return found->kind == WEFT_RECORD_VALUE || found->kind == WEFT_RECORD_OUTPUT
               ? WEFT_OK
               : weft_fail(host, WEFT_INVALID_ARGUMENT,
                           "record %u: expected a value or an output, found the %s '%.200s'",
                           record, weft_record_kind_name(found->kind), found->name);
}

/* The first record of the run that a record belongs to, behind the run's own. */
static uint32_t begin_of_run(const weft_receipt *receipt, uint32_t record) {
    while (receipt->records[record - 1].kind != WEFT_RECORD_RUN) {
        record--;
    }
    return record;
}

static bool is_of_run(weft_record_kind kind) {
    return kind > WEFT_RECORD_RUN && kind <= WEFT_RECORD_OUTPUT;
}

/* ---- compiling ---- */

weft_status weft_receipt_compile_part(weft_plan **part, const weft_receipt *receipt,
                                      uint32_t record, weft_plan *plan) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(receipt, host), part, receipt, plan);
    const weft_host *host = &receipt->host;
    WEFT_TRY(check_record(receipt, record));
    const uint32_t begin = begin_of_run(receipt, record);
    const char **known = weft_alloc_zero(host, (size_t)(record - begin) + 1, sizeof *known);
    if (!known) {
        return weft_fail_memory(host, "a part of a plan");
    }
    uint32_t count = 0;
    for (uint32_t i = begin; i < record; i++) {
        if (receipt->records[i].kind == WEFT_RECORD_VALUE ||
            receipt->records[i].kind == WEFT_RECORD_OUTPUT) {
            known[count++] = receipt->records[i].name;
        }
    }
    const weft_status status =
        weft_plan_open(part, plan, receipt->records[record].name, known, count);
    weft_free(host, (void *)known);
    return status;
}

/* ---- computing ---- */

struct opening {
    const weft_receipt *receipt;
    const weft_plan
        *plan; /* the whole one: its ports have the types and rows that the receipt states */
    uint32_t begin, record;
    struct weft_row_lengths rows;
    weft_receipt_opened *opened;
};

static uint32_t find_record(const struct opening *self, const char *name) {
    for (uint32_t i = self->begin; i < self->record; i++) {
        const struct weft_record *record = &self->receipt->records[i];
        if (is_of_run(record->kind) && strcmp(record->name, name) == 0) {
            return i;
        }
    }
    return UINT32_MAX;
}

/* Whether the bytes of a port are those of a record. */
static weft_status compare(bool *same, struct opening *self, uint32_t record, const void *data) {
    const struct weft_record *expected = &self->receipt->records[record];
    uint32_t index = 0;
    char type[WEFT_PORT_TYPE_SIZE];
    weft_digest digest;
    WEFT_TRY(weft_plan_find_port(&index, self->plan, expected->name));
    WEFT_TRY(weft_plan_port_digest(&digest, self->plan, index, data, &self->rows));
    weft_receipt_port_type(type, &self->plan->ports[index], &self->rows);
    weft_digest_text(&digest, self->opened->sha256);
    *same =
        strcmp(type, expected->type) == 0 && memcmp(&digest, &expected->digest, sizeof digest) == 0;
    return WEFT_OK;
}

static weft_status compare_given(struct opening *self, const weft_host_tensor *tensor) {
    bool same = false;
    uint32_t index = 0;
    const uint32_t record = find_record(self, tensor->name);
    if (record == UINT32_MAX) {
        return weft_fail(&self->receipt->host, WEFT_NOT_FOUND,
                         "the receipt has no record of '%.200s' before that of '%.200s'",
                         tensor->name, self->receipt->records[self->record].name);
    }
    WEFT_TRY(weft_plan_find_port(&index, self->plan, tensor->name));
    if (!tensor->data || tensor->bytes != self->plan->ports[index].bytes) {
        return weft_fail(&self->receipt->host, WEFT_SHAPE_MISMATCH,
                         "'%.200s': expected %llu bytes, found %llu", tensor->name,
                         (unsigned long long)self->plan->ports[index].bytes,
                         (unsigned long long)(tensor->data ? tensor->bytes : 0));
    }
    WEFT_TRY(compare(&same, self, record, tensor->data));
    if (!same && self->opened->other == UINT32_MAX) {
        self->opened->other = record;
    }
    return WEFT_OK;
}

/* Others have nothing to do with the value. */
static bool is_used(const weft_plan *part, const weft_host_tensor *tensor) {
    const uint32_t port = weft_plan_port_of(part, tensor->name);
    return port != WEFT_INDEX_NONE && !part->ports[port].is_output;
}

/* Runs the part on the tensors that it reads, and compares what it gives. */
static weft_status compute(struct opening *self, weft_plan *part, const weft_host_tensor *tensors,
                           uint32_t count) {
    const weft_host *host = &self->receipt->host;
    const struct weft_port *result = &part->ports[part->port_count - 1];
    weft_host_tensor *used = weft_alloc_zero(host, (size_t)part->port_count, sizeof *used);
    void *data = weft_alloc_zero(host, (size_t)result->bytes, 1);
    uint32_t used_count = 0;
    for (uint32_t i = 0; used && i < count && used_count + 1 < part->port_count; i++) {
        if (is_used(part, &tensors[i])) {
            used[used_count++] = tensors[i];
        }
    }
    weft_status status = used && data ? WEFT_OK : weft_fail_memory(host, "a part of a run");
    if (status == WEFT_OK) {
        used[used_count++] = (weft_host_tensor){result->name, data, result->bytes};
        status = weft_plan_execute(part, used, used_count);
    }
    if (status == WEFT_OK) {
        status = compare(&self->opened->same, self, self->record, data);
    }
    weft_free(host, used);
    weft_free(host, data);
    return status;
}

static weft_status check_inputs(const weft_plan *part, const weft_host_tensor *tensors,
                                uint32_t count) {
    for (uint32_t i = 0; i < part->port_count; i++) {
        bool given = part->ports[i].is_output;
        for (uint32_t k = 0; k < count && !given; k++) {
            given = strcmp(tensors[k].name, part->ports[i].name) == 0;
        }
        if (!given) {
            return weft_fail(&part->device->host, WEFT_NOT_FOUND,
                             "the part of the plan needs '%.200s', which is not given",
                             part->ports[i].name);
        }
    }
    return WEFT_OK;
}

/* Lengths first, which say what counts of the others. */
static weft_status compare_all(struct opening *self, const weft_plan *part,
                               const weft_host_tensor *tensors, uint32_t count) {
    const weft_host *host = &self->receipt->host;
    WEFT_TRY(weft_plan_find_lengths(&self->rows, self->plan, tensors, count));
    if (self->rows.count > 0 && !self->rows.lengths) {
        return weft_fail(host, WEFT_NOT_FOUND, "the run's lengths are needed, which are not given");
    }
    for (uint32_t i = 0; i < count; i++) {
        const bool lengths = tensors[i].data && tensors[i].data == self->rows.lengths;
        if (lengths && tensors[i].bytes != self->rows.count * sizeof *self->rows.lengths) {
            return weft_fail(host, WEFT_SHAPE_MISMATCH, "'%.200s': expected %u lengths",
                             tensors[i].name, self->rows.count);
        }
        if (lengths) {
            WEFT_TRY(compare_given(self, &tensors[i]));
        }
    }
    for (uint32_t i = 0; i < count && self->opened->other == UINT32_MAX; i++) {
        if (is_used(part, &tensors[i])) {
            WEFT_TRY(compare_given(self, &tensors[i]));
        }
    }
    return WEFT_OK;
}

weft_status weft_receipt_open(weft_receipt_opened *opened, const weft_receipt *receipt,
                              uint32_t record, weft_plan *plan, weft_plan *part,
                              const weft_host_tensor *tensors, uint32_t count) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(receipt, host), opened, receipt, plan, part);
    WEFT_GIVEN_LIST(WEFT_HOST_OF(receipt, host), tensors, count);
    *opened = (weft_receipt_opened){.other = UINT32_MAX};
    WEFT_TRY(check_record(receipt, record));
    struct opening self = {.receipt = receipt,
                           .plan = plan,
                           .begin = begin_of_run(receipt, record),
                           .record = record,
                           .opened = opened};
    for (uint32_t i = 0; i < count; i++) {
        WEFT_GIVEN_AS(&receipt->host, "tensors[].name", tensors[i].name);
    }
    WEFT_TRY(check_inputs(part, tensors, count));
    WEFT_TRY(compare_all(&self, part, tensors, count));
    return opened->other == UINT32_MAX ? compute(&self, part, tensors, count) : WEFT_OK;
}
