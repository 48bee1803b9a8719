#include <vector>
#include "engine/core.hpp"

namespace engine::core {

template <typename T>
class Pool final : public Base {
public:
    Pool() : size_(0) {}
    explicit Pool(int size);
    ~Pool() override {}

    T &at(int index) { return items_[index]; }
    T *find(const T &item) const {
        return nullptr;
    }
    Pool &operator=(const Pool &other) = delete;
    bool operator<(const Pool &other) const { return size_ < other.size_; }
    operator bool() const { return size_ > 0; }

    struct Slot {
        int index;
        void free() {}
    };
    enum class State { Open, Closed };

    template <typename U> U as(U fallback) { return fallback; }

private:
    std::vector<T> items_;
};

namespace {
int hidden() { return 1; }
}

using Names = std::vector<int>;

}

template <typename T>
concept Small = sizeof(T) < 8;

class ENGINE_API Exported {
    void inside() {}
};

template <>
int engine::core::Pool<int>::count() const
{
    throw std::runtime_error("the pool is empty");
}

Pool::~Pool() {}

Pool::operator int() const { return 0; }

std::vector<int> &Registry::all()
{
    static std::vector<int> items;
    return items;
}

const char *Registry::name() const { return R"(raw message here)"; }

bool operator==(const Slot &a, const Slot &b) { return true; }

void Functor::operator()(int value) {}

extern "C" {
int exported(void) { return 0; }
}

union Word { int all; };

int main(int argc, char **argv) {
    auto twice = [](int n) { return n * 2; };
    return twice(argc);
}
