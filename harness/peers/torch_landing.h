/* Places PyTorch's results in the caller's buffers. SPDX-License-Identifier: MIT */
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/CPUAllocator.h>
#include <cstring>

/* PyTorch allocates each result, but an implementation must write to the caller's buffer. So
 * allocation k of a call gets this buffer, if allocation k of the last call became the result. A
 * wrong guess costs a copy; the next guess is right. */
struct landing {
    enum { MOST = 64 };
    void *at;
    size_t bytes;
    int *chosen;
    int seen = 0;
    const void *made[MOST] = {};
};
inline thread_local landing *now;

struct allocator final : c10::Allocator {
    c10::Allocator *usual = c10::GetCPUAllocator();
    c10::DataPtr allocate(size_t bytes) override {
        if (!now || bytes != now->bytes || now->seen == landing::MOST)
            return usual->allocate(bytes);
        const int i = now->seen++;
        if (i == *now->chosen) return {now->at, c10::Device(c10::kCPU)};
        c10::DataPtr made = usual->allocate(bytes);
        now->made[i] = made.get();
        return made;
    }
    void copy_data(void *to, const void *from, size_t bytes) const override {
        default_copy_data(to, from, bytes);
    }
    c10::DeleterFnPtr raw_deleter() const override {
        return usual->raw_deleter();
    }
};

inline void copy(void *to, const at::Tensor &from, at::ScalarType type) {
    if (!to || !from.defined()) return;
    const at::Tensor plain = from.to(type).contiguous();
    if (plain.data_ptr() != to) std::memcpy(to, plain.data_ptr(), plain.nbytes());
}

/* Call this last: after a wrong guess, the caller's buffer may hold another result until then. */
inline void land(const landing &l, const at::Tensor &result, at::ScalarType type) {
    for (int i = 0; i < l.seen; i++)
        if (l.made[i] && l.made[i] == result.data_ptr()) *l.chosen = i;
    copy(l.at, result, type);
}
