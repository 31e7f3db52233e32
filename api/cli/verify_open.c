/* SPDX-License-Identifier: MIT */
/* weft verify --receipt with --open, and with --referee. */
#include <string.h>

#include "core/host.h"
#include "core/system/clock.h"
#include "core/system/file.h"
#include "receipt_open.h"
#include "stop.h"
#include "verification.h"

static int run_opening(const verification *v, weft_cli_opening *opening) {
    weft_cli_watch watch = {.checkpoints = v->checkpoints, .opening = opening};
    const int exit_code = weft_cli_run_again(v, v->common.device, &watch);
    weft_receipt_destroy(&watch.receipt);
    return exit_code;
}

static weft_cli_opening begin(const verification *v) {
    return (weft_cli_opening){.host = v->host,
                              .receipt = v->receipt,
                              .other = v->other,
                              .values = v->values,
                              .give = v->give,
                              .wanted = UINT32_MAX,
                              .differs = UINT32_MAX};
}

/* ---- --open ---- */

static bool is_same(const weft_cli_opening *opening) {
    bool same = opening->differs == UINT32_MAX && opening->left == 0;
    for (uint32_t i = 0; i < opening->count; i++) {
        same = same && opening->targets[i].opened.same;
    }
    return same;
}

static void print_hashes(const char *where, const char *receipt, const char *other) {
    weft_cli_print(stdout, "  receipt: SHA-256 %s\n", receipt);
    weft_cli_print(stdout, "  %s: SHA-256 %s\n", where, other);
}

static void print_target(const weft_cli_target *target, const weft_receipt *receipt) {
    const weft_record_info *info = &target->info;
    weft_record_info other;
    weft_cli_print(stdout, "record %u, %s '%s' of run %u: ", target->record,
                   weft_record_kind_name(info->kind), info->name, info->run);
    if (!target->done) {
        weft_cli_print(stdout, "not reached\n");
    } else if (target->opened.other != UINT32_MAX &&
               weft_receipt_get_record(receipt, target->opened.other, &other) == WEFT_OK) {
        weft_cli_print(stdout,
                       "not computed: the tensor given for record %u, '%s', is another one\n",
                       target->opened.other, other.name);
        print_hashes("given", other.sha256, target->opened.sha256);
    } else {
        weft_cli_print(stdout, "%s, compiled in %.1f ms, computed and compared in %.1f ms\n",
                       target->opened.same ? "the same bits" : "other bits", target->compile_ms,
                       target->run_ms);
        if (!target->opened.same) {
            print_hashes("here", info->sha256, target->opened.sha256);
        }
    }
}

/* A tensor is compared once it has been used, everything else before. */
static void print_difference(const verification *v, const weft_cli_opening *opening) {
    weft_record_info info;
    const bool has = weft_receipt_get_record(v->receipt, opening->differs, &info) == WEFT_OK;
    weft_cli_print(stdout, "%s: differs in record %u%s%s, %s\n", v->path, opening->differs,
                   has ? ", the " : "", has ? weft_record_kind_name(info.kind) : "",
                   opening->left > 0 ? "before anything was opened"
                                     : "with which this was computed: it shows nothing");
    if (has) {
        weft_cli_print(stdout, "  receipt: '%s', %s\n", info.name, info.type);
    }
}

static void print_opening(const verification *v, const weft_cli_opening *opening) {
    for (uint32_t i = 0; i < opening->count; i++) {
        print_target(&opening->targets[i], v->receipt);
    }
    if (opening->differs != UINT32_MAX) {
        print_difference(v, opening);
    }
}

static json_t *target_json(const weft_cli_target *target) {
    return json_pack("{s:I, s:o, s:I, s:b, s:b, s:o, s:s, s:s, s:o, s:o, s:o}", "record",
                     (json_int_t)target->record, "name", weft_cli_json_text(target->info.name),
                     "run", (json_int_t)target->info.run, "computed",
                     target->done && target->opened.other == UINT32_MAX, "same",
                     (int)target->opened.same, "other_tensor",
                     target->done && target->opened.other != UINT32_MAX
                         ? json_integer((json_int_t)target->opened.other)
                         : json_null(),
                     "sha256", target->info.sha256, "here", target->opened.sha256, "compile_ms",
                     weft_cli_json_real(target->compile_ms), "run_ms",
                     weft_cli_json_real(target->run_ms), "flops",
                     weft_cli_json_real(target->flops));
}

