# one_header.awk — makes one file of a header of the library and the steps' files that it includes:
#
#     awk -f common/tools/library/one_header.awk common/tools/library/upsweep/scan.cuh
#
# Includes of system headers come first. The macros of the steps' files are put aside before them
# and put back after them, so that a program keeps what it has defined by these names.

function folder(path) { sub(/[^\/]*$/, "", path); return path }

function exists(path,   line, found) {
    found = (getline line <path) >= 0
    close(path)
    return found
}

# The file that `name` in an include of this file stands for; empty: one of the public headers.
function found(name, file) {
    if (folder(file) == folder(ARGV[1]) && exists(folder(file) name)) return ""
    if (exists(folder(file) name)) return folder(file) name
    if (exists(name)) return name
    print "one_header.awk: " file " includes " name ", which is missing" >"/dev/stderr"
    exit failed = 1
}

function add(line) { text[++lines] = line }

# Adds a file to the text; `inside`: it is one of the steps'.
function visit(file, inside,   line, name, path) {
    while ((getline line <file) > 0) {
        if (line ~ /^#include </) {
            if (!(line in system_seen)) system_headers[++systems] = line
            system_seen[line] = 1
            continue
        }
        if (inside && match(line, /^# *define +[A-Za-z_0-9]+/)) {
            name = substr(line, RSTART, RLENGTH)
            sub(/^# *define +/, "", name)
            if (!(name in macro_seen)) macro[++macros] = name
            macro_seen[name] = 1
        }
        if (line ~ /^#include "/) {
            split(line, part, "\"")
            name = part[2]
            path = found(name, file)
            if (path == "" || path ~ /\/upsweep\/[a-z]*\.h$/) {
                if (!inside) add(line)
            } else if (path !~ /\/macros\.cuh$/ && !(path in visited)) {
                visited[path] = 1
                add("// ---- " path)
                visit(path, 1)
            }
            continue
        }
        add(line)
    }
    close(file)
}

BEGIN {
    visit(ARGV[1], 0)
    if (failed) exit 1
    for (i = 1; i <= lines; i++) {
        print text[i]
        if (!headed && text[i] ~ /^#define UPSWEEP_.*_CUH$/) {
            headed = 1
            print ""
            for (k = 1; k <= systems; k++) print system_headers[k]
            print ""
            for (k = 1; k <= macros; k++)
                print "#pragma push_macro(\"" macro[k] "\")\n#undef " macro[k]
        }
        if (!tailed && text[i] ~ /^} \/\/ namespace .*_kernels$/) {
            tailed = 1
            for (k = 1; k <= macros; k++) print "#pragma pop_macro(\"" macro[k] "\")"
        }
    }
}
