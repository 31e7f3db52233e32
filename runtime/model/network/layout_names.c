/* SPDX-License-Identifier: MIT */
/* Names of tensors in published layouts, and the owners of unused ones. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "model/network/layout.h"
#include "model/network/network.h"

static bool begins(const char *name, const char *start) {
    return strncmp(name, start, strlen(start)) == 0;
}

static bool ends(const char *name, const char *end) {
    const size_t length = strlen(name), size = strlen(end);
    return length >= size && strcmp(name + length - size, end) == 0;
}

/* Rest of a name after `pattern`, if the name contains it; *number and *digits are the digits for its #. */
static const char *behind(const char *name, const char *pattern, const char **number,
                          size_t *digits) {
    for (; *pattern; pattern++) {
        if (*pattern == '#') {
            *number = name;
            *digits = 0;
            while (isdigit((unsigned char)name[*digits])) {
                ++*digits;
            }
            if (*digits == 0) {
                return NULL;
            }
            name += *digits;
        } else if (*pattern != *name++) {
            return NULL;
        }
    }
    return *name == '\0' || *name == '.' ? name : NULL;
}

/* The name of the table for ours, without the prefix, of the rows from *row on: that is then the next one. Ours itself if there is none. */
static bool translate(struct weft_stored_name *stored, const struct weft_tensor_name **row,
                      const char *ours) {
    stored->row = NULL;
    snprintf(stored->text, sizeof stored->text, "%s", ours);
    for (; (*row)->ours; ++*row) {
        const struct weft_tensor_name *found = *row;
        const char *number = "";
        size_t digits = 0;
        const char *rest = behind(ours, found->ours, &number, &digits);
        if (rest) {
            const char *hole = strchr(found->theirs, '#');
            const size_t front = hole ? (size_t)(hole - found->theirs) : strlen(found->theirs);
            snprintf(stored->text, sizeof stored->text, "%.*s%.*s%s%s", (int)front, found->theirs,
                     hole ? (int)digits : 0, number, hole ? hole + 1 : "", rest);
            stored->row = found;
            ++*row;
            return true;
        }
    }
    return false;
}

bool weft_layout_is_numbered(const char *name) {
    return strchr(name, '*') != NULL;
}

void weft_layout_number(struct weft_stored_name *one, const char *name, uint32_t number) {
    const char *hole = strchr(name, '*');
    one->row = NULL;
    if (hole) {
        snprintf(one->text, sizeof one->text, "%.*s%u%s", (int)(hole - name), name, number,
                 hole + 1);
    } else {
        snprintf(one->text, sizeof one->text, "%s", name);
    }
}

/* True if the file has it: of the tensors of experts, the first. */
static bool is_there(const struct weft_checkpoint *file, const char *name) {
    struct weft_stored_name one;
    weft_layout_number(&one, name, 0);
    return weft_checkpoint_has(file, one.text);
}

static void put_prefix(struct weft_stored_name *stored, const char *prefix) {
    const struct weft_stored_name bare = *stored;
    snprintf(stored->text, sizeof stored->text, "%.64s%.180s", prefix, bare.text);
}

/* True if the names of some tensors of the file have it. */
static bool has_prefix(const struct weft_checkpoint *file, const char *prefix) {
    for (uint32_t i = 0; i < weft_checkpoint_count(file); i++) {
        if (begins(weft_checkpoint_name(file, i), prefix)) {
            return true;
        }
    }
    return false;
}

/* The file's tensor of that name, with the prefix or without; false: it has neither. */
static bool add_prefix(struct weft_stored_name *stored, const struct weft_layout *layout,
                       const struct weft_checkpoint *file) {
    struct weft_stored_name full = *stored;
    put_prefix(&full, layout->prefix);
    if (is_there(file, full.text)) {
        *stored = full;
        return true;
    }
    return is_there(file, stored->text);
}

/* Adds the names that norms had in TensorFlow, which the oldest and most used files of BERT still have. */
static bool add_older(struct weft_stored_name *stored, const struct weft_layout *layout,
                      const struct weft_checkpoint *file) {
    static const char *const names[][2] = {{"LayerNorm.weight", "LayerNorm.gamma"},
                                           {"LayerNorm.bias", "LayerNorm.beta"}};
    for (size_t i = 0; i < 2; i++) {
        struct weft_stored_name older = *stored;
        if (ends(stored->text, names[i][0])) {
            const size_t front = strlen(stored->text) - strlen(names[i][0]);
            snprintf(older.text + front, sizeof older.text - front, "%s", names[i][1]);
            if (add_prefix(&older, layout, file)) {
                *stored = older;
                return true;
            }
        }
    }
    return false;
}

