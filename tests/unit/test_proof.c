/* SPDX-License-Identifier: MIT */
/* weft-test: one device */
/* Roots of receipts, proofs of single records, and the referee between two roots. */
#include <string.h>

#include <weft/receipt.h>

#include "core/math/philox.h"
#include "model/receipts/proof.h"
#include "support.h"

/* A receipt of `count` records; record i has the data i, but `wrong` has other data. Made without a run. */
static weft_receipt *make(uint32_t count, uint32_t wrong, uint32_t flipped) {
    const weft_host host = {0};
    weft_receipt *receipt = NULL;
    assert_ok(weft_receipt_begin(&receipt, &host));
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t data = i == wrong ? i ^ flipped : i;
        const weft_digest digest = weft_digest_of(&data, sizeof data);
        assert_ok(weft_receipt_add(receipt, WEFT_RECORD_DATA, "line", "1 byte", &digest));
    }
    return receipt;
}

static weft_proof *prove(weft_receipt *receipt, uint32_t index) {
    weft_proof *proof = NULL;
    const char *json = weft_receipt_proof(receipt, index);
    assert_non_null(json);
    char root[WEFT_RECORD_HASH_SIZE];
    strcpy(root, weft_receipt_root(receipt));
    assert_ok(weft_proof_read(&proof, json, strlen(json), root, NULL));
    return proof;
}

/* ---- the tree ---- */

static weft_digest node(uint8_t what, const weft_digest *left, const weft_digest *right) {
    uint8_t bytes[65] = {what};
    memcpy(bytes + 1, left->bytes, 32);
    memcpy(bytes + 33, right ? right->bytes : left->bytes, 32);
    return weft_digest_of(bytes, right ? 65 : 33);
}

/* docs/receipts.md's definition, from above. */
static weft_digest top_of(const weft_receipt *receipt, uint32_t begin, uint32_t width) {
    if (width == 1 && begin >= receipt->count) {
        return weft_digest_of("\3", 1);
    }
    if (width == 1) {
        return node(0, &receipt->records[begin].chain, NULL);
    }
    const weft_digest left = top_of(receipt, begin, width / 2);
    const weft_digest right = top_of(receipt, begin + width / 2, width / 2);
    return node(1, &left, &right);
}

WEFT_TEST(roots_are_as_the_page_defines_them) {
    for (uint32_t count = 1; count <= 33; count++) {
        weft_receipt *receipt = make(count, UINT32_MAX, 0);
        uint32_t width = 1;
        while (width < count) {
            width *= 2;
        }
        const weft_digest top = top_of(receipt, 0, width);
        uint8_t bytes[41] = {2, (uint8_t)count};
        memcpy(bytes + 9, top.bytes, 32);
        const weft_digest root = weft_digest_of(bytes, sizeof bytes);
        char text[WEFT_DIGEST_TEXT_SIZE];
        assert_string_equal(weft_receipt_root(receipt), weft_digest_text(&root, text));
        weft_receipt_destroy(&receipt);
    }
}

WEFT_TEST(every_record_has_a_proof) {
    for (uint32_t count = 1; count <= 33; count++) {
        weft_receipt *receipt = make(count, UINT32_MAX, 0);
        for (uint32_t i = 0; i < count; i++) {
            weft_proof *proof = prove(receipt, i);
            weft_proof_info info;
            assert_ok(weft_proof_get_info(proof, &info));
            weft_record_info record;
            assert_ok(weft_receipt_get_record(receipt, i, &record));
            assert_int_equal(info.index, i);
            assert_int_equal(info.count, count);
            assert_string_equal(info.record.chain, record.chain);
            assert_string_equal(info.record.sha256, record.sha256);
            assert_string_equal(info.record.name, "line");
            weft_proof_destroy(&proof);
        }
        assert_null(weft_receipt_proof(receipt, count));
        weft_receipt_destroy(&receipt);
    }
}

/* ---- what is no proof ---- */

static weft_status read_edited(const char *json, const char *root, const char *from,
                               const char *to) {
    char text[4096];
    const char *at = strstr(json, from);
    assert_non_null(at);
    assert_true(strlen(json) + strlen(to) < sizeof text);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - json), json, to, at + strlen(from));
    weft_proof *proof = NULL;
    const weft_status status = weft_proof_read(&proof, text, strlen(text), root, NULL);
    weft_proof_destroy(&proof);
    return status;
}

