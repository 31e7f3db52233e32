/* SPDX-License-Identifier: MIT */
/*
 * What weft.hpp is made of: errors as values, handles that destroy what they own, and views of memory. C++17 or later;
 * works without exceptions and without RTTI, and allocates nothing.
 */
#ifndef WEFT_BASE_HPP
#define WEFT_BASE_HPP

#include <weft/graph.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

#if defined(__has_include)
#if __has_include(<version>)
#include <version>
#endif
#endif
#ifdef __cpp_lib_span
#include <span>
#endif
#if defined(WEFT_EXCEPTIONS)
#include <exception>
#endif

namespace weft {

/* ---- errors ---- */

/** How a call ended: a weft_status that must be looked at. The details went to the log. */
class [[nodiscard]] status {
  public:
    constexpr status() noexcept = default;
    constexpr status(weft_status code) noexcept : code_(code) {
    }

    [[nodiscard]] constexpr bool ok() const noexcept {
        return code_ == WEFT_OK;
    }
    [[nodiscard]] constexpr weft_status code() const noexcept {
        return code_;
    }
    /** A constant name such as "WEFT_DEVICE_LOST". */
    [[nodiscard]] const char *name() const noexcept {
        return weft_status_name(code_);
    }
    /** Says that whether it worked does not matter. */
    constexpr void ignore() const noexcept {
    }

    friend constexpr bool operator==(status a, status b) noexcept {
        return a.code_ == b.code_;
    }
    friend constexpr bool operator!=(status a, status b) noexcept {
        return a.code_ != b.code_;
    }

  private:
    weft_status code_ = WEFT_OK;
};

/** A value, or the status that says why there is none. A Value without a value is Value{}: a null handle, zeros. */
template <class Value> class [[nodiscard]] result {
  public:
    result(Value value) noexcept : value_(std::move(value)) {
    }
    /** Not of WEFT_OK, which has a value; that counts as WEFT_INVALID_ARGUMENT. */
    result(weft_status error) noexcept : code_(error == WEFT_OK ? WEFT_INVALID_ARGUMENT : error) {
    }
    result(weft::status error) noexcept : result(error.code()) {
    }

    [[nodiscard]] bool ok() const noexcept {
        return code_ == WEFT_OK;
    }
    explicit operator bool() const noexcept {
        return ok();
    }
    [[nodiscard]] weft::status status() const noexcept {
        return code_;
    }

    Value &operator*() &noexcept {
        return value_;
    }
    const Value &operator*() const &noexcept {
        return value_;
    }
    Value &&operator*() &&noexcept {
        return std::move(value_);
    }
    Value *operator->() noexcept {
        return &value_;
    }
    const Value *operator->() const noexcept {
        return &value_;
    }

    /** Moves the value to `out`, which stays as it was where there is none. */
    weft::status move_to(Value &out) &&noexcept {
        if (ok()) {
            out = std::move(value_);
        }
        return code_;
    }

    /** f(value), which returns a status or a result, or the error. */
    template <class Function> auto and_then(Function &&f) && -> decltype(f(std::declval<Value>())) {
        if (!ok()) {
            return code_;
        }
        return std::forward<Function>(f)(std::move(value_));
    }

  private:
    Value value_{};
    weft_status code_ = WEFT_OK;
};

/** The first that is not WEFT_OK, of statuses and results. */
inline status first_error() noexcept {
    return WEFT_OK;
}

template <class... Rest> status first_error(status first, const Rest &...rest) noexcept;

template <class Value, class... Rest>
status first_error(const result<Value> &first, const Rest &...rest) noexcept {
    return first.ok() ? first_error(rest...) : first.status();
}

template <class... Rest> status first_error(status first, const Rest &...rest) noexcept {
    return first.ok() ? first_error(rest...) : first;
}

#if defined(WEFT_EXCEPTIONS)
/** What value() throws. Only programs that define WEFT_EXCEPTIONS before including this have it. */
class error : public std::exception {
  public:
    explicit error(weft::status status) noexcept : status_(status) {
    }
    [[nodiscard]] weft::status status() const noexcept {
        return status_;
    }
    const char *what() const noexcept override {
        return status_.name();
    }

