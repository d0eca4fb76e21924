/*
 * check.cuh — tests whether an operator is one: is it associative, and is its identity one?
 *
 *     if (!scan_check_operator(my_operator(), stdout)) return 1;
 *
 * It runs on the host and needs no GPU. It combines many elements that are drawn at random, the
 * same ones in each call: small numbers, -0, infinities and NaN, random numbers, and the extremes
 * of the type. No test of this kind is a proof. It finds wrong operators that fail often.
 */
#ifndef STEP16_CHECK_CUH
#define STEP16_CHECK_CUH

#include "steps/16-operators/operators.cuh"

#include <limits>
#include <stdio.h>
#include <type_traits>

/* Which elements the operator is for. */
enum scan_numbers {
    SCAN_ALL_NUMBERS,
    SCAN_FINITE_NUMBERS, /* no infinities, no NaN: affine_operator is an example */
};

namespace step16
{
/* The kinds of elements, in the order in which they are tried. So a counterexample is simple if
 * there is a simple one. */
enum drawn_from { FROM_SMALL, FROM_SPECIAL, FROM_RANDOM, FROM_EXTREMES, KINDS_OF_NUMBERS };

/* Numbers by chance, the same ones in each run (xorshift). */
struct drawing {
    uint64_t state;
    bool extreme; /* one has been drawn. Two of them could overflow or vanish unseen */
    uint64_t next()
    {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        return state;
    }
    unsigned below(unsigned n) { return (unsigned)((next() >> 32) % n); }
};

/* One of the extremes, but only one for all elements of a try. */
template <typename T, int N> static T extreme_of(drawing &d, const T (&values)[N], T otherwise)
{
    if (d.extreme || d.below(2) != 0) return otherwise;
    d.extreme = true;
    return values[d.below(N)];
}

template <typename T> static T draw_small(drawing &d)
{
    if (sizeof(T) == 1) return (T) "()[]{}\"\\,: a"[d.below(12)]; // a byte may be a character
    static const int values[] = {0, 1, 2, 3, 5, -1, -2};
    return (T)values[d.below(std::is_signed<T>::value ? 7 : 5)];
}

template <typename T> static T draw_number(drawing &d, enum drawn_from from, bool finite)
{
    typedef std::numeric_limits<T> limits;
    static_assert(std::is_arithmetic<T>::value, "In, In2 and Out must be numbers");
    T small = draw_small<T>(d);
    if (from == FROM_SMALL || d.below(2) == 0) return small;
    if constexpr (std::is_floating_point<T>::value) {
        const T special[] = {(T)-0.0, (T)0.5, limits::infinity(), -limits::infinity(),
                             limits::quiet_NaN()};
        const T extremes[] = {limits::max(), limits::lowest(), limits::min(), limits::denorm_min(),
                              -limits::denorm_min()};
        if (from == FROM_SPECIAL) return special[d.below(finite ? 2 : 5)];
        if (from == FROM_EXTREMES) return extreme_of(d, extremes, small);
        return (T)((double)(int64_t)d.next() * 0x1p-63); // from -1 to 1
    } else {
        const T extremes[] = {limits::max(), limits::min(), (T)(limits::max() - 1),
                              (T)(limits::min() + 1)};
        return from == FROM_EXTREMES ? extreme_of(d, extremes, small) : (T)d.next();
    }
}
static inline void draw(drawing &, enum drawn_from, bool, no_input *) {}
template <typename T> static void draw(drawing &d, enum drawn_from from, bool finite, T *x)
{
    *x = draw_number<T>(d, from, finite);
}

template <typename T> static void show(FILE *to, T x)
{
    if (std::is_floating_point<T>::value && x != x)
        fprintf(to, "NaN");
    else if (std::is_floating_point<T>::value)
        fprintf(to, "%.*g", std::numeric_limits<T>::max_digits10, (double)x);
    else if (sizeof(T) == 1 && x >= 32 && x < 127)
        fprintf(to, "'%c'", (char)x);
    else if (std::is_signed<T>::value)
        fprintf(to, "%lld", (long long)x);
    else
        fprintf(to, "%llu", (unsigned long long)x);
}

template <typename Op> struct operator_check {
    typedef typename Op::State State;
    typedef typename Op::Out Out;
    enum { LONGEST = 3, TRIES = 20000 };
    struct element {
        typename Op::In x;
        typename Op::In2 y;
    };
    /* A part of an input: up to LONGEST elements. */
    struct part {
        element e[LONGEST];
        int count;
        State state;
    };
    /* What a state is combined with before its result is compared. States are compared by results
     * only, and a result need not show all of a state: that of an affine one does not show a. */
    struct setting {
        bool before, after, own;
        part of_before, of_after, of_own;
    };
    enum { SETTINGS = 5 };

    const Op &op;
    FILE *to;
    bool finite;
    drawing d;
    enum drawn_from from;

    part draw_part(int longest)
    {
        part p = {};
        p.count = 1 + (int)d.below(longest);
        for (int i = 0; i < p.count; i++) {
            draw(d, from, finite, &p.e[i].x);
            draw(d, from, finite, &p.e[i].y);
            State own = op.enter(p.e[i].x, p.e[i].y);
            p.state = i == 0 ? own : op.combine(p.state, own);
        }
        return p;
    }

    setting draw_setting(int i)
    {
        static const bool before[SETTINGS] = {false, false, true, false, true};
        static const bool after[SETTINGS] = {false, false, false, true, true};
        static const bool own[SETTINGS] = {false, true, false, false, true};
        setting s = {before[i], after[i], own[i], {}, {}, {}};
        if (s.before) s.of_before = draw_part(1);
        if (s.after) s.of_after = draw_part(1);
        if (s.own) s.of_own = draw_part(1);
        return s;
    }

    Out result(State x, const setting &s) const
    {
        if (s.before) x = op.combine(s.of_before.state, x);
        if (s.after) x = op.combine(x, s.of_after.state);
        return op.leave(x, s.own ? s.of_own.state : op.identity());
    }

    bool same(Out x, Out y, double scale) const
    {
        if (x == y || (x != x && y != y)) return true;
        if (!std::is_floating_point<Out>::value) return false;
        if (!isfinite((double)x) || !isfinite((double)y)) return from == FROM_EXTREMES;
        double relative = sizeof(Out) == 4 ? 0x1p-12 : 0x1p-40;
        double tolerance = relative * scale + (double)std::numeric_limits<Out>::min();
        return fabs((double)x - (double)y) <= tolerance;
    }

    void show_part(const char *name, const part &p) const
    {
        fprintf(to, "  %s the element%s", name, p.count > 1 ? "s" : "");
        for (int i = 0; i < p.count; i++) {
            fprintf(to, i == 0 ? " " : i + 1 < p.count ? ", " : " and ");
            show_element(p.e[i].x, p.e[i].y);
        }
        fprintf(to, "\n");
    }
    template <typename T> void show_element(T x, no_input) const { show(to, x); }
    template <typename T, typename T2> void show_element(T x, T2 y) const
    {
        fprintf(to, "("), show(to, x), fprintf(to, ", "), show(to, y), fprintf(to, ")");
    }
    void show_setting(const setting &s) const
    {
        if (s.before) show_part("before them:", s.of_before);
        if (s.after) show_part("after them: ", s.of_after);
        if (s.own) show_part("result for: ", s.of_own);
    }
    void show_result(const char *of, Out x) const
    {
        fprintf(to, "  %s gives ", of), show(to, x), fprintf(to, "\n");
    }

    /* The largest of these results, infinite if one of them overflows: what is made of that may be
     * anything. */
    template <int N> double scale_of(const State (&states)[N], const setting &s) const
    {
        double scale = 0;
        for (int i = 0; i < N; i++) {
            double x = fabs((double)result(states[i], s));
            if (!isfinite(x) && from == FROM_EXTREMES) return (double)INFINITY;
            if (isfinite(x) && x > scale) scale = x;
        }
        return scale;
    }

    bool is_associative(int longest)
    {
        d.extreme = false;
        part a = draw_part(longest), b = draw_part(longest), c = draw_part(longest);
        State ab = op.combine(a.state, b.state), bc = op.combine(b.state, c.state);
        State first = op.combine(ab, c.state), last = op.combine(a.state, bc);

        for (int i = 0; i < SETTINGS; i++) {
            setting s = draw_setting(i);
            const State all[] = {a.state, b.state, c.state, ab, bc, first, last,
                                 s.before ? s.of_before.state : a.state,
                                 s.after ? s.of_after.state : a.state};
            Out x = result(first, s), y = result(last, s);
            if (same(x, y, scale_of(all, s))) continue;
            fprintf(to, "Not associative: the two ways to combine a, b and c give different "
                        "results.\n");
            show_part("a:", a), show_part("b:", b), show_part("c:", c);
            show_setting(s);
            show_result("(a ∘ b) ∘ c", x), show_result("a ∘ (b ∘ c)", y);
            return false;
        }
        return true;
    }

    bool has_identity(int longest)
    {
        d.extreme = false;
        part a = draw_part(longest);
        State left = op.combine(op.identity(), a.state), right = op.combine(a.state, op.identity());

        for (int i = 0; i < SETTINGS; i++) {
            setting s = draw_setting(i);
            const State all[] = {a.state, left, right};
            Out x = result(a.state, s), y = result(left, s), z = result(right, s);
            double scale = scale_of(all, s);
            bool is_left = !same(x, y, scale);
            if (!is_left && same(x, z, scale)) continue;
            fprintf(to, "Not an identity: to combine a with it changes the result.\n");
            show_part("a:", a);
            show_setting(s);
            show_result("a alone", x);
            show_result(is_left ? "identity ∘ a" : "a ∘ identity", is_left ? y : z);
            return false;
        }
        return true;
    }

    bool run()
    {
        bool identity = true, associative = true;
        for (int kind = 0; kind < KINDS_OF_NUMBERS; kind++) {
            from = (enum drawn_from)kind;
            for (int i = 0; i < TRIES; i++) {
                int longest = i < TRIES / 4 ? 1 : LONGEST;
                identity = identity && has_identity(longest);
                associative = associative && is_associative(longest);
            }
        }
        return identity && associative;
    }
};

/*
 * Returns true if no elements were found for which `op` is not associative or its identity changes
 * a state. Otherwise it prints such elements and the results that differ to `to`: one example for
 * each of the two laws.
 *
 * Results that are integers must be equal. Floating-point operators are only nearly associative, so
 * results may differ by 2^-12 (float) or 2^-40 (double) of the largest result of a part, and by the
 * smallest normal number. A NaN is equal to every NaN, and -0 to +0. If an element is an extreme of
 * its type, only finite results are compared: one order may overflow where the other one does not.
 *
 * Op::In, Op::In2 and Op::Out must be numbers, Op::State need not be one. An operator with its
 * operands exchanged is associative, too, so the test does not find this error.
 */
template <typename Op>
static bool scan_check_operator(const Op &op, FILE *to,
                                enum scan_numbers numbers = SCAN_ALL_NUMBERS)
{
    bool finite = numbers == SCAN_FINITE_NUMBERS;
    operator_check<Op> check = {op, to, finite, {0x9e3779b97f4a7c15, false}, FROM_SMALL};
    return check.run();
}

} // namespace step16

using step16::scan_check_operator;

#endif