WEFT_TEST(proofs_of_other_places_are_refused) {
    weft_receipt *receipt = make(13, UINT32_MAX, 0);
    char root[WEFT_RECORD_HASH_SIZE];
    strcpy(root, weft_receipt_root(receipt));
    const char *json = weft_receipt_proof(receipt, 6);
    assert_int_equal(read_edited(json, root, "\"index\": 6", "\"index\": 6"), WEFT_OK);
    assert_int_equal(read_edited(json, root, "\"index\": 6", "\"index\": 7"), WEFT_BAD_FILE);
    assert_int_equal(read_edited(json, root, "\"index\": 6", "\"index\": 13"), WEFT_BAD_FILE);
    assert_int_equal(read_edited(json, root, "\"count\": 13", "\"count\": 14"), WEFT_BAD_FILE);
    assert_int_equal(read_edited(json, root, "\"count\": 13", "\"count\": 16"), WEFT_BAD_FILE);
    assert_int_equal(read_edited(json, root, "\"count\": 13", "\"count\": 20001"), WEFT_BAD_FILE);
    assert_int_equal(read_edited(json, root, "\"version\": 1", "\"version\": 2"), WEFT_UNSUPPORTED);
    assert_int_equal(read_edited(json, root, "\"data\"", "\"output\""), WEFT_BAD_FILE);
    assert_int_equal(read_edited(json, root, "\"1 byte\"", "\"2 byte\""), WEFT_BAD_FILE);
    assert_int_equal(read_edited(json, root, "\"path\": [", "\"path\": [1, "), WEFT_BAD_FILE);
    assert_int_equal(read_edited(json, root, "\"format\"", "\"more\": 1, \"format\""),
                     WEFT_BAD_FILE);
    assert_int_equal(read_edited(json, root, "\"before\"", "\"behind\""), WEFT_BAD_FILE);
    assert_int_equal(read_edited(json, "no root", "\"index\"", "\"index\""), WEFT_INVALID_ARGUMENT);
    weft_receipt_destroy(&receipt);
}

/* A tree that doubled its last leaf would have one root for 3 records and for 4 of which the last is there twice. */
WEFT_TEST(the_number_of_records_is_bound) {
    char roots[4][WEFT_RECORD_HASH_SIZE];
    for (uint32_t i = 0; i < 4; i++) {
        weft_receipt *receipt = make(i + 5, UINT32_MAX, 0);
        strcpy(roots[i], weft_receipt_root(receipt));
        for (uint32_t k = 0; k < i; k++) {
            assert_string_not_equal(roots[i], roots[k]);
        }
        weft_receipt_destroy(&receipt);
    }
}

/* Each of a proof's hexadecimal digits and each letter of its texts counts. */
WEFT_TEST(every_changed_digit_of_a_proof_is_noticed) {
    weft_receipt *receipt = make(100, UINT32_MAX, 0);
    char root[WEFT_RECORD_HASH_SIZE];
    char json[4096];
    strcpy(root, weft_receipt_root(receipt));
    snprintf(json, sizeof json, "%s", weft_receipt_proof(receipt, 57));
    uint32_t tried = 0;
    for (size_t i = 0; json[i] != '\0'; i++) {
        if (!((json[i] >= '0' && json[i] <= '9') || (json[i] >= 'a' && json[i] <= 'f'))) {
            continue;
        }
        const char kept = json[i];
        weft_proof *proof = NULL;
        json[i] = kept == '7' ? '8' : '7';
        assert_int_not_equal(weft_proof_read(&proof, json, strlen(json), root, NULL), WEFT_OK);
        json[i] = kept;
        tried++;
    }
    assert_in_range(tried, 9 * 64, 4096);
    weft_receipt_destroy(&receipt);
}

/* ---- the referee ---- */

struct parties {
    weft_receipt *receipts[2];
    uint32_t asked;
    uint32_t first; /* record that answer_with_claim lies about */
};

