/* SPDX-License-Identifier: MIT */
/* weft-test: one device */
/* Values of a receipt that are computed alone, out of those before them. */
#include <string.h>

#include <weft/receipt.h>

#include "core/math/philox.h"
#include "model/receipts/receipt.h"
#include "support.h"
#include "support_graph.h"

enum {
    BATCH = 2,
    LENGTH = 6,
    CHANNELS = 16,
    WIDE = 24,
    COUNT = BATCH * LENGTH * CHANNELS,
    MOST = BATCH * LENGTH * WIDE,
    PORTS = 24
};

static weft_tensor weights(weft_graph *graph, weft_shape shape, uint64_t seed) {
    float data[CHANNELS * WIDE];
    weft_philox_uniform(data, weft_shape_elements(shape), seed, 0);
    return weft_test_constant(graph, shape, data);
}

/* norm(x + W2 gelu(W1 x)), as in a model's layer. */
static weft_tensor add_layer(weft_graph *graph, weft_tensor x, uint64_t seed) {
    weft_tensor h, y;
    const weft_tensor none = {0};
    const weft_tensor first = weights(graph, weft_shape_of(WIDE, CHANNELS), seed);
    const weft_tensor second = weights(graph, weft_shape_of(CHANNELS, WIDE), seed + 1);
    assert_ok(weft_graph_linear(&h, graph, x, first, none));
    assert_ok(weft_graph_activate(&h, graph, h, WEFT_ACTIVATION_GELU_ERF));
    assert_ok(weft_graph_linear(&y, graph, h, second, none));
    assert_ok(weft_graph_binary(&y, graph, WEFT_BINARY_ADD, x, y));
    assert_ok(weft_graph_layer_norm(&y, graph, y, weights(graph, weft_shape_of(CHANNELS), 1),
                                    weights(graph, weft_shape_of(CHANNELS), 2), 1e-5F));
    return y;
}

static weft_plan *compile(weft_device *device, weft_checkpoints checkpoints, weft_opening opening,
                          bool lengths) {
    weft_graph *graph = NULL;
    weft_plan *plan = NULL;
    assert_ok(weft_graph_create(&graph, NULL));
    weft_tensor x = weft_test_input(graph, "x", weft_shape_of(BATCH, LENGTH, CHANNELS));
    if (lengths) {
        weft_tensor given;
        assert_ok(weft_graph_input(&given, graph, "lengths", WEFT_I32, weft_shape_of(BATCH)));
        assert_ok(weft_graph_mask(&x, graph, x, given));
    }
    for (uint64_t seed = 10; seed < 40; seed += 10) {
        x = add_layer(graph, x, seed);
    }
    assert_ok(weft_graph_output(graph, "y", x));
    assert_ok(weft_plan_compile(&plan, device, graph,
                                weft_plan_params(.checkpoints = checkpoints, .opening = opening)));
    weft_graph_destroy(&graph);
    return plan;
}

/* A maker's run with all that was kept, and a verifier's plan, which runs nothing. */
struct run {
    weft_receipt *receipt;
    weft_plan *plan;
    weft_host_tensor tensors[PORTS];
    uint32_t count;
    float data[PORTS][MOST];
    int32_t lengths[BATCH];
};

static struct run *make_run(weft_device *device, weft_checkpoints checkpoints, bool lengths) {
    static struct run run;
    run = (struct run){.lengths = {4, LENGTH}};
    weft_plan *plan = compile(device, checkpoints, WEFT_OPENING_NONE, lengths);
    weft_port_info port;
    for (; weft_plan_get_port(plan, run.count, &port) == WEFT_OK; run.count++) {
        assert_in_range(run.count, 0, PORTS - 1);
        run.tensors[run.count] =
            (weft_host_tensor){weft_test_text("%s", port.name), run.data[run.count], port.bytes};
        if (strcmp(port.name, "lengths") == 0) {
            run.tensors[run.count].data = run.lengths;
        } else if (!port.is_output) {
            weft_philox_uniform(run.data[run.count], COUNT, 99, 0);
        }
    }
    assert_ok(weft_receipt_create(&run.receipt, device, NULL));
    assert_ok(weft_receipt_execute(run.receipt, plan, run.tensors, run.count));
    weft_plan_destroy(&plan);
    run.plan = compile(device, checkpoints, WEFT_OPENING_ONLY, lengths);
    return &run;
}

static void end_run(struct run *run) {
    weft_receipt_destroy(&run->receipt);
    weft_plan_destroy(&run->plan);
}

static bool is_value(const weft_receipt *receipt, uint32_t record) {
    weft_record_info info;
    assert_ok(weft_receipt_get_record(receipt, record, &info));
    return info.kind == WEFT_RECORD_VALUE || info.kind == WEFT_RECORD_OUTPUT;
}

