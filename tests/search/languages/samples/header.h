#pragma once
#include <string>

namespace geo {

class Point {
public:
    Point(int x, int y);
    int x() const { return x_; }

private:
    int x_;
};

}
