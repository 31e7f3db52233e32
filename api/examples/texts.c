/* SPDX-License-Identifier: MIT */
/* texts FOLDER QUERY TEXT…: makes vectors of texts by an encoder, and sorts them by how well they answer the query. */
#include <stdio.h>
#include <string.h>
#include <weft/texts.h>

enum { MOST = 64 };

static void print_log(void *user, weft_log_level level, const char *message) {
    (void)user;
    if (level <= WEFT_LOG_WARNING) {
        fprintf(stderr, "%s\n", message);
    }
}

int main(int argc, char **argv) {
    weft_text_input inputs[MOST];
    weft_ranked ranked[MOST];
    const uint32_t count = argc > 3 && argc - 3 <= MOST ? (uint32_t)argc - 3 : 0;
    for (int i = 2; i < argc && count > 0; i++) { /* the query first */
        inputs[i - 2] = (weft_text_input){.text = argv[i], .size = strlen(argv[i])};
    }
    weft_host host = {.log = print_log};
    weft_device *device = NULL;
    weft_model *model = NULL;
    weft_texts *texts = NULL;
    const char *prompt = NULL;
    weft_model_info info = {0};
    weft_status status = count > 0 ? WEFT_OK : WEFT_INVALID_ARGUMENT;
    status = status ? status : weft_device_open(&device, weft_device_params(.host = host));
    status = status ? status : weft_model_load(&model, argv[1], &host);
    status = status ? status : weft_model_get_info(model, &info);
    if (status == WEFT_OK && info.task != WEFT_TASK_EMBED) { /* no modules.json */
        status = weft_model_set_vectors(&prompt, model, weft_vectors_params(.pooling = "mean"));
    }
    status = status ? status : weft_texts_create(&texts, model, device, NULL);
    status = status ? status
                    : weft_texts_rank(ranked, texts,
                                      weft_rank_params(.query = &inputs[0], .texts = &inputs[1],
                                                       .count = count));
    for (uint32_t i = 0; status == WEFT_OK && i < count; i++) {
        printf("%.4f  %s\n", ranked[i].score, argv[3 + ranked[i].index]);
    }
    weft_texts_destroy(&texts); /* before its device */
    weft_model_destroy(&model);
    weft_device_destroy(&device);
    return status == WEFT_OK ? 0 : 1;
}