/* What the part reads, of the run's tensors, and its lengths. */
static uint32_t choose(weft_host_tensor *chosen, const struct run *run, const weft_plan *part) {
    weft_port_info port;
    uint32_t count = 0;
    for (uint32_t i = 0; i < run->count; i++) {
        bool wanted = strcmp(run->tensors[i].name, "lengths") == 0;
        for (uint32_t k = 0; weft_plan_get_port(part, k, &port) == WEFT_OK; k++) {
            wanted |= !port.is_output && strcmp(port.name, run->tensors[i].name) == 0;
        }
        if (wanted) {
            chosen[count++] = run->tensors[i];
        }
    }
    return count;
}

static weft_receipt_opened open_record(const struct run *run, const weft_receipt *receipt,
                                       uint32_t record) {
    weft_plan *part = NULL;
    weft_receipt_opened opened;
    weft_host_tensor chosen[PORTS];
    assert_ok(weft_receipt_compile_part(&part, receipt, record, run->plan));
    const uint32_t count = choose(chosen, run, part);
    assert_ok(weft_receipt_open(&opened, receipt, record, run->plan, part, chosen, count));
    weft_plan_destroy(&part);
    return opened;
}

static void expect_all_open(weft_device *device, weft_checkpoints checkpoints, bool lengths,
                            uint32_t expected) {
    struct run *run = make_run(device, checkpoints, lengths);
    uint32_t opened = 0;
    for (uint32_t i = 0; i < run->receipt->count; i++) {
        if (is_value(run->receipt, i)) {
            const weft_receipt_opened found = open_record(run, run->receipt, i);
            assert_true(found.same);
            assert_int_equal(found.other, UINT32_MAX);
            opened++;
        }
    }
    assert_int_equal(opened, expected);
    end_run(run);
}

WEFT_TEST_ON_GRAPH(every_value_opens_to_its_own_bits, f) {
    expect_all_open(f->device, WEFT_CHECKPOINTS_NODES, false, 15);
    expect_all_open(f->device, WEFT_CHECKPOINTS_LAYERS, false, 4);
    expect_all_open(f->device, WEFT_CHECKPOINTS_NONE, false, 1);
    expect_all_open(f->device, WEFT_CHECKPOINTS_NODES, true, 16);
    expect_all_open(f->device, WEFT_CHECKPOINTS_LAYERS, true, 4);
}

/* Of the first run's records, the one of that name. */
static uint32_t record_named(const weft_receipt *receipt, const char *name) {
    for (uint32_t i = 0; i < receipt->count; i++) {
        if (strcmp(receipt->records[i].name, name) == 0) {
            return i;
        }
    }
    fail_msg("no record %s", name);
    return 0;
}

WEFT_TEST_ON_GRAPH(a_part_is_only_what_lies_between, f) {
    struct run *run = make_run(f->device, WEFT_CHECKPOINTS_NODES, false);
    weft_plan *part = NULL;
    weft_port_info port;
    weft_plan_info info;
    const uint32_t record = record_named(run->receipt, "node 8 binary");
    assert_ok(weft_receipt_compile_part(&part, run->receipt, record, run->plan));
    assert_ok(weft_plan_get_port(part, 0, &port));
    assert_string_equal(port.name, "node 4 layer_norm");
    assert_ok(weft_plan_get_port(part, 1, &port));
    assert_string_equal(port.name, "node 7 matmul");
    assert_ok(weft_plan_get_port(part, 2, &port));
    assert_true(port.is_output);
    assert_ok(weft_plan_get_info(part, &info));
    assert_int_equal(info.dispatches, 1);
    weft_plan_destroy(&part);
    end_run(run);
}

/* A receipt that is like another, but for the hash of one record. */
static weft_receipt *forge(const weft_receipt *receipt, uint32_t wrong, const weft_digest *digest) {
    weft_receipt *forged = NULL;
    assert_ok(weft_receipt_begin(&forged, &receipt->host));
    for (uint32_t i = 0; i < receipt->count; i++) {
        const struct weft_record *record = &receipt->records[i];
        const weft_digest *hash = i == wrong ? digest : record->has_digest ? &record->digest : NULL;
        assert_ok(weft_receipt_add(forged, record->kind, record->name, record->type, hash));
    }
    return forged;
}