  private:
    weft::status status_;
};

/** The value, or throws weft::error. */
template <class Value> Value value(result<Value> &&from) {
    if (!from.ok()) {
        throw error(from.status());
    }
    return *std::move(from);
}

inline void value(status from) {
    if (!from.ok()) {
        throw error(from);
    }
}
#endif

/* ---- handles ---- */

/** Owns a C handle, and destroys it. Moves, but does not copy; a moved-from one is null. */
template <class Object, void (*destroy)(Object **)> class handle {
  public:
    handle() noexcept = default;
    /** Takes what a C function made. */
    explicit handle(Object *owned) noexcept : pointer_(owned) {
    }
    handle(handle &&other) noexcept : pointer_(other.release()) {
    }
    handle &operator=(handle &&other) noexcept {
        if (this != &other) {
            reset(other.release());
        }
        return *this;
    }
    handle(const handle &) = delete;
    handle &operator=(const handle &) = delete;
    ~handle() {
        reset();
    }

    /** For C functions; still owned here. */
    [[nodiscard]] Object *get() const noexcept {
        return pointer_;
    }
    explicit operator bool() const noexcept {
        return pointer_ != nullptr;
    }
    /** The caller's from now on. */
    [[nodiscard]] Object *release() noexcept {
        return std::exchange(pointer_, nullptr);
    }
    /** Destroys what is owned now. */
    void reset(Object *owned = nullptr) noexcept {
        Object *old = std::exchange(pointer_, owned);
        destroy(&old);
    }

  private:
    Object *pointer_ = nullptr;
};

/* ---- views ---- */

#ifdef __cpp_lib_span
template <class Value> using span = std::span<Value>;
#else
/** As std::span: `size()` elements from `data()` on, which are somebody else's. */
template <class Value> class span {
  public:
    constexpr span() noexcept = default;
    constexpr span(Value *data, std::size_t size) noexcept : data_(data), size_(size) {
    }
    template <std::size_t count>
    constexpr span(Value (&array)[count]) noexcept : data_(array), size_(count) {
    } // NOLINT: as std::span
    /** Anything contiguous with data() and size(), of Value or, where Value is const, of what it is a const of. */
    template <
        class Container,
        class Element = std::remove_pointer_t<decltype(std::declval<Container &>().data())>,
        class = std::enable_if_t<std::is_convertible_v<Element (*)[], Value (*)[]> &&
                                 (std::is_lvalue_reference_v<Container> || std::is_const_v<Value>)>,
        class = decltype(std::declval<Container &>().size())>
    constexpr span(Container &&container) noexcept
        : data_(container.data()), size_(container.size()) {
    }

    [[nodiscard]] constexpr Value *data() const noexcept {
        return data_;
    }
    [[nodiscard]] constexpr std::size_t size() const noexcept {
        return size_;
    }
    [[nodiscard]] constexpr bool empty() const noexcept {
        return size_ == 0;
    }
    constexpr Value &operator[](std::size_t index) const noexcept {
        return data_[index];
    }
    constexpr Value *begin() const noexcept {
        return data_;
    }
    constexpr Value *end() const noexcept {
        return data_ + size_;
    }

  private:
    Value *data_ = nullptr;
    std::size_t size_ = 0;
};
#endif

/** Memory of any elements that can be copied as bytes; Void is void or const void. */
template <class Void> class byte_view {
  public:
    constexpr byte_view() noexcept = default;
    constexpr byte_view(Void *data, std::size_t bytes) noexcept : data_(data), bytes_(bytes) {
    }
    template <class Element, std::size_t count,
              class = std::enable_if_t<std::is_trivially_copyable_v<Element>>,
              class = std::enable_if_t<std::is_convertible_v<Element *, Void *>>>
    constexpr byte_view(Element (&array)[count]) noexcept : data_(array), bytes_(sizeof array) {
    }
    template <class Container,
              class Element = std::remove_pointer_t<decltype(std::declval<Container &>().data())>,
              class = std::enable_if_t<std::is_trivially_copyable_v<Element>>,
              class = std::enable_if_t<std::is_convertible_v<Element *, Void *>>,
              class = decltype(std::declval<Container &>().size())>
    constexpr byte_view(Container &&container) noexcept
        : data_(container.data()), bytes_(container.size() * sizeof(Element)) {
    }

    [[nodiscard]] constexpr Void *data() const noexcept {
        return data_;
    }
    [[nodiscard]] constexpr std::size_t bytes() const noexcept {
        return bytes_;
    }

  private:
    Void *data_ = nullptr;
    std::size_t bytes_ = 0;
};

using bytes = byte_view<void>;
using const_bytes = byte_view<const void>;

/* ---- shapes and tensors ---- */

/** shape_of(2, 512, 768) is the shape [2, 512, 768]; up to four axes. */
template <class... Axes> constexpr weft_shape shape_of(Axes... axes) noexcept {
    static_assert(sizeof...(axes) <= WEFT_MAX_RANK, "a shape has at most WEFT_MAX_RANK axes");
    return weft_shape{static_cast<std::uint32_t>(sizeof...(axes)),
                      {static_cast<std::uint32_t>(axes)...}};
}

/** A shape's text, such as "[2, 512, 768]". */
class shape_text {
  public:
    explicit shape_text(const weft_shape &shape) noexcept {
        weft_shape_text(shape, text_);
    }
    [[nodiscard]] const char *c_str() const noexcept {
        return text_;
    }

