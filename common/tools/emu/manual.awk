# manual.awk — makes the manual page emu(1) from the output of emu --help, so that both say the same.
# Variable `version` is that of the emulator.
#
# Paragraphs of --help are parted by empty lines. The usage and the description come first; the
# paragraphs of options follow; a line that ends with a colon is the head of a list.

# Text for roff: no line begins a request, and hyphens are what one can copy.
function plain(text) {
    gsub(/\\/, "\\e", text)
    gsub(/-/, "\\-", text)
    if (text ~ /^[.']/) text = "\\\\\\&" text
    return text
}

function section(name) {
    print ".SH " name
    current = name
}

# An entry of a list: what it is about, then its text, which may go on in the next lines.
function entry(name, text) {
    print ".TP"
    print ".B \"" plain(name) "\""
    if (text != "") print plain(text)
}

BEGIN {
    print ".\\\" Made from emu --help by manual.awk."
    print ".TH EMU 1 \"\" \"Upsweep " version "\" \"User Commands\""
    section("NAME")
    print "emu \\- run CUDA programs on an emulated GPU, count and check what their kernels do"
}

/^$/ {
    fresh = 1
    next
}

/^usage: / || (current == "SYNOPSIS" && /^ /) {
    if (current != "SYNOPSIS") section("SYNOPSIS")
    sub(/^(usage:)? */, "")
    print (usages++ ? ".br\n" : "") plain($0)
    next
}

current == "SYNOPSIS" { section("DESCRIPTION") }

/^  -/ {
    if (!options++) section("OPTIONS")
    fresh = 0
    sub(/^  /, "")
    at = match($0, /   *[^ ]/)
    if (at) entry(substr($0, 1, at - 1), substr($0, at + RLENGTH - 1))
    else entry($0, "")
    next
}

# A head has its list below it: its first word names the section.
/^[A-Z].*:$/ {
    name = $1
    gsub(/[^A-Za-z]/, "", name)
    section(toupper(name))
    print plain($0)
    list = 1
    fresh = 0
    next
}

# In a list: "  name   text", "  emu words  text", or "* name" with the text in the next line.
list && /^[ *] [^ ]/ {
    at = match(substr($0, 3), /^  emu / ? "   *[^ ]" : "  *[^ ]")
    name = at ? substr($0, 3, at - 1) : substr($0, 3)
    entry((/^\*/ ? "* " : "") name, at ? substr($0, at + RLENGTH + 1) : "")
    next
}

{
    if (fresh && options && !notes++) section("NOTES")
    else if (fresh && notes) print ".PP"
    fresh = 0
    sub(/^ */, "")
    print plain($0)
}

END {
    section("SEE ALSO")
    print plain("nvcc(1), ncu, compute-sanitizer")
}