WEFT_TEST_ON_GRAPH(a_wrong_value_and_a_wrong_tensor_are_told_apart, f) {
    struct run *run = make_run(f->device, WEFT_CHECKPOINTS_NODES, false);
    const uint32_t record = record_named(run->receipt, "node 6 activation");
    const weft_digest wrong = weft_digest_of("wrong", 5);
    weft_receipt *forged = forge(run->receipt, record, &wrong);
    weft_receipt_opened opened = open_record(run, forged, record);
    assert_false(opened.same);
    assert_int_equal(opened.other, UINT32_MAX);
    weft_record_info info;
    assert_ok(weft_receipt_get_record(run->receipt, record, &info));
    assert_string_equal(opened.sha256, info.sha256); /* what is right */
    weft_receipt_destroy(&forged);
    const uint32_t before = record_named(run->receipt, "node 5 matmul");
    forged = forge(run->receipt, before, &wrong);
    opened = open_record(run, forged, record);
    assert_false(opened.same);
    assert_int_equal(opened.other, before);
    weft_receipt_destroy(&forged);
    end_run(run);
}

static weft_status answer(void *user, uint32_t party, uint32_t index, const char **json,
                          size_t *size) {
    weft_receipt *const *receipts = user;
    *json = weft_receipt_proof(receipts[party], index);
    *size = strlen(*json);
    return WEFT_OK;
}

/*
 * A maker who has one wrong bit in one of 1,000 random places of what the run made, and goes on from it as if nothing were:
 * the referee finds the record from two roots, and one opened value shows who is right.
 */
WEFT_TEST_ON_GRAPH(one_bit_in_a_thousand_places_of_a_run_is_located, f) {
    struct run *run = make_run(f->device, WEFT_CHECKPOINTS_NODES, false);
    uint32_t located = 0;
    for (uint32_t trial = 0; trial < 1000; trial++) {
        const uint32_t port = 1 + weft_philox_u32(5, 0, trial) % (run->count - 1);
        const weft_host_tensor *tensor = &run->tensors[port];
        const uint32_t bit = weft_philox_u32(5, 1, trial) % (8 * (uint32_t)tensor->bytes);
        const uint32_t record = record_named(run->receipt, tensor->name);
        uint8_t *bytes = tensor->data;
        bytes[bit / 8] ^= (uint8_t)(1U << bit % 8);
        weft_tree_hash hash;
        weft_tree_hash_begin(&hash);
        weft_tree_hash_add(&hash, bytes, (size_t)tensor->bytes);
        const weft_digest digest = weft_tree_hash_end(&hash);
        bytes[bit / 8] ^= (uint8_t)(1U << bit % 8);
        weft_receipt *receipts[2] = {run->receipt, forge(run->receipt, record, &digest)};
        const weft_referee_params params = {
            .roots = {weft_receipt_root(receipts[0]), weft_receipt_root(receipts[1])},
            .counts = {receipts[0]->count, receipts[1]->count},
            .ask = answer,
            .user = receipts};
        weft_referee_finding finding;
        assert_ok(weft_receipt_referee(&finding, &params, NULL));
        assert_int_equal(finding.first, record);
        assert_in_range(finding.asked, 1, 6);
        if (trial < 100) { /* the others are of the same records */
            const weft_receipt_opened opened = open_record(run, receipts[1], finding.first);
            assert_false(opened.same);
            assert_string_equal(opened.sha256,
                                weft_digest_text(&run->receipt->records[record].digest,
                                                 (char[WEFT_DIGEST_TEXT_SIZE]){""}));
        }
        located++;
        weft_proof_destroy(&finding.proofs[0]);
        weft_proof_destroy(&finding.proofs[1]);
        weft_receipt_destroy(&receipts[1]);
    }
    assert_int_equal(located, 1000);
    end_run(run);
}

WEFT_TEST_ON_GRAPH(what_cannot_be_opened_is_refused, f) {
    struct run *run = make_run(f->device, WEFT_CHECKPOINTS_NODES, true);
    weft_plan *part = NULL;
    weft_receipt_opened opened;
    const uint32_t record = record_named(run->receipt, "node 5 layer_norm");
    WEFT_EXPECT_FAILURE(f, WEFT_INVALID_ARGUMENT,
                        weft_receipt_compile_part(&part, run->receipt, 0, run->plan),
                        "expected a value or an output");
    WEFT_EXPECT_FAILURE(f, WEFT_INVALID_ARGUMENT,
                        weft_receipt_compile_part(&part, run->receipt, 99, run->plan), "record 99");
    weft_plan *closed = compile(f->device, WEFT_CHECKPOINTS_NODES, WEFT_OPENING_NONE, true);
    WEFT_EXPECT_FAILURE(f, WEFT_INVALID_ARGUMENT,
                        weft_receipt_compile_part(&part, run->receipt, record, closed),
                        "weft_plan_params.opening");
    weft_plan_destroy(&closed);
    WEFT_EXPECT_FAILURE(f, WEFT_INVALID_ARGUMENT,
                        weft_plan_execute(run->plan, run->tensors, run->count), "OPENING_ONLY");
    assert_ok(weft_receipt_compile_part(&part, run->receipt, record, run->plan));
    WEFT_EXPECT_FAILURE(
        f, WEFT_NOT_FOUND,
        weft_receipt_open(&opened, run->receipt, record, run->plan, part, run->tensors, 0),
        "which is not given");
    weft_host_tensor chosen[PORTS];
    const uint32_t count = choose(chosen, run, part);
    for (uint32_t i = 0; i < count; i++) {
        weft_host_tensor *tensor = &chosen[i];
        if (strcmp(tensor->name, "lengths") == 0) {
            continue;
        }
        tensor->bytes -= 4;
        WEFT_EXPECT_FAILURE(
            f, WEFT_SHAPE_MISMATCH,
            weft_receipt_open(&opened, run->receipt, record, run->plan, part, chosen, count),
            "expected 768 bytes");
        tensor->bytes += 4;
    }
    weft_plan_destroy(&part);
    end_run(run);
}