static int print_opening_json(const weft_cli_opening *opening, double seconds) {
    json_t *list = json_array();
    for (uint32_t i = 0; i < opening->count; i++) {
        list = weft_cli_json_append(list, target_json(&opening->targets[i]));
    }
    return weft_cli_print_json(json_pack(
        "{s:b, s:o, s:o, s:o}", "same", (int)is_same(opening), "differs",
        opening->differs != UINT32_MAX ? json_integer((json_int_t)opening->differs) : json_null(),
        "opened", list, "seconds", weft_cli_json_real(seconds)));
}

static int report_opening(const verification *v, const weft_cli_opening *opening, double seconds) {
    weft_cli_stop_settle(true);
    if (v->give) {
        weft_cli_print(stdout, "%s: %u tensors of %u values\n", v->give, opening->given,
                       opening->count);
        return WEFT_CLI_FINE;
    }
    if (v->common.json) {
        WEFT_CLI_TRY(print_opening_json(opening, seconds));
    } else {
        print_opening(v, opening);
    }
    return is_same(opening) ? WEFT_CLI_FINE : WEFT_CLI_FAILED;
}

int weft_cli_verify_open(verification *v) {
    weft_cli_opening opening = begin(v);
    const double begun = weft_clock_ms();
    int exit_code = weft_cli_opening_choose(&opening, v->open, v->receipt);
    if (exit_code == WEFT_CLI_FINE && v->give) {
        exit_code = weft_cli_exit_code(weft_make_folders(v->give, &v->host));
    }
    if (exit_code == WEFT_CLI_FINE) {
        exit_code = run_opening(v, &opening);
    }
    if (exit_code == WEFT_CLI_FINE && weft_cli_stopped()) {
        exit_code = WEFT_CLI_FAILED;
    }
    if (exit_code == WEFT_CLI_FINE) {
        exit_code = report_opening(v, &opening, (weft_clock_ms() - begun) / 1e3);
    }
    weft_cli_opening_clear(&opening);
    return exit_code;
}

/* ---- --referee ---- */

/* The two files answer for their parties. */
static weft_status answer(void *user, uint32_t party, uint32_t index, const char **json,
                          size_t *size) {
    const verification *v = user;
    *json = weft_receipt_proof(party == 0 ? v->receipt : v->other, index);
    *size = *json ? strlen(*json) : 0;
    return *json ? WEFT_OK : weft_fail_memory(&v->host, "a proof");
}

static uint32_t count_records(const weft_receipt *receipt) {
    weft_record_info info;
    uint32_t count = 0;
    while (weft_receipt_get_record(receipt, count, &info) == WEFT_OK) {
        count++;
    }
    return count;
}

static int find_first(weft_referee_finding *finding, verification *v) {
    const weft_referee_params params = {
        .roots = {weft_receipt_root(v->receipt), weft_receipt_root(v->other)},
        .counts = {count_records(v->receipt), count_records(v->other)},
        .ask = answer,
        .user = v};
    if (!params.roots[0] || !params.roots[1]) {
        return weft_cli_exit_code(weft_fail_memory(&v->host, "a root"));
    }
    const weft_status status = weft_receipt_referee(finding, &params, &v->host);
    weft_proof_destroy(&finding->proofs[0]);
    weft_proof_destroy(&finding->proofs[1]);
    return weft_cli_exit_code(status);
}

/* Who has what this machine computes. */
typedef struct judgement {
    bool agrees[2];
    weft_record_info records[2];
    bool has[2];
    uint32_t
        other; /* record of a tensor that is not the receipts', so that nothing was decided; or UINT32_MAX */
} judgement;

static bool is_value(const weft_record_info *record) {
    return record->kind == WEFT_RECORD_VALUE || record->kind == WEFT_RECORD_OUTPUT;
}

/* Both parties agree on all before the record: one value decides. */
static int judge_value(judgement *found, verification *v, uint32_t record) {
    weft_cli_opening opening = begin(v);
    int exit_code = weft_cli_opening_choose_record(&opening, record);
    if (exit_code == WEFT_CLI_FINE) {
        exit_code = run_opening(v, &opening);
    }
    if (exit_code == WEFT_CLI_FINE && (opening.differs != UINT32_MAX || opening.left > 0)) {
        exit_code = weft_cli_bad_file(&v->host,
                                      "--referee: the model or inputs here are not those on which "
                                      "both receipts agree: record %u differs",
                                      opening.differs);
    }
    if (exit_code == WEFT_CLI_FINE) {
        const weft_receipt_opened *opened = &opening.targets[0].opened;
        found->other = opened->other;
        for (size_t i = 0; i < 2; i++) {
            found->agrees[i] = opened->other == UINT32_MAX &&
                               strcmp(opened->sha256, found->records[i].sha256) == 0 &&
                               strcmp(found->records[i].name, found->records[0].name) == 0 &&
                               strcmp(found->records[i].type, found->records[0].type) == 0;
        }
    }
    weft_cli_opening_clear(&opening);
    return exit_code;
}

