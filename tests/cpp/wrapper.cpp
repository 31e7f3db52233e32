/* SPDX-License-Identifier: MIT */
/*
 * The C++ headers: what handles own and when they destroy it, how errors travel, that results are those of the C functions, and
 * a plan in a command buffer of this program's own. Without exceptions and RTTI; WEFT_SOURCE_DIR is the repository.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <weft/weft.hpp>
#ifdef WITH_VULKAN
#include <dlfcn.h>
#include <weft/vulkan.hpp>
#endif

#include "check.hpp"

namespace {

/* Counts what is allocated now, and keeps the errors. */
struct watch {
    long blocks = 0;
    std::vector<std::string> errors;

    void operator()(weft::log_level level, const char *message) {
        if (level == WEFT_LOG_ERROR) {
            errors.emplace_back(message);
        }
    }

    static void *reallocate(void *user, void *pointer, std::size_t size) {
        auto &self = *static_cast<watch *>(user);
        self.blocks += (pointer ? -1 : 0) + (size > 0 ? 1 : 0);
        if (size == 0) {
            std::free(pointer);
            return nullptr;
        }
        return std::realloc(pointer, size);
    }

    weft::host host() {
        weft::host made = {};
        made.reallocate = reallocate;
        made.allocator_user = this;
        return weft::log_to(*this, made);
    }
};

weft::device_params on(const weft::host &host) {
    weft::device_params params = {};
    params.host = host;
    params.cache_dir = "";
    return params;
}

constexpr std::uint32_t count = 6;

/* y = GELU(x), x [2, 3] */
weft::status build(weft::graph &graph) {
    const auto x = graph.input("x", WEFT_F32, weft::shape_of(2, 3));
    return graph.output("y", graph.activate(x, WEFT_ACTIVATION_GELU_TANH));
}

weft::result<weft::plan> compile(weft::device &device, const weft::host &host) {
    auto graph = weft::graph::create(&host);
    if (!graph) {
        return graph.status();
    }
    if (const weft::status status = build(*graph); !status.ok()) {
        return status;
    }
    return weft::plan::compile(device, *graph);
}

/* By the C functions alone. */
std::vector<float> expected(weft::device &device, std::vector<float> x) {
    std::vector<float> y(x.size());
    weft_graph *graph = nullptr;
    weft_plan *plan = nullptr;
    weft_tensor t = {};
    const weft_host_tensor tensors[] = {{"x", x.data(), x.size() * sizeof(float)},
                                        {"y", y.data(), y.size() * sizeof(float)}};
    CHECK(weft_graph_create(&graph, nullptr) == WEFT_OK);
    CHECK(weft_graph_input(&t, graph, "x", WEFT_F32, weft::shape_of(2, 3)) == WEFT_OK);
    CHECK(weft_graph_activate(&t, graph, t, WEFT_ACTIVATION_GELU_TANH) == WEFT_OK);
    CHECK(weft_graph_output(graph, "y", t) == WEFT_OK);
    CHECK(weft_plan_compile(&plan, device.get(), graph, nullptr) == WEFT_OK);
    CHECK(weft_plan_execute(plan, tensors, 2) == WEFT_OK);
    weft_plan_destroy(&plan);
    weft_graph_destroy(&graph);
    return y;
}

