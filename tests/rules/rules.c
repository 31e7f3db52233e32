/* SPDX-License-Identifier: MIT */
#include "core/rules.h"

#include <stdlib.h>
#include <string.h>

/* WEFT_BREAK holds the rules to break, with commas between them. */
bool weft_rule_holds(const char *rule) {
    const char *list = getenv("WEFT_BREAK");
    const size_t length = strlen(rule);
    while (list && *list != '\0') {
        if (strncmp(list, rule, length) == 0 && (list[length] == '\0' || list[length] == ',')) {
            return false;
        }
        list = strchr(list, ',');
        list = !list ? NULL : list + 1;
    }
    return true;
}
