#!/bin/sh
# group.sh — writes one program with many pairs, for the tests: compiling it takes a tenth of the
# time of compiling each pair.
#
#   tests/checks/group.sh tests/checks/memory-*.cu >build/pairs/memory.cu
#
# It is compiled with -Itests/checks, and called with the name of a pair before `wrong` or `right`.
# It ends with 0, or with the number that follows.
# Each pair has its own namespace. Its headers are included before the namespace, its macros are
# undefined at the end, and main becomes a function `pair`.
set -eu

namespace() { basename -s .cu "$1" | tr - _; }

echo "/* Written by tests/checks/group.sh. */"
sed -n '/^#include/p' "$@" | LC_ALL=C sort -u
echo "#define main unused; static void pair"
for file; do
    echo "namespace $(namespace "$file") {"
    echo "#include \"$(basename "$file")\""
    echo "}"
    sed -n 's/^#define \([A-Za-z_0-9]*\).*/#undef \1/p' "$file"
done
echo "#undef main"
echo "static const struct { const char *name; void (*run)(int, char **); } pairs[] = {"
for file; do echo "    {\"$(basename -s .cu "$file")\", $(namespace "$file")::pair},"; done
cat <<'END'
};
int main(int argc, char **argv)
{
    for (auto &pair : pairs)
        if (argc > 1 && strcmp(argv[1], pair.name) == 0)
            return pair.run(argc > 3 ? 2 : argc - 1, argv + 1), argc > 3 ? atoi(argv[3]) : 0;
    fprintf(stderr, "usage: %s PAIR wrong|right [exit code]\n", argv[0]);
    return 2;
}
END
