/* SPDX-License-Identifier: MIT */
#include "model/towers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/math/portable_math.h"
#include "core/try.h"
#include "graph/graph.h"
#include "model/network/fields.h"
#include "model/network/network.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* A class, and those of its towers; without texts: null. */
struct class_of_towers {
    const char *name, *texts, *images;
};

static const struct kind_of_towers {
    const char *model_type, *texts, *images; /* and those of the towers */
    bool shares_projection;                  /* projection_dim beside the towers counts for both */
    struct class_of_towers classes[2];
} kinds[] = {
    {"clip",
     "clip_text_model",
     "clip_vision_model",
     true,
     {{"CLIPModel", "CLIPTextModelWithProjection", "CLIPVisionModelWithProjection"},
      {"CLIPForImageClassification", NULL, "CLIPForImageClassification"}}},
    {"siglip",
     "siglip_text_model",
     "siglip_vision_model",
     false,
     {{"SiglipModel", "SiglipTextModel", "SiglipVisionModel"},
      {"SiglipForImageClassification", NULL, "SiglipForImageClassification"}}},
};

static const struct kind_of_towers *find_kind(const json_t *fields) {
    const char *type = json_string_value(json_object_get(fields, "model_type"));
    for (size_t i = 0; type && i < COUNT(kinds); i++) {
        if (strcmp(type, kinds[i].model_type) == 0) {
            return &kinds[i];
        }
    }
    return NULL;
}

bool weft_towers_are_there(const struct weft_model_source *source) {
    return find_kind(source->fields) != NULL;
}

const char *weft_towers_types(void) {
    return "clip, siglip";
}

/* ---- configs ---- */

static weft_status read_class(const struct class_of_towers **found,
                              const struct kind_of_towers *kind, const weft_json_fields *json) {
    const json_t *list = json_object_get(json->object, "architectures");
    const json_t *entry = json_array_get(list, 0);
    char expected[128];
    if (!json_is_string(entry) || json_array_size(list) != 1) {
        return weft_json_fail(json, WEFT_BAD_FILE, "architectures", "an array of one string", list);
    }
    for (size_t i = 0; i < COUNT(kind->classes); i++) {
        if (strcmp(json_string_value(entry), kind->classes[i].name) == 0) {
            *found = &kind->classes[i];
            return WEFT_OK;
        }
    }
    snprintf(expected, sizeof expected, "%s or %s", kind->classes[0].name, kind->classes[1].name);
    return weft_fields_refuse_model(json, "architectures", expected, entry);
}

/* A field of the whole config that counts in a tower's. */
static int take(json_t *fields, const json_t *all, const char *name) {
    json_t *value = json_object_get(all, name);
    return value ? json_object_set(fields, name, value) : 0;
}

/* The fields that transformers makes a tower's config of. */
static int complete(json_t *fields, const json_t *all, const struct kind_of_towers *kind,
                    const char *model_type, const char *class_name) {
    static const char *const of_labels[] = {"id2label", "num_labels", "problem_type"};
    int failed = json_object_set_new(fields, "model_type", json_string(model_type));
    failed |= json_object_set_new(fields, "architectures", json_pack("[s]", class_name));
    for (size_t i = 0; i < COUNT(of_labels); i++) { /* a tower's own are none of its class's */
        (void)json_object_del(fields, of_labels[i]);
        failed |= take(fields, all, of_labels[i]);
    }
    if (kind->shares_projection) { /* the towers' own are not read */
        (void)json_object_del(fields, "projection_dim");
        failed |= take(fields, all, "projection_dim");
    }
    return failed;
}

/* What older files have besides: transformers lets these fields count. */
static weft_status refuse_older(const weft_json_fields *json, const char *config) {
    char name[64];
    snprintf(name, sizeof name, "%s_dict", config);
    return weft_json_has(json, name) ? weft_json_fail(json, WEFT_UNSUPPORTED, name, "null",
                                                      json_object_get(json->object, name))
                                     : WEFT_OK;
}