/* ---- for other tools ---- */

WEFT_TEST_ON_GRAPH(statements_have_the_published_fields, f) {
    struct run *run = make_run(f->device, WEFT_CHECKPOINTS_NONE, false);
    const weft_digest file = weft_digest_of("file", 4);
    char sha256[WEFT_DIGEST_TEXT_SIZE];
    const char *text = weft_receipt_statement(run->receipt, "r \"1\".json",
                                              weft_digest_text(&file, sha256), false);
    assert_non_null(text);
    json_t *statement = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    const char *type = NULL, *name = NULL, *digest = NULL, *predicate = NULL, *root = NULL;
    json_t *records = NULL;
    assert_int_equal(json_unpack(statement, "{s:s, s:[{s:s, s:{s:s}}], s:s, s:{s:s, s:o}}", "_type",
                                 &type, "subject", "name", &name, "digest", "sha256", &digest,
                                 "predicateType", &predicate, "predicate", "root", &root, "records",
                                 &records),
                     0);
    assert_string_equal(type, "https://in-toto.io/Statement/v1");
    assert_string_equal(name, "r \"1\".json");
    assert_string_equal(digest, sha256);
    assert_string_equal(predicate, "urn:weft:receipt:3");
    assert_string_equal(root, weft_receipt_root(run->receipt));
    assert_int_equal(json_array_size(records), 4); /* bits, math, weights, y */
    assert_int_equal(json_object_size(statement), 4);
    json_decref(statement);
    assert_null(weft_receipt_statement(run->receipt, "\xff", sha256, false));
    assert_null(weft_receipt_statement(run->receipt, "a", "0", false));
    end_run(run);
}

/* RFC 4648 in one line, for the test alone. */
static size_t decode(char *out, const char *text) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t size = 0;
    uint32_t bits = 0, group = 0;
    for (; *text != '\0' && *text != '='; text++) {
        const char *digit = strchr(digits, *text);
        assert_non_null(digit);
        group = group << 6 | (uint32_t)(digit - digits);
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            out[size++] = (char)(group >> bits & 255);
        }
    }
    out[size] = '\0';
    return size;
}

WEFT_TEST_ON_GRAPH(envelopes_hold_the_statement, f) {
    struct run *run = make_run(f->device, WEFT_CHECKPOINTS_NONE, false);
    char sha256[WEFT_DIGEST_TEXT_SIZE];
    const weft_digest file = weft_digest_of("file", 4);
    weft_digest_text(&file, sha256);
    for (size_t padding = 0; padding < 3; padding++) { /* of each length of base64 */
        const char *name = &"abc"[padding];
        char *statement =
            weft_test_text("%s", weft_receipt_statement(run->receipt, name, sha256, false));
        json_t *envelope = json_loads(weft_receipt_statement(run->receipt, name, sha256, true),
                                      JSON_REJECT_DUPLICATES, NULL);
        const char *type = NULL, *payload = NULL;
        json_t *signatures = NULL;
        assert_int_equal(json_unpack(envelope, "{s:s, s:s, s:o}", "payloadType", &type, "payload",
                                     &payload, "signatures", &signatures),
                         0);
        assert_string_equal(type, "application/vnd.in-toto+json");
        assert_true(json_is_array(signatures) && json_array_size(signatures) == 0);
        char *decoded = calloc(strlen(payload) + 1, 1);
        assert_non_null(decoded);
        assert_int_equal(decode(decoded, payload), strlen(statement));
        assert_string_equal(decoded, statement);
        free(decoded);
        json_decref(envelope);
    }
    end_run(run);
}
