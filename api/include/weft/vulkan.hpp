/* SPDX-License-Identifier: MIT */
/*
 * Embedding Weft in a C++ program that already uses Vulkan: weft/vulkan.h with the types of weft/weft.hpp. Functions have
 * their C name without `weft_` or `weft_vulkan_`, in weft::vulkan. api/cpp/generate.py wrote this; ./dev headers writes it anew.
 */
#ifndef WEFT_VULKAN_HPP
#define WEFT_VULKAN_HPP

#include <weft/vulkan.h>
#include <weft/weft.hpp>

/* clang-format off */
namespace weft {

/** Owns a weft_frame_queue: what it is, and what threads may do with it, is said there. */
class frame_queue : public handle<::weft_frame_queue, weft_frame_queue_destroy> {
  public:
    using handle::handle;

};

} // namespace weft

namespace weft::vulkan {

/** Makes a device hold the caller's lock (lock() and unlock(), as std::mutex has) around every use of the queue. It outlives
 * the device. */
template <class Lock> void lock_by(Lock &lock, ::weft_device_adopt_params &params) noexcept {
    params.lock_queue = [](void *user) noexcept { static_cast<Lock *>(user)->lock(); };
    params.unlock_queue = [](void *user) noexcept { static_cast<Lock *>(user)->unlock(); };
    params.lock_user = &lock;
}

/** weft_vulkan_required_extensions of weft/vulkan.h. */
[[nodiscard]] inline const char *const *required_extensions() noexcept {
    return weft_vulkan_required_extensions();
}

/** weft_vulkan_optional_extensions of weft/vulkan.h. */
[[nodiscard]] inline const char *const *optional_extensions() noexcept {
    return weft_vulkan_optional_extensions();
}

/** weft_vulkan_require_features of weft/vulkan.h. */
inline status require_features(VkPhysicalDeviceFeatures2 *features) noexcept {
    return weft_vulkan_require_features(features);
}

/** weft_device_adopt of weft/vulkan.h. */
inline result<weft::device> device_adopt(const ::weft_device_adopt_params &params) noexcept {
    ::weft_device *made = nullptr;
    const weft_status code = weft_device_adopt(&made, &params);
    if (code != WEFT_OK) {
        return code;
    }
    return weft::device(made);
}

/** weft_buffer_wrap of weft/vulkan.h. */
inline result<weft::buffer> buffer_wrap(weft::device &device, VkBuffer handle, uint64_t offset,
                                        uint64_t size) noexcept {
    ::weft_buffer *made = nullptr;
    const weft_status code = weft_buffer_wrap(&made, device.get(), handle, offset, size);
    if (code != WEFT_OK) {
        return code;
    }
    return weft::buffer(made);
}

/** weft_buffer_vulkan of weft/vulkan.h. */
[[nodiscard]] inline VkBuffer buffer_vulkan(const weft::buffer &buffer, uint64_t *offset) noexcept {
    return weft_buffer_vulkan(buffer.get(), offset);
}

/** weft_plan_record of weft/vulkan.h. */
inline status plan_record(weft::plan &plan, VkCommandBuffer commands,
                          weft::bindings &bindings) noexcept {
    return weft_plan_record(plan.get(), commands, bindings.get());
}

/** weft_plan_submit_with of weft/vulkan.h. */
inline result<uint64_t> plan_submit_with(weft::plan &plan, weft::bindings &bindings,
                                         const ::weft_submit_params &params) noexcept {
    uint64_t made{};
    const weft_status code = weft_plan_submit_with(plan.get(), bindings.get(), &params, &made);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

/** weft_device_timeline of weft/vulkan.h. */
[[nodiscard]] inline VkSemaphore device_timeline(const weft::device &device) noexcept {
    return weft_device_timeline(device.get());
}

/** weft_semaphore_vulkan of weft/vulkan.h. */
[[nodiscard]] inline VkSemaphore semaphore_vulkan(const weft::semaphore &semaphore) noexcept {
    return weft_semaphore_vulkan(semaphore.get());
}

/** weft_plan_get_part of weft/vulkan.h. */
inline result<::weft_part_info> plan_get_part(const weft::plan &plan, uint32_t index) noexcept {
    ::weft_part_info made{};
    const weft_status code = weft_plan_get_part(plan.get(), index, &made);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

/** weft_plan_record_range of weft/vulkan.h. */
inline status plan_record_range(weft::plan &plan, VkCommandBuffer commands,
                                weft::bindings &bindings, uint32_t first, uint32_t count) noexcept {
    return weft_plan_record_range(plan.get(), commands, bindings.get(), first, count);
}

/** weft_plan_split_measured of weft/vulkan.h. */
inline status plan_split_measured(weft::plan &plan, double part_ms) noexcept {
    return weft_plan_split_measured(plan.get(), part_ms);
}

/** weft_plan_record_frame of weft/vulkan.h. */
inline status plan_record_frame(weft::plan &plan, VkCommandBuffer commands,
                                weft::bindings &bindings, double budget_ms,
                                ::weft_frame_cursor &cursor) noexcept {
    return weft_plan_record_frame(plan.get(), commands, bindings.get(), budget_ms, &cursor);
}

/** weft_frame_queue_create of weft/vulkan.h. */
inline result<weft::frame_queue> frame_queue_create(weft::device &device) noexcept {
    ::weft_frame_queue *made = nullptr;
    const weft_status code = weft_frame_queue_create(&made, device.get());
    if (code != WEFT_OK) {
        return code;
    }
    return weft::frame_queue(made);
}

/** weft_frame_queue_add of weft/vulkan.h. */
inline status frame_queue_add(weft::frame_queue &queue, weft::plan &plan, weft::bindings &bindings,
                              int32_t priority, uint64_t *job) noexcept {
    return weft_frame_queue_add(queue.get(), plan.get(), bindings.get(), priority, job);
}

/** weft_frame_queue_record of weft/vulkan.h. */
inline result<::weft_frame_info> frame_queue_record(weft::frame_queue &queue,
                                                    VkCommandBuffer commands,
                                                    double budget_ms) noexcept {
    ::weft_frame_info made{};
    const weft_status code = weft_frame_queue_record(queue.get(), commands, budget_ms, &made);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

/** weft_frame_queue_cancel of weft/vulkan.h. */
inline status frame_queue_cancel(weft::frame_queue &queue, uint64_t job) noexcept {
    return weft_frame_queue_cancel(queue.get(), job);
}

/** weft_frame_queue_get_job of weft/vulkan.h. */
inline result<::weft_frame_job_info> frame_queue_get_job(const weft::frame_queue &queue,
                                                         uint64_t job) noexcept {
    ::weft_frame_job_info made{};
    const weft_status code = weft_frame_queue_get_job(queue.get(), job, &made);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

/** weft_bindings_set_image of weft/vulkan.h. */
inline status bindings_set_image(weft::bindings &bindings, const char *name,
                                 const ::weft_image_params &image) noexcept {
    return weft_bindings_set_image(bindings.get(), name, &image);
}

using vulkan_memory = ::weft_vulkan_memory;
using vulkan_allocator = ::weft_vulkan_allocator;
using device_adopt_params = ::weft_device_adopt_params;
using semaphore_point = ::weft_semaphore_point;
using submit_params = ::weft_submit_params;
using part_info = ::weft_part_info;
using frame_cursor = ::weft_frame_cursor;
using frame_info = ::weft_frame_info;
using frame_job_state = ::weft_frame_job_state;
using frame_job_info = ::weft_frame_job_info;
using image_params = ::weft_image_params;

} // namespace weft::vulkan
/* clang-format on */

#endif