bool same_bits(const std::vector<float> &a, const std::vector<float> &b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

void results_are_those_of_c(weft::device &device, const weft::host &host) {
    const std::vector<float> x = {-2.0f, -0.5f, 0.0f, 0.25f, 1.0f, 3.0f};
    const std::vector<float> wanted = expected(device, x);
    auto plan = compile(device, host);
    CHECK(plan.ok());
    std::vector<float> y(count);
    const weft::host_tensor tensors[] = {weft::input_of("x", x), weft::output_to("y", y)};
    CHECK(plan->execute(tensors).ok());
    CHECK(same_bits(y, wanted));
    CHECK(y[5] > 2.9f && y[0] < 0.0f);

    auto input = weft::buffer::create(device, count * sizeof(float));
    auto output = weft::buffer::create(device, count * sizeof(float));
    auto bindings = weft::bindings::create(*plan);
    CHECK(weft::first_error(input, output, bindings).ok());
    CHECK(weft::first_error(bindings->set("x", *input), bindings->set("y", *output),
                            input->write(0, x))
              .ok());
    const auto ticket = plan->submit(*bindings);
    CHECK(ticket.ok());
    const auto done = plan->wait(*ticket, UINT64_MAX);
    CHECK(done.ok() && *done);
    std::vector<float> read(count);
    CHECK(output->read(0, read).ok());
    CHECK(same_bits(read, wanted));
    CHECK(output->size() == count * sizeof(float));
    const auto port = plan->port(1);
    CHECK(port.ok() && port->is_output && std::string_view(port->name) == "y");
    CHECK(plan->port(2).status().code() == WEFT_NOT_FOUND);
}

void errors_travel(weft::device &device, const weft::host &host, watch &seen) {
    auto params = on(host);
    params.select = "no such device";
    seen.errors.clear();
    const auto missing = weft::device::open(params);
    CHECK(!missing && missing.status().code() == WEFT_NOT_FOUND && missing->get() == nullptr);
    CHECK(std::string_view(missing.status().name()) == "WEFT_NOT_FOUND");
    CHECK(!seen.errors.empty() && seen.errors.back().find("no such device") != std::string::npos);

    auto graph = weft::graph::create(&host);
    const auto a = graph->input("a", WEFT_F32, weft::shape_of(2, 3));
    const auto b = graph->input("b", WEFT_F32, weft::shape_of(4, 5));
    seen.errors.clear();
    const auto product = graph->matmul(a, b);
    CHECK(product.status().code() == WEFT_SHAPE_MISMATCH);
    const std::size_t told = seen.errors.size();
    const auto sum = graph->binary(WEFT_BINARY_ADD, a, graph->softmax(product));
    CHECK(sum.status().code() == WEFT_SHAPE_MISMATCH);
    CHECK(graph->output("y", sum).code() == WEFT_SHAPE_MISMATCH);
    CHECK(told == 1 && seen.errors.size() == told); /* nothing was tried after it */
    CHECK(weft::first_error(a, b, product, missing).code() == WEFT_SHAPE_MISMATCH);
    /* The graph is as it was. */
    weft::matmul_params transposed = {};
    transposed.transpose_b = true;
    CHECK(graph->output("y", graph->matmul(a, a, transposed)).ok());
    const auto info = graph->info(*a);
    CHECK(info.ok() && weft::shape_equal(info->shape, weft::shape_of(2, 3)));
    CHECK(std::string_view(weft::shape_text(info->shape).c_str()) == "[2, 3]");
    CHECK(weft::plan::compile(device, *graph).ok());

    const float three[] = {1.0f, 2.0f, 3.0f};
    seen.errors.clear();
    CHECK(weft::weight::of(weft::shape_of(2, 2), three, &host).status().code() ==
          WEFT_INVALID_ARGUMENT);
    CHECK(seen.errors.size() == 1);
    CHECK(weft::weight::of(weft::shape_of(3), three, &host).ok());
    /* An optional operand is left out, a missing one is C's error. */
    CHECK(graph->linear(a, weft::none, weft::none).status().code() == WEFT_INVALID_ARGUMENT);
    const auto chained =
        weft::graph::create(&host).and_then([](weft::graph made) { return build(made); });
    CHECK(chained.ok());
    CHECK(weft::result<int>(WEFT_OK).status().code() == WEFT_INVALID_ARGUMENT);
}

void handles_own(const weft::host &host, const watch &seen) {
    const long before = seen.blocks;
    auto made = weft::graph::create(&host);
    CHECK(made.ok() && seen.blocks > before);
    const long one = seen.blocks;
    weft::graph first = *std::move(made);
    CHECK(first && !*made);
    weft_graph *raw = first.get();
    weft::graph second(std::move(first));
    CHECK(!first && second.get() == raw &&
          seen.blocks == one); // NOLINT: a moved-from handle is null
    weft::graph &itself = second;
    second = std::move(itself);
    CHECK(second.get() == raw);
    auto other = weft::graph::create(&host);
    CHECK(seen.blocks > one);
    second = *std::move(other); /* destroys what it had */
    CHECK(seen.blocks == one && second.get() != raw);
    weft::graph taken(second.release());
    CHECK(!second && taken && seen.blocks == one);
    weft::graph target;
    CHECK(weft::graph::create(&host).move_to(target).ok() && target);
    target.reset();
    taken.reset();
    CHECK(!taken && seen.blocks == before);
    static_assert(!std::is_copy_constructible_v<weft::plan> &&
                  !std::is_copy_assignable_v<weft::plan>);
    static_assert(std::is_nothrow_move_constructible_v<weft::plan>);
    static_assert(sizeof(weft::plan) == sizeof(weft_plan *));
}

/* A struct with its members in the order of use is destroyed in the right one. */
struct network {
    weft::device device;
    weft::plan plan;
    weft::bindings bindings;
};

void members_go_in_order() {
    watch seen;
    const weft::host host = seen.host();
    {
        network n;
        CHECK(weft::device::open(on(host)).move_to(n.device).ok());
        CHECK(compile(n.device, host).move_to(n.plan).ok());
        CHECK(weft::bindings::create(n.plan).move_to(n.bindings).ok());
        network moved = std::move(n);
        CHECK(moved.bindings && !n.device); // NOLINT: a moved-from handle is null
    }
    CHECK(seen.blocks == 0);
    CHECK(seen.errors.empty());
}

void models_speak(weft::device &device, const weft::host &host) {
    const std::string folder = std::string(WEFT_SOURCE_DIR) + "/api/examples/models/text-fmmformer";
    auto model = weft::model::load(folder.c_str(), &host);
    CHECK(model.ok());
    if (!model) {
        return;
    }
    auto tokens = model->tokenize("weft");
    CHECK(tokens.ok() && tokens->size() == 4);
    const auto text = model->detokenize(*tokens);
    CHECK(text.ok() && text->view() == "weft");
    weft::tokens moved = *std::move(tokens);
    CHECK(moved.size() == 4 && tokens->size() == 0);
    const auto weights = model->weights();
    CHECK(weights.ok() && weights->view().size() > 8 && weights->view()[8] == '{');
    CHECK(std::string_view(model->config()).find("fmmformer") != std::string_view::npos);
    const auto headless = model->without_head();
    CHECK(headless.ok() && headless->info()->task == WEFT_TASK_HIDDEN);

    const auto info = model->info();
    auto decoder = weft::decoder::create(*model, device);
    CHECK(info.ok() && decoder.ok());
    std::vector<float> logits(info->vocabulary), again(info->vocabulary);
    CHECK(decoder->prompt(moved, logits).ok());
    decoder->reset();
    for (const std::int32_t &token : moved) {
        CHECK(decoder->step({&token, 1}, again).ok());
    }
    CHECK(same_bits(logits, again));
    std::vector<float> fewer(info->vocabulary - 1);
    CHECK(decoder->step({moved.data(), 1}, fewer).code() == WEFT_INVALID_ARGUMENT);
    CHECK(decoder->step({moved.data(), 2}, logits).code() == WEFT_INVALID_ARGUMENT);
    const auto chosen = weft::sample(logits, {}, 0);
    CHECK(chosen.ok() && *chosen < info->vocabulary);
}

void lists_are_spans(weft::device &device) {
    weft::device_info infos[32] = {};
    const auto listed = weft::device_list(infos);
    CHECK(listed.ok());
    CHECK(weft::device_list({}).ok() && *weft::device_list({}) == *listed);
    const auto info = device.info();
    CHECK(info.ok() && std::string_view(info->name).size() > 0);
    CHECK(device.math() == WEFT_MATH_REPRODUCIBLE);
    const std::vector<float> numbers = {1.0f, 2.0f};
    const weft::span<const float> view = numbers;
    CHECK(view.size() == 2 && view.data() == numbers.data() && view[1] == 2.0f);
    static_assert(!std::is_convertible_v<const std::vector<float> &, weft::span<float>>);
    static_assert(!std::is_convertible_v<const std::vector<float> &, weft::bytes>);
    static_assert(std::is_convertible_v<const std::vector<float> &, weft::const_bytes>);
    static_assert(!std::is_convertible_v<std::vector<std::string> &, weft::const_bytes>);
}

/* A program's own threads: here, the one that waits. */
void jobs_are_callables() {
    unsigned calls = 0;
    auto run = [&calls](weft::job job, std::uint32_t slots) {
        for (std::uint32_t slot = 0; slot < slots; slot++) {
            job(slot);
        }
        calls++;
    };
    const weft_job_system jobs = weft::jobs_by(run, 2);
    unsigned done[2] = {0, 0};
    const auto work = [](void *data, std::uint32_t slot) { static_cast<unsigned *>(data)[slot]++; };
    jobs.run(jobs.user, work, done, 2);
    CHECK(calls == 1 && done[0] == 1 && done[1] == 1 && jobs.concurrency == 2);
}

#ifdef WITH_VULKAN
/* ---- in a command buffer of this program's own ---- */

#define FUNCTIONS(X)              \
    X(vkDestroyInstance)          \
    X(vkEnumeratePhysicalDevices) \
    X(vkCreateDevice)             \
    X(vkDestroyDevice)            \
    X(vkGetDeviceQueue)           \
    X(vkCreateCommandPool)        \
    X(vkDestroyCommandPool)       \
    X(vkAllocateCommandBuffers)   \
    X(vkBeginCommandBuffer)       \
    X(vkEndCommandBuffer)         \
    X(vkQueueSubmit)              \
    X(vkDeviceWaitIdle)

struct engine {
    PFN_vkGetInstanceProcAddr get = nullptr;
#define DECLARE(name) PFN_##name name = nullptr;
    FUNCTIONS(DECLARE)
#undef DECLARE
    VkInstance instance = VK_NULL_HANDLE;
    VkPhysicalDevice physical = VK_NULL_HANDLE;
    VkDevice device = VK_NULL_HANDLE;
    VkQueue queue = VK_NULL_HANDLE;
    VkCommandPool pool = VK_NULL_HANDLE;
    VkCommandBuffer commands = VK_NULL_HANDLE;

    engine() = default;
    engine(const engine &) = delete;
    engine &operator=(const engine &) = delete;
    ~engine() {
        if (device) {
            vkDestroyCommandPool(device, pool, nullptr);
            vkDestroyDevice(device, nullptr);
        }
        if (instance) {
            vkDestroyInstance(instance, nullptr);
        }
    }

    bool load() {
        void *library = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
        void *symbol = library ? dlsym(library, "vkGetInstanceProcAddr") : nullptr;
        std::memcpy(&get, &symbol, sizeof symbol);
        return get != nullptr;
    }

    bool make_instance() {
        PFN_vkCreateInstance create = nullptr;
        const PFN_vkVoidFunction found = get(nullptr, "vkCreateInstance");
        std::memcpy(&create, &found, sizeof found);
        VkApplicationInfo application = {};
        application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
        application.apiVersion = VK_API_VERSION_1_2;
        VkInstanceCreateInfo info = {};
        info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
        info.pApplicationInfo = &application;
        if (create(&info, nullptr, &instance) != VK_SUCCESS) {
            return false;
        }
        PFN_vkVoidFunction function = nullptr;
#define LOAD(name)                   \
    function = get(instance, #name); \
    std::memcpy(&name, &function, sizeof function);
        FUNCTIONS(LOAD)
#undef LOAD
        return true;
    }

    /* The software drivers of the tests have one family, which computes. */
    bool make_device() {
        std::uint32_t one = 1;
        const VkResult listed = vkEnumeratePhysicalDevices(instance, &one, &physical);
        if ((listed != VK_SUCCESS && listed != VK_INCOMPLETE) || one == 0) {
            return false;
        }
        VkPhysicalDeviceVulkan12Features features12 = {};
        features12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
        VkPhysicalDeviceFeatures2 features = {};
        features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
        features.pNext = &features12;
        CHECK(weft::vulkan::require_features(&features).ok());
        CHECK(features12.timelineSemaphore == VK_TRUE);
        const float priority = 1.0f;
        VkDeviceQueueCreateInfo queues = {};
        queues.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
        queues.queueCount = 1;
        queues.pQueuePriorities = &priority;
        VkDeviceCreateInfo info = {};
        info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
        info.pNext = &features;
        info.queueCreateInfoCount = 1;
        info.pQueueCreateInfos = &queues;
        if (vkCreateDevice(physical, &info, nullptr, &device) != VK_SUCCESS) {
            return false;
        }
        vkGetDeviceQueue(device, 0, 0, &queue);
        return make_commands();
    }

    bool make_commands() {
        VkCommandPoolCreateInfo made = {};
        made.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
        if (vkCreateCommandPool(device, &made, nullptr, &pool) != VK_SUCCESS) {
            return false;
        }
        VkCommandBufferAllocateInfo info = {};
        info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
        info.commandPool = pool;
        info.commandBufferCount = 1;
        return vkAllocateCommandBuffers(device, &info, &commands) == VK_SUCCESS;
    }

    bool submit() {
        VkSubmitInfo info = {};
        info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
        info.commandBufferCount = 1;
        info.pCommandBuffers = &commands;
        return vkQueueSubmit(queue, 1, &info, VK_NULL_HANDLE) == VK_SUCCESS &&
               vkDeviceWaitIdle(device) == VK_SUCCESS;
    }
};

/* Counts, so that a lock that is never taken shows. */
struct counting_lock {
    std::mutex mutex;
    unsigned taken = 0;
    void lock() {
        mutex.lock();
        taken++;
    }
    void unlock() {
        mutex.unlock();
    }
};

void record(engine &e, weft::plan &plan, weft::bindings &bindings) {
    VkCommandBufferBeginInfo begin = {};
    begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
    CHECK(e.vkBeginCommandBuffer(e.commands, &begin) == VK_SUCCESS);
    CHECK(weft::vulkan::plan_record(plan, e.commands, bindings).ok());
    CHECK(e.vkEndCommandBuffer(e.commands) == VK_SUCCESS);
}

void plans_are_recorded(const weft::host &host) {
    engine e;
    if (!e.load() || !e.make_instance() || !e.make_device()) {
        check(false, "there is a Vulkan device", __LINE__);
        return;
    }
    counting_lock lock;
    weft::vulkan::device_adopt_params params = {};
    params.host = host;
    params.cache_dir = "";
    params.instance = e.instance;
    params.physical_device = e.physical;
    params.device = e.device;
    params.queue = e.queue;
    params.get_instance_proc_addr = e.get;
    weft::vulkan::lock_by(lock, params);
    auto device = weft::vulkan::device_adopt(params);
    CHECK(device.ok());
    if (!device) {
        return;
    }
    auto plan = compile(*device, host);
    const std::vector<float> x = {-1.0f, -0.25f, 0.0f, 0.5f, 1.5f, 4.0f};
    auto input = weft::buffer::create(*device, sizeof(float) * count);
    auto output = weft::buffer::create(*device, sizeof(float) * count);
    auto bindings = weft::bindings::create(*plan);
    CHECK(weft::first_error(plan, input, output, bindings).ok());
    CHECK(weft::first_error(bindings->set("x", *input), bindings->set("y", *output),
                            input->write(0, x))
              .ok());
    record(e, *plan, *bindings);
    CHECK(e.submit());
    std::vector<float> y(count);
    CHECK(output->read(0, y).ok());
    CHECK(same_bits(y, expected(*device, x)));
    CHECK(lock.taken > 0);
    std::uint64_t offset = 1;
    const VkBuffer behind = weft::vulkan::buffer_vulkan(*input, &offset);
    auto wrapped = weft::vulkan::buffer_wrap(*device, behind, 0, sizeof(float) * count);
    CHECK(behind != VK_NULL_HANDLE && offset == 0 && wrapped.ok());
    const auto part = weft::vulkan::plan_get_part(*plan, 0);
    CHECK(part.ok() && part->share > 0.0);
}
#endif

} // namespace

int main() {
    watch seen;
    const weft::host host = seen.host();
    {
        auto device = weft::device::open(on(host));
        CHECK(device.ok());
        if (!device) {
            return 1;
        }
        results_are_those_of_c(*device, host);
        errors_travel(*device, host, seen);
        handles_own(host, seen);
        models_speak(*device, host);
        lists_are_spans(*device);
#ifdef WITH_VULKAN
        plans_are_recorded(host);
#endif
    }
    members_go_in_order();
    jobs_are_callables();
    CHECK(seen.blocks == 0);
    std::printf("%d failures\n", failures);
    return failures == 0 ? 0 : 1;
}