static weft_status answer(void *user, uint32_t party, uint32_t index, const char **json,
                          size_t *size) {
    struct parties *parties = user;
    *json = weft_receipt_proof(parties->receipts[party], index);
    assert_non_null(*json);
    *size = strlen(*json);
    parties->asked++;
    return WEFT_OK;
}

static weft_referee_finding settle(struct parties *parties) {
    weft_referee_params params = {.ask = answer, .user = parties};
    weft_referee_finding finding;
    for (size_t i = 0; i < 2; i++) {
        params.roots[i] = weft_receipt_root(parties->receipts[i]);
        params.counts[i] = parties->receipts[i]->count;
    }
    assert_ok(weft_receipt_referee(&finding, &params, NULL));
    return finding;
}

static void end(struct parties *parties, weft_referee_finding *finding) {
    for (size_t i = 0; i < 2; i++) {
        weft_proof_destroy(&finding->proofs[i]);
        weft_receipt_destroy(&parties->receipts[i]);
    }
}

/* log2, rounded up, and 1. */
static uint32_t most_asked(uint32_t count) {
    uint32_t log = 0;
    while (1U << log < count) {
        log++;
    }
    return log + 1;
}

WEFT_TEST(the_referee_finds_each_first_difference) {
    for (uint32_t count = 1; count <= 33; count++) {
        for (uint32_t wrong = 0; wrong < count; wrong++) {
            struct parties parties = {
                .receipts = {make(count, UINT32_MAX, 0), make(count, wrong, 1U << 20)}};
            weft_referee_finding finding = settle(&parties);
            assert_int_equal(finding.first, wrong);
            assert_in_range(finding.asked, 1, most_asked(count));
            assert_false(finding.refuted[0] || finding.refuted[1]);
            assert_memory_not_equal(&finding.proofs[0]->record.digest,
                                    &finding.proofs[1]->record.digest, sizeof(weft_digest));
            end(&parties, &finding);
        }
    }
}

WEFT_TEST(the_referee_finds_the_end_of_the_shorter) {
    for (uint32_t count = 1; count <= 20; count++) {
        for (uint32_t more = 1; more <= 20; more++) {
            struct parties parties = {
                .receipts = {make(count, UINT32_MAX, 0), make(count + more, UINT32_MAX, 0)}};
            weft_referee_finding finding = settle(&parties);
            assert_int_equal(finding.first, count);
            assert_in_range(finding.asked, 1, most_asked(count + more));
            assert_null(finding.proofs[0]);
            assert_int_equal(finding.proofs[1]->index, count);
            end(&parties, &finding);
        }
    }
}

WEFT_TEST(equal_roots_need_no_record) {
    struct parties parties = {.receipts = {make(9, UINT32_MAX, 0), make(9, UINT32_MAX, 0)}};
    weft_referee_finding finding = settle(&parties);
    assert_int_equal(finding.first, UINT32_MAX);
    assert_int_equal(parties.asked, 0);
    end(&parties, &finding);
}

/* A record whose chain is not that of its fields: no proof of it leads to the root. */
WEFT_TEST(a_chain_of_other_fields_is_refuted) {
    for (uint32_t wrong = 0; wrong < 12; wrong++) {
        struct parties parties = {.receipts = {make(13, UINT32_MAX, 0), make(13, UINT32_MAX, 0)}};
        memset(&parties.receipts[1]->records[wrong].chain, 7, sizeof(weft_digest));
        weft_referee_finding finding = settle(&parties);
        assert_int_equal(finding.first, wrong);
        assert_true(finding.refuted[1] && !finding.refuted[0]);
        end(&parties, &finding);
    }
}

/* Party 1 claims another chain before its record `first`, so that a later record alone seems to differ. */
static weft_status answer_with_claim(void *user, uint32_t party, uint32_t index, const char **json,
                                     size_t *size) {
    static char text[4096];
    struct parties *parties = user;
    weft_receipt *receipt = parties->receipts[party];
    const weft_digest kept = index > 0 ? receipt->records[index - 1].chain : (weft_digest){0};
    char hex[2][WEFT_DIGEST_TEXT_SIZE];
    assert_ok(answer(user, party, index, json, size));
    if (party == 1 && index == parties->first) {
        const weft_digest claimed = weft_digest_of("claimed", 7);
        char *at = strcpy(text, *json);
        at = strstr(text, weft_digest_text(&kept, hex[0]));
        assert_non_null(at);
        memcpy(at, weft_digest_text(&claimed, hex[1]), 64);
        *json = text;
    }
    return WEFT_OK;
}

