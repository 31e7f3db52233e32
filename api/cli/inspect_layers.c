/* SPDX-License-Identifier: MIT */
#include "inspect_layers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/try.h"

#define UNKNOWN (UINT32_MAX - 1)

/* The line of a dump that begins with a node's name, such as "%12", in fresh memory or null. */
static char *find_line(const char *dump, const char *name, const weft_host *host) {
    size_t length = strlen(name);
    for (const char *line = dump; line && *line != '\0';) {
        const char *end = strchr(line, '\n');
        size_t size = !end ? strlen(line) : (size_t)(end - line);
        if (size > length && strncmp(line, name, length) == 0 && line[length] == ' ') {
            return weft_format(host, "%.*s", (int)size, line);
        }
        line = !end ? NULL : end + 1;
    }
    return weft_strdup(host, "");
}

/* The layer, from the weights that a line names. */
static uint32_t layer_of_line(const char *line) {
    static const char marker[] = "layer";
    for (const char *at = strstr(line, marker); at; at = strstr(at + 1, marker)) {
        const char *number = at + strlen(marker);
        number += *number == 's';
        if (number[0] == '.' && number[1] >= '0' && number[1] <= '9') {
            return (uint32_t)strtoul(number + 1, NULL, 10);
        }
    }
    bool has_weight = strstr(line, ".weight") || strstr(line, ".bias");
    return has_weight ? WEFT_CLI_NO_LAYER : UNKNOWN;
}

static weft_status find_layer(uint32_t *layer, const weft_plan *plan, uint32_t index,
                              const char *dump, const weft_host *host) {
    weft_dispatch_info dispatch;
    WEFT_TRY(weft_plan_get_dispatch(plan, index, &dispatch));
    const char *name = strrchr(dispatch.node, '%');
    if (!name) {
        *layer = UNKNOWN;
        return WEFT_OK;
    }
    char *line = find_line(dump, name, host);
    if (!line) {
        return weft_fail_memory(host, "a line of the plan");
    }
    *layer = layer_of_line(line);
    weft_free(host, line);
    return WEFT_OK;
}

weft_status weft_cli_dispatch_layers(uint32_t *layers, uint32_t count, const weft_plan *plan,
                                     const weft_host *host) {
    const char *dump = NULL;
    WEFT_TRY(weft_plan_describe(plan, "choose", &dump));
    for (uint32_t index = 0; index < count; index++) {
        WEFT_TRY(find_layer(&layers[index], plan, index, dump, host));
    }
    uint32_t next = WEFT_CLI_NO_LAYER;
    for (uint32_t index = count; index > 0; index--) {
        layers[index - 1] = layers[index - 1] == UNKNOWN ? next : layers[index - 1];
        next = layers[index - 1];
    }
    return WEFT_OK;
}
