# compare.awk — compares grades.csv with what cheats expect: `// expect: LEAST MOST REASON` in
# FOLDER/NAME.cu, where REASON is part of the reason, and may be empty. Prints a line for each
# difference.
#
#   awk -v folder=FOLDER -f compare.awk grades.csv

# Splits a line of CSV, whose cells may stand in quotes, into cell[].
function split_csv(line,    count, at, character, quoted) {
    delete cell
    count = 1
    for (at = 1; at <= length(line); at++) {
        character = substr(line, at, 1)
        if (quoted && character == "\"" && substr(line, at + 1, 1) == "\"") {
            cell[count] = cell[count] character
            at++
        } else if (character == "\"")
            quoted = !quoted
        else if (character == "," && !quoted)
            count++
        else
            cell[count] = cell[count] character
    }
    return count
}

FNR == 1 {
    columns = split_csv($0)
    for (i = 1; i <= columns; i++) column[cell[i]] = i
    next
}

{
    if (split_csv($0) != columns) {
        print "not " columns " cells: " $0
        next
    }
    points = cell[column["points"]]
    reason = cell[column["reason"]]
    file = folder "/" cell[column["file"]]
    expected = 0
    while ((getline line <file) > 0) {
        if (line !~ /^\/\/ expect: /) continue
        expected = 1
        split(line, word, " ")
        least = word[3]
        most = word[4]
        sub(/^\/\/ expect: [^ ]+ [^ ]+ ?/, "", line)
        if (cell[column["status"]] != "judged" || points + 0 < least + 0 || points + 0 > most + 0 ||
            index(reason, line) == 0)
            printf "%s: %s points because of \"%s\", and not %s to %s because of \"%s\"\n",
                cell[column["file"]], points, reason, least, most, line
    }
    close(file)
    if (!expected) print cell[column["file"]] ": nothing is expected of it"
}
