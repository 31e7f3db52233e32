/* SPDX-License-Identifier: MIT */
#include "eval/job.h"

#include "eval/load.h"

int weft_cli_job_load(weft_cli_job *job, const weft_cli_common *common, const char *model,
                      const char *path, const weft_cli_data *data) {
    *job = (weft_cli_job){.common = common, .data = data};
    WEFT_CLI_TRY(weft_cli_session_load(&job->session, common, model));
    if (job->session.info.multi_label) {
        return weft_cli_bad_file(&job->session.host,
                                 "%s: expected a model with one right label, found one with "
                                 "multi_label: weft run gives its probabilities",
                                 model);
    }
    if (job->session.info.image_size > 0) {
        return weft_cli_bad_file(&job->session.host,
                                 "%s: expected a model of texts, tokens or vectors, found one of "
                                 "images: weft run takes these",
                                 model);
    }
    if (data) {
        return weft_cli_data_check(data, &job->session);
    }
    job->data = &job->own;
    return weft_cli_data_load(&job->own, path, &job->session);
}

int weft_cli_job_run(weft_cli_job *job, uint32_t batch, const char *label) {
    WEFT_CLI_TRY(weft_cli_session_open(&job->session, job->common));
    WEFT_CLI_TRY(weft_cli_exit_code(weft_cli_data_note(job->data, &job->session)));
    WEFT_CLI_TRY(weft_cli_exit_code(weft_cli_score_begin(&job->score, job->data, &job->session)));
    WEFT_CLI_TRY(weft_cli_evaluate(&job->evaluation, &job->score, batch, label));
    WEFT_CLI_TRY(weft_cli_exit_code(weft_cli_score_note(&job->score)));
    if (job->expected.path && weft_cli_job_is_whole(job)) {
        job->comparison = weft_cli_compare(&job->score, &job->expected);
    }
    return weft_cli_exit_code(weft_device_get_stats(job->session.device, &job->stats));
}

bool weft_cli_job_is_whole(const weft_cli_job *job) {
    return job->score.taken == job->data->example_count;
}

void weft_cli_job_clear(weft_cli_job *job) {
    weft_host host = job->session.host;
    weft_cli_score_clear(&job->score);
    weft_cli_expected_clear(&job->expected, &host);
    weft_cli_data_clear(&job->own, &host);
    weft_cli_session_close(&job->session);
    *job = (weft_cli_job){0};
}
