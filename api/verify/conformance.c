/* SPDX-License-Identifier: MIT */
/* The table of families, and making cases. */
#include "verify/conformance.h"

#include <stdio.h>
#include <string.h>

#define WEFT_FAMILY_ADDRESS(name) &weft_case_family_##name,
static const weft_case_family *const families[] = {WEFT_FAMILIES(WEFT_FAMILY_ADDRESS)};
#undef WEFT_FAMILY_ADDRESS

const weft_case_family *weft_case_family_at(uint32_t index) {
    return index < sizeof families / sizeof families[0] ? families[index] : NULL;
}

const char *weft_case_name(char text[WEFT_CASE_NAME_SIZE], const weft_case_family *family,
                           uint32_t index) {
    char rest[WEFT_CASE_NAME_SIZE] = "";
    family->name_case(rest, index);
    snprintf(text, WEFT_CASE_NAME_SIZE, "%s/%.*s", family->name,
             (int)(WEFT_CASE_NAME_SIZE - strlen(family->name) - 2), rest);
    return text;
}

/* From the name, so that new cases leave the inputs of the others as they are. */
static uint64_t seed_of(const weft_case_family *family, uint32_t index) {
    char name[WEFT_CASE_NAME_SIZE];
    weft_case_name(name, family, index);
    weft_digest digest = weft_digest_of(name, strlen(name));
    uint64_t seed = 0;
    for (int byte = 0; byte < 8; byte++) {
        seed = seed << 8 | digest.bytes[byte];
    }
    return seed;
}

weft_status weft_case_create(weft_case *c, const weft_case_family *family, uint32_t index,
                             const weft_host *host) {
    *c = (weft_case){.ref.host = host == NULL ? (weft_host){0} : *host,
                     .seed = seed_of(family, index),
                     .tolerance = family->tolerance,
                     .only_reproducible = family->is_special,
                     .only_ops = family->is_special};
    weft_case_check(c, weft_graph_create(&c->graph, &c->ref.host));
    if (c->ref.status == WEFT_OK) {
        family->build(c, index);
    }
    weft_reference_end(&c->ref);
    c->arrays = NULL;
    return c->ref.status;
}

static void free_ports(weft_case *c, weft_case_port *ports, uint32_t count) {
    for (uint32_t index = 0; index < count; index++) {
        weft_free(&c->ref.host, ports[index].data);
        weft_free(&c->ref.host, ports[index].value);
        weft_free(&c->ref.host, ports[index].allowed);
        weft_free(&c->ref.host, ports[index].words);
    }
}

void weft_case_destroy(weft_case *c) {
    weft_graph_destroy(&c->graph);
    free_ports(c, c->inputs, c->input_count);
    free_ports(c, c->outputs, c->output_count);
    *c = (weft_case){0};
}