static int judge_other(judgement *found, verification *v, uint32_t record) {
    weft_cli_opening opening = begin(v);
    opening.wanted = record;
    const int exit_code = run_opening(v, &opening);
    found->other = UINT32_MAX;
    if (exit_code == WEFT_CLI_FINE && opening.receipt_at != record) {
        return weft_cli_bad_file(&v->host,
                                 "--referee: the model or inputs here are not those on which both "
                                 "receipts agree: record %u differs",
                                 opening.receipt_at);
    }
    memcpy(found->agrees, opening.agrees, sizeof found->agrees);
    return exit_code;
}

static int judge(judgement *found, verification *v, uint32_t record) {
    const weft_receipt *const receipts[2] = {v->receipt, v->other};
    for (size_t i = 0; i < 2; i++) {
        found->has[i] = weft_receipt_get_record(receipts[i], record, &found->records[i]) == WEFT_OK;
    }
    if (found->has[0] && found->has[1] && is_value(&found->records[0]) &&
        is_value(&found->records[1])) {
        return judge_value(found, v, record);
    }
    for (size_t i = 0; i < 2; i++) {
        if (!found->has[i] || found->records[i].kind == WEFT_RECORD_ANSWER ||
            is_value(&found->records[i])) {
            return weft_cli_bad_file(&v->host,
                                     "--referee: record %u is %s: no single step decides it; make "
                                     "one of the receipts again",
                                     record,
                                     found->has[i] ? "an answer, or of another kind"
                                                   : "there in one of them only");
        }
    }
    return judge_other(found, v, record);
}

static const char *verdict_of(const judgement *found) {
    return found->other != UINT32_MAX              ? "undecided"
           : found->agrees[0] && !found->agrees[1] ? "the first is right"
           : found->agrees[1] && !found->agrees[0] ? "the second is right"
                                                   : "both are wrong";
}

static int report_referee(const verification *v, const weft_referee_finding *finding,
                          const judgement *found) {
    const weft_record_info *record = &found->records[found->has[0] ? 0 : 1];
    weft_cli_stop_settle(true);
    if (v->common.json) {
        WEFT_CLI_TRY(weft_cli_print_json(json_pack(
            "{s:I, s:I, s:o, s:s, s:s, s:b, s:b}", "first", (json_int_t)finding->first, "asked",
            (json_int_t)finding->asked, "name", weft_cli_json_text(record->name), "kind",
            weft_record_kind_name(record->kind), "verdict", verdict_of(found), "first_agrees",
            (int)found->agrees[0], "second_agrees", (int)found->agrees[1])));
    } else {
        weft_cli_print(stdout,
                       "%s and %s differ first in record %u, %s '%s' of run %u, found by asking "
                       "each for %u records\n",
                       v->path, v->referee, finding->first, weft_record_kind_name(record->kind),
                       record->name, record->run, finding->asked);
        weft_cli_print(stdout, "%s\n", verdict_of(found));
        if (found->other != UINT32_MAX) {
            weft_cli_print(stdout,
                           "  the tensor given for record %u is not the one on which both agree\n",
                           found->other);
        }
    }
    return WEFT_CLI_FAILED;
}

static int report_equal(const verification *v) {
    if (v->common.json) {
        return weft_cli_print_json(
            json_pack("{s:n, s:I, s:s}", "first", "asked", (json_int_t)0, "verdict", "equal"));
    }
    weft_cli_print(stdout, "%s and %s are the same receipt\n", v->path, v->referee);
    return WEFT_CLI_FINE;
}

int weft_cli_verify_referee(verification *v) {
    char sha256[WEFT_DIGEST_TEXT_SIZE];
    weft_referee_finding finding;
    judgement found = {.other = UINT32_MAX};
    WEFT_CLI_TRY(weft_cli_read_receipt(&v->other, sha256, v->referee, &v->host));
    WEFT_CLI_TRY(find_first(&finding, v));
    if (finding.first == UINT32_MAX) {
        return report_equal(v);
    }
    WEFT_CLI_TRY(judge(&found, v, finding.first));
    return report_referee(v, &finding, &found);
}