  private:
    char text_[WEFT_SHAPE_TEXT_SIZE] = {};
};

/** An op's operand: a tensor, none (default), or the result of another op. With an error for a result, the op is not
 * added and gives that error: a chain of ops needs one check, at its end. */
class operand {
  public:
    constexpr operand() noexcept = default;
    constexpr operand(weft_tensor tensor) noexcept : tensor_(tensor) {
    }
    operand(const result<weft_tensor> &from) noexcept
        : tensor_(*from), code_(from.status().code()) {
    }

    [[nodiscard]] constexpr weft_tensor tensor() const noexcept {
        return tensor_;
    }
    [[nodiscard]] constexpr weft_status code() const noexcept {
        return code_;
    }

  private:
    weft_tensor tensor_{};
    weft_status code_ = WEFT_OK;
};

/** For an operand that is left out. */
inline constexpr operand none{};

/** The first error among results that are operands, or WEFT_OK. */
template <class... Operands>
constexpr weft_status error_of(const operand &first, const Operands &...rest) noexcept {
    if constexpr (sizeof...(rest) > 0) {
        return first.code() != WEFT_OK ? first.code() : error_of(rest...);
    } else {
        return first.code();
    }
}

/* ---- callbacks ---- */

namespace detail {

/** Calls a function, of which no exception may get into C: false where it threw one. */
template <class Function> bool without_exceptions(const Function &function) noexcept {
#if defined(__cpp_exceptions)
    try {
        function();
        return true;
    } catch (...) {
        return false;
    }
#else
    function();
    return true;
#endif
}

} // namespace detail

/**
 * A host that logs by function(level, message), which is not copied: it outlives all objects made with the host. It is called
 * from whichever thread made the call. What it throws is lost, as is the line.
 */
template <class Function> weft_host log_to(Function &function, weft_host host = {}) noexcept {
    static_assert(std::is_invocable_v<Function &, weft_log_level, const char *>,
                  "a log is called with a weft_log_level and a const char *");
    host.log = [](void *user, weft_log_level level, const char *message) noexcept {
        detail::without_exceptions([&] { (*static_cast<Function *>(user))(level, message); });
    };
    host.log_user = const_cast<void *>(static_cast<const void *>(&function));
    return host;
}

template <class Function> weft_host log_to(const Function &&function, weft_host host = {}) = delete;

/**
 * A host whose calls end with WEFT_CANCELLED when function() is true: see weft_host. It is not copied, and outlives all objects made with
 * the host. An exception out of it counts as true.
 */
template <class Function>
weft_host interrupted_by(Function &function, weft_host host = {}) noexcept {
    static_assert(std::is_invocable_r_v<bool, Function &>,
                  "it is called without arguments, and tells whether to end");
    host.interrupted = [](void *user) noexcept {
        bool ends = true;
        detail::without_exceptions([&] { ends = (*static_cast<Function *>(user))(); });
        return ends;
    };
    host.interrupted_user = const_cast<void *>(static_cast<const void *>(&function));
    return host;
}

template <class Function>
weft_host interrupted_by(const Function &&function, weft_host host = {}) = delete;

/** A job of the processor device: call work(slot) once for slots below `count`. */
class job {
  public:
    job(weft_job work, void *data) noexcept : work_(work), data_(data) {
    }
    void operator()(std::uint32_t slot) const noexcept {
        work_(data_, slot);
    }

  private:
    weft_job work_;
    void *data_;
};

/**
 * A job system by function(job, count): see weft_job_system. It is not copied, and outlives the device. Where it throws before it has
 * called the job, the thread that waits for the device does the job alone.
 */
template <class Function>
weft_job_system jobs_by(Function &function, std::uint32_t concurrency) noexcept {
    static_assert(std::is_invocable_v<Function &, job, std::uint32_t>,
                  "a job system is called with a weft::job and a number of slots");
    weft_job_system jobs = {};
    jobs.concurrency = concurrency;
    jobs.user = const_cast<void *>(static_cast<const void *>(&function));
    jobs.run = [](void *user, weft_job work, void *data, std::uint32_t count) noexcept {
        detail::without_exceptions(
            [&] { (*static_cast<Function *>(user))(job(work, data), count); });
    };
    return jobs;
}

template <class Function>
weft_job_system jobs_by(const Function &&function, std::uint32_t concurrency) = delete;

} // namespace weft

#endif