/* The second name of a tensor of ours, if this head shares it; or null. */
static const char *second_name(char *text, size_t size, const struct weft_head *head,
                               const struct weft_network *network, const char *ours) {
    const bool words =
        network->config.tie_word_embeddings && strcmp(ours, "embeddings.tokens.weight") == 0;
    if (!weft_head_is_language(head) ||
        (!words && (!head->bias || strcmp(ours, head->bias) != 0))) {
        return NULL;
    }
    snprintf(text, size, "%s.%s", head->out, words ? "weight" : "bias");
    return text;
}

void weft_layout_find(struct weft_stored_name *stored, const struct weft_network *network,
                      const char *ours) {
    const struct weft_layout *layout = network->layout;
    const struct weft_tensor_name *row = layout->names;
    bool more = translate(stored, &row, ours);
    const struct weft_stored_name usual = *stored;
    do { /* of several rows, the first counts that names a tensor of the file */
        if (add_prefix(stored, layout, network->checkpoint) ||
            add_older(stored, layout, network->checkpoint)) {
            return;
        }
        more = more && translate(stored, &row, ours);
    } while (more);
    *stored = usual;
    /* safetensors keeps one of the names that share memory: perhaps the head's. */
    for (const struct weft_head *head = layout->heads; head->name; head++) {
        char name[sizeof stored->text];
        if (second_name(name, sizeof name, head, network, ours) &&
            weft_checkpoint_has(network->checkpoint, name)) {
            memcpy(stored->text, name, sizeof name);
            return;
        }
    }
    if (stored->row && has_prefix(network->checkpoint, layout->prefix)) {
        put_prefix(stored, layout->prefix); /* it is not there: so it is called in the message */
    }
}

/* ---- other tensors ---- */

/* True if a part of that name has the tensor. */
static bool is_in(const char *name, const char *part) {
    const size_t size = part ? strlen(part) : 0;
    return part && strncmp(name, part, size) == 0 && (name[size] == '.' || name[size] == '\0');
}

static bool is_of_head(const struct weft_head *head, const char *name) {
    return is_in(name, head->dense) || is_in(name, head->norm) || is_in(name, head->out) ||
           is_in(name, head->older) || is_in(name, head->part);
}

/* True if a tensor stands beside a part of that name, below the same module. */
static bool is_beside(const char *name, const char *part) {
    const char *point = part ? strrchr(part, '.') : NULL;
    return point && strncmp(name, part, (size_t)(point - part) + 1) == 0;
}

static bool is_beside_head(const struct weft_head *head, const char *name) {
    return is_beside(name, head->dense) || is_beside(name, head->norm) ||
           is_beside(name, head->out);
}

/* True if an encoder's tensor has a name that begins like this: all up to the first point. */
static bool is_of_encoder(const struct weft_layout *layout, const char *name) {
    for (const struct weft_tensor_name *row = layout->names; row->ours; row++) {
        const size_t root = strcspn(row->theirs, ".#");
        if (strncmp(name, row->theirs, root) == 0 && (name[root] == '.' || name[root] == '\0')) {
            return true;
        }
    }
    return false;
}

enum weft_other_tensor weft_layout_other(const struct weft_layout *layout,
                                         const struct weft_head *head, const char *name) {
    const bool prefixed = begins(name, layout->prefix);
    const char *bare = prefixed ? name + strlen(layout->prefix) : name;
    for (const char *const *unused = layout->unused; unused && *unused; unused++) {
        if (ends(name, *unused)) {
            return WEFT_TENSOR_ELSEWHERE;
        }
    }
    for (const char *const *module = layout->beside; module && *module; module++) {
        if (is_in(name, *module)) {
            return WEFT_TENSOR_ELSEWHERE;
        }
    }
    if (is_of_head(head, bare)) {
        return WEFT_TENSOR_PART;
    }
    for (const struct weft_head *other = layout->heads; other->name; other++) {
        if (is_of_head(other, bare) || is_in(bare, other->bias)) {
            return WEFT_TENSOR_ELSEWHERE;
        }
    }
    if (is_beside_head(head, bare)) {
        return WEFT_TENSOR_PART;
    }
    for (const struct weft_head *other = layout->heads; other->name; other++) {
        if (is_beside_head(other, bare)) {
            return WEFT_TENSOR_ELSEWHERE;
        }
    }
    return prefixed || is_of_encoder(layout, bare) ? WEFT_TENSOR_PART : WEFT_TENSOR_UNKNOWN;
}
