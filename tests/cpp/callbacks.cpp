/* SPDX-License-Identifier: MIT */
/* Exceptions out of what the library calls: weft.hpp catches them, and a job system without it loses its device. */
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include <weft/mixers.h>
#include <weft/weft.hpp>

#include "check.hpp"

namespace {

constexpr unsigned N = 256;
constexpr std::size_t COUNT = std::size_t(N) * N;

/* A plan on the processor device, and a run of it. */
struct run {
    weft_device *device = nullptr;
    weft_graph *graph = nullptr;
    weft_plan *plan = nullptr;
    std::vector<float> x = std::vector<float>(COUNT), y = std::vector<float>(COUNT);

    run(const weft_host &host, const weft_job_system *jobs) {
        weft_device_params params = {};
        params.host = host;
        params.select = "processor";
        params.jobs = jobs;
        CHECK(weft_device_open(&device, &params) == WEFT_OK);
        weft_tensor tensor = {};
        CHECK(weft_graph_create(&graph, nullptr) == WEFT_OK);
        CHECK(weft_graph_input(&tensor, graph, "x", WEFT_F32, weft::shape_of(N, N)) == WEFT_OK);
        CHECK(weft_graph_softmax(&tensor, graph, tensor) == WEFT_OK);
        CHECK(weft_graph_output(graph, "y", tensor) == WEFT_OK);
        CHECK(weft_plan_compile(&plan, device, graph, nullptr) == WEFT_OK);
        for (std::size_t i = 0; i < COUNT; i++) {
            x[i] = static_cast<float>(i % 97) / 9.0F;
        }
    }
    run(const run &) = delete;
    run &operator=(const run &) = delete;
    ~run() {
        weft_plan_destroy(&plan);
        weft_graph_destroy(&graph);
        weft_device_destroy(&device);
    }

    weft_status execute() {
        const weft_host_tensor tensors[] = {{"x", x.data(), COUNT * sizeof(float)},
                                            {"y", y.data(), COUNT * sizeof(float)}};
        std::memset(y.data(), 0, COUNT * sizeof(float));
        return weft_plan_execute(plan, tensors, 2);
    }
};

std::vector<float> expected() {
    run plain(weft_host{}, nullptr);
    CHECK(plain.execute() == WEFT_OK);
    return plain.y;
}

/* The thread that waits does the job. */
void jobs_by_what_throws(const std::vector<float> &right) {
    bool boom = false;
    auto jobs = [&boom](weft::job work, std::uint32_t slots) {
        if (boom) {
            throw std::runtime_error("the pool is shutting down");
        }
        for (std::uint32_t slot = 0; slot < slots; slot++) {
            work(slot);
        }
    };
    const weft_job_system system = weft::jobs_by(jobs, 2);
    run it(weft_host{}, &system);
    for (int round = 0; round < 2; round++) {
        boom = round == 0;
        CHECK(it.execute() == WEFT_OK);
        CHECK(it.y == right);
    }
}

/* Through the frames of C: the caller gets it, and then the device is lost. */
void a_job_system_of_c_that_throws() {
    struct state {
        bool boom = false;
        std::string log;
    } state;
    auto log = [&state](weft_log_level, const char *line) { state.log += line; };
    weft_job_system jobs = {};
    jobs.concurrency = 2;
    jobs.user = &state;
    jobs.run = [](void *user, weft_job work, void *job, std::uint32_t slots) {
        if (static_cast<struct state *>(user)->boom) {
            throw std::runtime_error("the pool is shutting down");
        }
        for (std::uint32_t slot = 0; slot < slots; slot++) {
            work(job, slot);
        }
    };
    run it(weft::log_to(log), &jobs);
    CHECK(it.execute() == WEFT_OK);
    state.boom = true;
    bool caught = false;
    try {
        (void)it.execute();
    } catch (const std::runtime_error &) {
        caught = true;
    }
    CHECK(caught);
    CHECK(state.log.find("job system's run did not return") != std::string::npos);
    state.boom = false;
    CHECK(it.execute() == WEFT_DEVICE_LOST);
    CHECK(it.execute() == WEFT_DEVICE_LOST);
}

void others_that_throw(const std::vector<float> &right) {
    auto log = [](weft_log_level, const char *) { throw std::runtime_error("disk full"); };
    bool boom = false;
    auto interrupted = [&boom]() -> bool {
        if (boom) {
            throw std::runtime_error("stop");
        }
        return false;
    };
    run it(weft::interrupted_by(interrupted, weft::log_to(log)), nullptr);
    CHECK(it.execute() == WEFT_OK);
    CHECK(it.y == right);
    boom = true;
    CHECK(it.execute() == WEFT_CANCELLED);
    boom = false;
    CHECK(it.execute() == WEFT_OK);
    CHECK(it.y == right);
}

} // namespace

int main() {
    const std::vector<float> right = expected();
    jobs_by_what_throws(right);
    a_job_system_of_c_that_throws();
    others_that_throw(right);
    return failures == 0 ? 0 : 1;
}
