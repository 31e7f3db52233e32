/* SPDX-License-Identifier: MIT */
#include "bench/machines.h"

#include <string.h>

#include "bench/fields.h"

#define MIB 1048576

static const char *const told[] = {
    "label", "cpu", "cores", "system", "memory", "governor", "energy_preference", "power_plan"};

#define TOLD (sizeof told / sizeof told[0])

static bool is_same(const json_t *machine, const json_t *facts, const char *name) {
    const json_t *one = json_object_get(machine, name);
    const json_t *other = json_object_get(facts, name);
    return json_equal(one, other) || (json_is_null(one) && !other);
}

/* Kernels keep some of it for themselves, the one more than the other. */
static bool is_same_memory(const json_t *machine, const json_t *facts) {
    const double one = weft_bench_number(machine, "memory");
    const double other = weft_bench_number(facts, "memory");
    return (one > 0.0) == (other > 0.0) && one - other < 256.0 * MIB && other - one < 256.0 * MIB;
}

static bool have_common(const json_t *some, json_t *others) {
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach(others, key, value) {
        if (json_object_get(some, key)) {
            return true;
        }
    }
    return false;
}

static bool is_of(const json_t *machine, const json_t *facts, const weft_bench_place *place,
                  json_t *timed) {
    return strcmp(weft_bench_text(machine, "folder"), place->folder) == 0 &&
           is_same(machine, facts, "label") && is_same(machine, facts, "cpu") &&
           is_same(machine, facts, "cores") && is_same_memory(machine, facts) &&
           (json_is_string(json_object_get(machine, "label")) ||
            !have_common(json_object_get(machine, "timed"), timed));
}

size_t weft_bench_machine_find(json_t *machines, const json_t *facts, const weft_bench_place *place,
                               json_t *timed) {
    for (size_t i = 0; i < json_array_size(machines); i++) {
        json_t *machine = json_array_get(machines, i);
        if (is_of(machine, facts, place, timed)) {
            json_object_update(json_object_get(machine, "timed"), timed);
            return i;
        }
    }
    json_t *machine = json_pack("{s:s, s:s, s:s, s:O}", "name", place->name, "folder",
                                place->folder, "file", place->file, "timed", timed);
    for (size_t i = 0; i < TOLD; i++) {
        const json_t *value = json_object_get(facts, told[i]);
        json_object_set_new(machine, told[i], value ? json_deep_copy(value) : json_null());
    }
    json_array_append_new(machines, machine);
    return json_array_size(machines) - 1;
}

void weft_bench_machines_name(json_t *machines) {
    const size_t count = json_array_size(machines);
    json_t *uses = json_object(); /* of each name */
    for (size_t i = 0; i < count; i++) {
        json_t *machine = json_array_get(machines, i);
        const json_t *label = json_object_get(machine, "label");
        if (json_is_string(label)) {
            json_object_set(machine, "name", (json_t *)(uintptr_t)label);
        }
        const char *name = weft_bench_text(machine, "name");
        json_object_set_new(uses, name,
                            json_integer(json_integer_value(json_object_get(uses, name)) + 1));
    }
    for (size_t i = 0; i < count; i++) {
        json_t *machine = json_array_get(machines, i);
        const char *name = weft_bench_text(machine, "name");
        const char *file = weft_bench_text(machine, "file");
        if (json_integer_value(json_object_get(uses, name)) > 1) {
            const bool labelled = json_is_string(json_object_get(machine, "label"));
            json_object_set_new(machine, "name",
                                labelled ? json_sprintf("%s (%s)", name, file) : json_string(file));
        }
        json_object_del(machine, "folder");
        json_object_del(machine, "timed");
    }
    json_decref(uses);
}
