#!/usr/bin/env python3
"""Renders a small scene and its depth map, for step 14: spheres on a tiled floor, nearer and
farther.

usage: scene.py FOLDER [WIDTH HEIGHT]

Writes FOLDER/scene.ppm and FOLDER/scene-depth.pgm (480 x 300 pixels unless said otherwise). The
depth is 0 at the nearest point of the scene and 255 where nothing is seen but the sky.
"""
import math
import sys

EYE = (0.0, 1.15, -3.2)
SUN = (-0.48, 0.74, -0.47)
NEAR, FAR = 2.0, 16.0           # distances that become depths 0 and 255
SPHERES = [                     # centre, radius, colour
    ((-0.95, 0.42, -0.45), 0.42, (0.86, 0.24, 0.18)),
    ((0.10, 0.50, 1.60), 0.50, (0.95, 0.73, 0.20)),
    ((1.25, 0.35, 0.35), 0.35, (0.22, 0.50, 0.85)),
    ((-1.55, 0.60, 4.10), 0.60, (0.35, 0.68, 0.36)),
    ((1.90, 0.75, 6.20), 0.75, (0.72, 0.45, 0.80)),
    ((-0.30, 0.90, 9.50), 0.90, (0.90, 0.55, 0.40)),
]


def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def hit_sphere(origin, way, centre, radius):
    """The distance along a ray of unit length to a sphere, or None."""
    to = tuple(c - o for c, o in zip(centre, origin))
    along = dot(to, way)
    inside = radius * radius - dot(to, to) + along * along
    if inside < 0:
        return None
    distance = along - math.sqrt(inside)
    return distance if distance > 1e-4 else None


def nearest(origin, way):
    """What a ray hits first: distance, normal, colour and shine; None: the sky."""
    best = None
    for centre, radius, colour in SPHERES:
        distance = hit_sphere(origin, way, centre, radius)
        if distance and (best is None or distance < best[0]):
            point = tuple(o + distance * w for o, w in zip(origin, way))
            best = distance, tuple((p - c) / radius for p, c in zip(point, centre)), colour, 0.6
    if way[1] < 0:
        distance = -origin[1] / way[1]
        if best is None or distance < best[0]:
            x, z = origin[0] + distance * way[0], origin[2] + distance * way[2]
            light = (math.floor(x * 1.5) + math.floor(z * 1.5)) % 2
            best = distance, (0, 1, 0), (0.82, 0.80, 0.74) if light else (0.36, 0.38, 0.42), 0
    return best


def shade(origin, way):
    """The colour that is seen along a ray, and the distance (None: the sky)."""
    hit = nearest(origin, way)
    sky = tuple(0.55 + 0.45 * c * max(way[1], 0) for c in (-0.6, 0.1, 0.9))
    if hit is None:
        return sky, None
    distance, normal, colour, shine = hit
    point = tuple(o + distance * w + 1e-3 * n for o, w, n in zip(origin, way, normal))
    lit = max(dot(normal, SUN), 0)
    if lit and any(hit_sphere(point, SUN, centre, radius) for centre, radius, _ in SPHERES):
        lit = 0
    mirrored = tuple(w - 2 * dot(way, normal) * n for w, n in zip(way, normal))
    gloss = shine * max(dot(mirrored, SUN), 0) ** 40 if lit else 0
    haze = 1 - math.exp(-distance / 30)
    return tuple((c * (0.28 + 0.72 * lit) + gloss) * (1 - haze) + s * haze
                 for c, s in zip(colour, sky)), distance


def ray(x, y, width, height):
    way = ((x - width / 2) / height, (height * 0.42 - y) / height, 1.05)
    length = math.sqrt(dot(way, way))
    return tuple(w / length for w in way)


def render(width, height):
    """The pixels as bytes of RGB, four rays a pixel, and the depths of the pixels' middles."""
    colours, depths = bytearray(), bytearray()
    for y in range(height):
        for x in range(width):
            seen = [shade(EYE, ray(x + dx, y + dy, width, height))[0]
                    for dx, dy in ((0.25, 0.25), (0.75, 0.25), (0.25, 0.75), (0.75, 0.75))]
            for channel in zip(*seen):
                colours.append(round(255 * min(max(sum(channel) / 4, 0), 1) ** (1 / 2.2)))
            distance = shade(EYE, ray(x + 0.5, y + 0.5, width, height))[1]
            if distance is None or distance > FAR:
                depths.append(255)
            else:
                depths.append(round(255 * max(distance - NEAR, 0) / (FAR - NEAR)))
    return colours, depths


def main():
    if len(sys.argv) not in (2, 4):
        sys.exit(__doc__)
    width, height = map(int, sys.argv[2:]) if len(sys.argv) == 4 else (480, 300)
    colours, depths = render(width, height)
    for name, kind, samples in (("scene.ppm", "P6", colours), ("scene-depth.pgm", "P5", depths)):
        with open("%s/%s" % (sys.argv[1], name), "wb") as file:
            file.write(b"%s\n%d %d\n255\n" % (kind.encode(), width, height) + samples)


if __name__ == "__main__":
    main()
