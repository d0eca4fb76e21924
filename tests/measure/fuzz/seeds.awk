# seeds.awk — makes files of a fuzzer's seeds: awk -v folder=FOLDER -f seeds.awk seeds/NAME
#
#   == TITLE            a seed, whose file is called so: the lines below without empty ones at their
#                       end. The files of the others have numbers.
#   == part NAME        no seed, but the lines that a line &NAME stands for
#   == like NAME        a seed: this part, with the edits below
#     OLD => NEW        the first OLD, after what the edit before made, becomes NEW; OLD may be A…B:
#                       from an A to the next B
#
# Bytes may be written as \n, \0 and \xHH, and N equal ones as \0{N} and \xHH{N}. A \ at the end of
# a line takes its newline away, also within an edit. Lines that begin with # are comments.

function fail(why)
{
    print FILENAME ":" FNR ": " why >"/dev/stderr"
    failed = 1
    exit
}

# The first `old` in the text, after what was edited before, becomes `new`.
function edit(old, new,    first, at, end)
{
    first = old
    sub(/….*/, "", first)
    at = end = index(substr(text, edited + 1), first)
    if (at && first != old) {
        sub(/.*…/, "", old)
        end = index(substr(text, edited + at + length(first)), old)
        if (end) end += at + length(first) - 1
    }
    if (!end) fail("the seed has no " first (first == old ? "" : "…" old))
    text = substr(text, 1, edited + at - 1) new substr(text, edited + end + length(old))
    edited += at - 1 + length(new)
}

# A line whose equal bytes are all there.
function expanded(line,    byte, count)
{
    while (match(line, /\\(0|x[0-9a-f][0-9a-f])[{][0-9]+[}]/)) {
        byte = count = substr(line, RSTART, RLENGTH)
        sub(/[{].*/, "", byte)
        sub(/.*[{]/, "", count)
        line = substr(line, 1, RSTART - 1) repeated(byte, count + 0) substr(line, RSTART + RLENGTH)
    }
    return line
}

function repeated(byte, count) { return count > 0 ? byte repeated(byte, count - 1) : "" }

function value(escape)
{
    if (escape == "\\n") return 10
    if (escape == "\\0") return 0
    return 16 * hex(substr(escape, 3, 1)) + hex(substr(escape, 4))
}

function hex(digit) { return index("123456789abcdef", digit) }

function write_seed(text, title,    file, escape)
{
    gsub(/[^A-Za-z0-9_]+/, "-", title)
    if (title in titles) fail("there is a seed " title " above")
    if (title != "") titles[title] = 1
    file = folder "/" (title != "" ? title : ++untitled)
    while (match(text, /\\(n|0|x[0-9a-f][0-9a-f])/)) {
        escape = substr(text, RSTART, RLENGTH)
        printf "%s", substr(text, 1, RSTART - 1) >file
        printf "%c", value(escape) >file
        text = substr(text, RSTART + length(escape))
    }
    printf "%s", text >file
    close(file)
}

# Ends what the last == began.
function finish()
{
    if (kind == "part") part[name] = text
    else if (kind != "") write_seed(text, title)
    text = line = empty_lines = ""
    edited = 0
}

/^#/ { next }

/^== / {
    finish()
    kind = $2 ~ /^(part|like)$/ ? $2 : "title"
    name = substr($0, length("== " $2 " ") + 1)
    title = kind == "title" ? substr($0, length("== ") + 1) : ""
    if (kind == "like") text = part[name]
    next
}

$0 == "" {
    empty_lines = empty_lines "\\n"
    next
}

{ line = line expanded($0) }

kind == "like" && sub(/\\$/, "", line) { next }

kind == "like" {
    sub(/ =>$/, "& ", line)
    at = index(line, " => ")
    edit(substr(line, 3, at - 3), substr(line, at + length(" => ")))
    line = ""
    next
}

{
    line = /^&/ ? part[substr(line, 2)] : line "\\n"
    sub(/\\\\n$/, "", line)
    text = text empty_lines line
    line = empty_lines = ""
}

END {
    if (failed) exit 1
    finish()
}
