/*
 * Are these operators associative? For the answer to the first question of notes/16-operators.md.
 */
#include "common/tools/library/scan/check.cuh"

struct difference : plain<int> {
    SCAN_BOTH int identity() const { return 0; }
    SCAN_BOTH int combine(int left, int right) const { return left - right; }
};

struct middle : plain<float> {
    SCAN_BOTH float identity() const { return 0; }
    SCAN_BOTH float combine(float left, float right) const { return (left + right) / 2; }
};

/* The mean again, with a state that has what a mean needs. */
struct sum_and_count {
    float sum, count;
};
struct mean {
    typedef float In, Out;
    typedef no_input In2;
    typedef sum_and_count State;
    SCAN_BOTH State identity() const { return {0, 0}; }
    SCAN_BOTH State enter(float x, no_input) const { return {x, 1}; }
    SCAN_BOTH State combine(State left, State right) const
    {
        return {left.sum + right.sum, left.count + right.count};
    }
    SCAN_BOTH float leave(State before, State) const { return before.sum / before.count; }
    SCAN_BOTH State begin(float initial) const { return {initial, 1}; }
};

/* A 0 stands for "no element". */
struct first_that_is_not_0 : plain<int> {
    SCAN_BOTH int identity() const { return 0; }
    SCAN_BOTH int combine(int left, int right) const { return left != 0 ? left : right; }
};

template <typename Op> static void check(const char *name)
{
    printf("%s:\n", name);
    if (scan_check_operator(Op(), stdout)) printf("  nothing found\n");
}

int main(void)
{
    check<difference>("a - b");
    check<middle>("(a + b) / 2");
    check<mean>("sum and count");
    check<first_that_is_not_0>("the first that is not 0");
}