WEFT_TEST(a_chain_that_does_not_go_on_is_refuted) {
    for (uint32_t wrong = 1; wrong < 13; wrong++) {
        struct parties parties = {.receipts = {make(13, UINT32_MAX, 0), make(13, UINT32_MAX, 0)},
                                  .first = wrong};
        struct weft_record *record = &parties.receipts[1]->records[wrong];
        const weft_digest claimed = weft_digest_of("claimed", 7);
        record->chain = weft_record_chain(&claimed, record);
        weft_referee_params params = {
            .counts = {13, 13}, .ask = answer_with_claim, .user = &parties};
        weft_referee_finding finding;
        params.roots[0] = weft_receipt_root(parties.receipts[0]);
        params.roots[1] = weft_receipt_root(parties.receipts[1]);
        assert_ok(weft_receipt_referee(&finding, &params, NULL));
        assert_int_equal(finding.first, wrong);
        assert_in_range(finding.asked, 1, most_asked(13));
        assert_true(finding.refuted[1] && !finding.refuted[0]);
        end(&parties, &finding);
    }
}

static weft_status answer_nonsense(void *user, uint32_t party, uint32_t index, const char **json,
                                   size_t *size) {
    if (party == 0) {
        return answer(user, party, index, json, size);
    }
    *json = "{}";
    *size = 2;
    return WEFT_OK;
}

static weft_status answer_nothing(void *user, uint32_t party, uint32_t index, const char **json,
                                  size_t *size) {
    (void)user, (void)party, (void)index, (void)json, (void)size;
    return WEFT_IO_ERROR;
}

WEFT_TEST(who_has_no_proof_is_refuted) {
    struct parties parties = {.receipts = {make(9, UINT32_MAX, 0), make(9, 4, 1)}};
    weft_referee_params params = {.counts = {9, 9}, .ask = answer_nonsense, .user = &parties};
    weft_referee_finding finding;
    params.roots[0] = weft_receipt_root(parties.receipts[0]);
    params.roots[1] = weft_receipt_root(parties.receipts[1]);
    assert_ok(weft_receipt_referee(&finding, &params, NULL));
    assert_true(finding.refuted[1] && !finding.refuted[0]);
    weft_proof_destroy(&finding.proofs[0]);
    params.counts[1] = 8; /* not what the root binds */
    params.ask = answer;
    assert_ok(weft_receipt_referee(&finding, &params, NULL));
    assert_true(finding.refuted[1] && !finding.refuted[0]);
    weft_proof_destroy(&finding.proofs[0]);
    params.ask = answer_nothing;
    assert_status(weft_receipt_referee(&finding, &params, NULL), WEFT_IO_ERROR);
    params.counts[1] = 0;
    assert_status(weft_receipt_referee(&finding, &params, NULL), WEFT_INVALID_ARGUMENT);
    params.counts[1] = 9;
    params.roots[0] = "0";
    assert_status(weft_receipt_referee(&finding, &params, NULL), WEFT_INVALID_ARGUMENT);
    end(&parties, &finding);
}

WEFT_TEST(one_bit_in_a_thousand_places_is_located) {
    for (uint32_t trial = 0; trial < 1000; trial++) {
        const uint32_t count = 200 + weft_philox_u32(77, 0, trial) % 50;
        const uint32_t wrong = weft_philox_u32(77, 1, trial) % count;
        const uint32_t bit = weft_philox_u32(77, 2, trial) % 32;
        struct parties parties = {
            .receipts = {make(count, UINT32_MAX, 0), make(count, wrong, 1U << bit)}};
        weft_referee_finding finding = settle(&parties);
        uint32_t first = 0;
        assert_ok(weft_receipt_compare(&first, parties.receipts[0], parties.receipts[1]));
        assert_int_equal(finding.first, wrong);
        assert_int_equal(first, wrong);
        assert_in_range(finding.asked, 1, 9);
        end(&parties, &finding);
    }
}