static weft_status make(struct weft_model_source *tower, const struct weft_model_source *source,
                        const struct kind_of_towers *kind, bool of_texts, const char *class_name,
                        const weft_host *host) {
    const weft_json_fields json = weft_source_fields(source, host);
    const char *config = of_texts ? "text_config" : "vision_config";
    const json_t *own = json_object_get(source->fields, config);
    if (weft_json_has(&json, config) && !json_is_object(own)) {
        return weft_json_fail(&json, WEFT_BAD_FILE, config, "an object", own);
    }
    WEFT_TRY(refuse_older(&json, config));
    *tower = *source;
    tower->fields = json_is_object(own) ? json_copy((json_t *)own) : json_object();
    tower->name = weft_format(host, "%s: %s", source->name, config);
    return tower->fields && tower->name &&
                   complete(tower->fields, source->fields, kind,
                            of_texts ? kind->texts : kind->images, class_name) == 0
               ? WEFT_OK
               : weft_fail_memory(host, "a tower's config");
}

weft_status weft_towers_split(struct weft_towers *towers, const struct weft_model_source *source,
                              const weft_host *host) {
    const struct kind_of_towers *kind = find_kind(source->fields);
    const struct class_of_towers *found = NULL;
    const weft_json_fields json = weft_source_fields(source, host);
    *towers = (struct weft_towers){.texts.fields = NULL};
    WEFT_TRY(read_class(&found, kind, &json));
    if (found->texts) {
        WEFT_TRY(make(&towers->texts, source, kind, true, found->texts, host));
    }
    return make(&towers->images, source, kind, false, found->images, host);
}

/* CLIP's have one width, and a map to it each; SigLIP's make vectors as they are. */
weft_status weft_towers_check(const struct weft_towers *towers, const struct weft_network *texts,
                              const struct weft_network *images, const weft_host *host) {
    const weft_json_fields of_texts = weft_source_fields(&towers->texts, host),
                           of_images = weft_source_fields(&towers->images, host);
    const uint32_t width = images->config.head.vector;
    char expected[80];
    if (width == 0) {
        return weft_fields_refuse(&of_images, "vision_use_head",
                                  "true, as vectors of images are compared with those of texts");
    }
    if (width != texts->config.head.vector) {
        snprintf(expected, sizeof expected, "%u, the hidden_size of vision_config", width);
        return weft_fields_refuse(&of_texts, "projection_size", expected);
    }
    return WEFT_OK;
}

static void clear(struct weft_model_source *tower, const weft_host *host) {
    json_decref(tower->fields);
    tower->fields = NULL;
    weft_free(host, tower->name);
    tower->name = NULL;
}

void weft_towers_clear(struct weft_towers *towers, const weft_host *host) {
    clear(&towers->texts, host);
    clear(&towers->images, host);
}

/* ---- similarity ---- */

static weft_status read_number(float *value, const struct weft_network *network, const char *name) {
    weft_weight *weight = NULL;
    WEFT_TRY(weft_checkpoint_vector(&weight, network->loaded, name, 1));
    const weft_status status = weft_weight_read(weight, 0, 1, value);
    weft_weight_destroy(&weight);
    return status;
}

/* A scale of 0 would say that there is no other tower. That both numbers are finite the checkpoint sees. */
weft_status weft_towers_read_similarity(weft_model_info *info, const struct weft_network *texts) {
    float scale = 0.0F;
    WEFT_TRY(read_number(&scale, texts, "logit_scale"));
    info->similarity_scale = (float)weft_portable_exp(scale);
    if (weft_checkpoint_has(texts->loaded, "logit_bias")) {
        WEFT_TRY(read_number(&info->similarity_bias, texts, "logit_bias"));
    }
    return info->similarity_scale > 0 && isfinite(info->similarity_scale)
               ? WEFT_OK
               : weft_fail(&texts->host, WEFT_BAD_FILE,
                           "%s: tensor \"logit_scale\": expected -87 to 88, found %g",
                           weft_checkpoint_path(texts->loaded), (double)scale);
}
