// Records into the ring file that is named on the command line, with spans that end with their block.
//
//     c++ -std=c++17 record.cc -llookback_ring -o record && ./record /dev/shm/shop.ring

#include "lookback_ring.h"

#include <array>
#include <cstdio>
#include <memory>
#include <thread>

namespace {

struct Close {
    void operator()(lookback_recorder *recorder) const { lookback_close(recorder); }
};

/// A span from here to the end of the block.
class Span {
public:
    template <std::size_t N>
    Span(const lookback_event_type *type, const std::array<std::uint64_t, N> &values)
        : type_(type), begun_(lookback_begin(type, values.data(), N)) {}
    ~Span() { lookback_end(type_, begun_); }
    Span(const Span &) = delete;
    Span &operator=(const Span &) = delete;

private:
    const lookback_event_type *type_;
    bool begun_;
};

} // namespace

int main(int argc, char **argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: %s FILE\n", argv[0]);
        return 2;
    }
    lookback_options options{};
    options.bytes = 1 << 20;
    options.program = "record.cc";
    lookback_recorder *opened = nullptr;
    if (lookback_open_or_create(argv[1], &options, &opened) != LOOKBACK_OK) {
        std::fprintf(stderr, "cannot open the ring file: %s\n", lookback_error_message());
        return 1;
    }
    std::unique_ptr<lookback_recorder, Close> recorder(opened);

    const lookback_category *disk = lookback_category_get(recorder.get(), "disk");
    const lookback_field page = {"page", LOOKBACK_U64};
    const lookback_event_type *load = lookback_event_type_get(disk, "load", LOOKBACK_LEVEL_INFO, &page, 1);
    const lookback_event_type *hit = lookback_event_type_get(disk, "hit", LOOKBACK_LEVEL_INFO, nullptr, 0);

    auto work = [&](const char *name, std::uint64_t number) {
        lookback_set_thread_name(recorder.get(), name);
        Span outer(load, std::array<std::uint64_t, 1>{number});
        Span inner(load, std::array<std::uint64_t, 1>{number + 1});
        lookback_instant(hit, nullptr, 0);
    };
    std::thread(work, "second", 10).join();
    work("first", 20);
    return 0;
}
