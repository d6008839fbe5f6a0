# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints the polynomials of runtime/lib/Vector/Math.h.

Each is the minimax approximation of its degree, found by Remez exchange in 60
digits: `weight` times the error is as small as it can be everywhere.
"""

import mpmath as mp

mp.mp.dps = 60
TINY = mp.mpf(10) ** -25


def remez(function, weight, low, high, degree):
    """Coefficients from the lowest on, and the largest weighted error."""
    low, high = mp.mpf(low), mp.mpf(high)
    points = degree + 2

    def between(i, count):
        return (low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * i / count)

    def weigh(x):
        return max(weight(x), mp.mpf(10) ** -14)

    grid = [between(i, 40 * points) for i in range(40 * points + 1)]
    values = [function(x) for x in grid]
    weights = [weigh(x) for x in grid]
    nodes = [between(i, points - 1) for i in range(points)]
    for _ in range(12):
        matrix = mp.matrix(points, points)
        right = mp.matrix(points, 1)
        for i, x in enumerate(nodes):
            for j in range(degree + 1):
                matrix[i, j] = x**j
            matrix[i, degree + 1] = (-1) ** i / weigh(x)
            right[i] = function(x)
        solution = mp.lu_solve(matrix, right)
        coefficients = [solution[j] for j in range(degree + 1)]
        errors = [
            w * (mp.polyval(coefficients[::-1], x) - y)
            for x, y, w in zip(grid, values, weights, strict=True)
        ]
        # The largest of each stretch of one sign are the next nodes.
        peaks = []
        for i, error in enumerate(errors):
            if peaks and (error >= 0) == (errors[peaks[-1]] >= 0):
                if abs(error) > abs(errors[peaks[-1]]):
                    peaks[-1] = i
            else:
                peaks.append(i)
        while len(peaks) > points:
            first, last = abs(errors[peaks[0]]), abs(errors[peaks[-1]])
            peaks.pop(0 if first < last else -1)
        if len(peaks) < points:
            break
        nodes = [grid[i] for i in peaks]
    return coefficients, max(abs(error) for error in errors)


def show(name, function, weight, low, high, degree, digits=10):
    coefficients, error = remez(function, weight, low, high, degree)
    print(f"{name}: off by 2^{float(mp.log(error, 2)):.1f}")
    print("  " + ", ".join(mp.nstr(x, digits) for x in coefficients))


def odd(function, limit):
    """(function(x) / x - 1) / x^2 of z = x^2, and its weight."""
    root = mp.sqrt
    return (
        lambda z: (function(root(z)) / root(z) - 1) / z if z > TINY else limit,
        lambda z: z * root(z) / function(root(z)) if z > TINY else z,
    )


def main():
    third = mp.mpf(1) / 3
    half_ln2 = mp.log(2) / 2 * mp.mpf("1.0001")

    def exponential(r):
        return (mp.exp(r) - 1 - r) / r**2 if abs(r) > TINY else mp.mpf(1) / 2

    def relative(r):
        return r**2 / mp.exp(r)

    show("exp, from r^2", exponential, relative, -half_ln2, half_ln2, 4)
    show("exp, double", exponential, relative, -half_ln2, half_ln2, 7, 17)

    show(
        "log(1 + x), from x^3",
        lambda x: (mp.log(1 + x) - x + x * x / 2) / x**3 if abs(x) > TINY else third,
        lambda x: abs(x**3 / mp.log(1 + x)) if abs(x) > TINY else x * x,
        mp.sqrt(mp.mpf(1) / 2) - 1,
        mp.sqrt(2) - 1,
        7,
    )
    ratio = (mp.sqrt(2) - 1) / (mp.sqrt(2) + 1)
    show(
        "atanh(f) / f in f^2, double",
        lambda z: mp.atanh(mp.sqrt(z)) / mp.sqrt(z) if z > TINY else mp.mpf(1),
        lambda z: mp.mpf(1),
        0,
        ratio**2 * mp.mpf("1.0001"),
        5,
        17,
    )
    show("tanh", *odd(mp.tanh, -third), 0, mp.mpf("0.625") ** 2, 4)
    show(
        "erf(x) / x in x^2",
        lambda z: mp.erf(mp.sqrt(z)) / mp.sqrt(z) if z > TINY else 2 / mp.sqrt(mp.pi),
        lambda z: mp.sqrt(z) / mp.erf(mp.sqrt(z)) if z > TINY else mp.mpf(1),
        0,
        1,
        6,
    )

    def tail(q):
        t = 2 * (1 + q) / (1 - q)
        return mp.erfc(t / mp.sqrt(2)) * mp.exp(t * t / 2) * (2 + t)

    longest = mp.mpf("14.6")
    show(
        "scaled erfc times t + 2 in (t - 2) / (t + 2)",
        tail,
        lambda q: 1 / tail(q),
        -1,
        (longest - 2) / (longest + 2),
        10,
    )

    quarter = (mp.pi / 4 * mp.mpf("1.001")) ** 2
    show("sin", *odd(mp.sin, -mp.mpf(1) / 6), 0, quarter, 3, 17)
    show(
        "cos, from x^4",
        lambda z: (
            (mp.cos(mp.sqrt(z)) - 1 + z / 2) / z**2 if z > TINY else mp.mpf(1) / 24
        ),
        lambda z: z**2 / mp.cos(mp.sqrt(z)),
        0,
        quarter,
        3,
        17,
    )
    eighth = mp.tan(mp.pi / 8) * mp.mpf("1.001")
    show("atan", *odd(mp.atan, -third), 0, eighth**2, 5, 17)


if __name__ == "__main__":
    main()
