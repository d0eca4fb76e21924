/*
 * grade_csv.c — tables: grades.csv, moodle.csv, and cells that a spreadsheet opens.
 */
#define _GNU_SOURCE
#include "grader.h"
#include "common/files/visible.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- writes a text as a cell of a table that a spreadsheet opens ----------------------------- */

/*
 * A spreadsheet takes a cell that begins with = + - @, or with their wide forms, as a formula, also
 * behind blanks and quotes. And it may split the lines elsewhere than at commas: in many countries
 * it splits at semicolons, where our quotes no longer hold. So a ' stands before such a character
 * wherever a cell could begin.
 */

static bool is_one_of(const uint32_t *all, uint32_t character)
{
    while (*all != 0 && *all != character) all++;
    return *all != 0;
}

static bool begins_formula(uint32_t character)
{
    static const uint32_t all[] = {'=', '+', '-', '@', 0xFF1D, 0xFF0B, 0xFF0D, 0xFF20, 0};
    return is_one_of(all, character);
}

static bool separates(uint32_t character)
{
    static const uint32_t all[] = {',', ';', '|', '\t', 0};
    return is_one_of(all, character);
}

/* A blank or a quote, which leaves the beginning of a cell where it is. 0xA0 and 0x3000 are blanks,
 * too. */
static bool is_skipped(uint32_t character)
{
    static const uint32_t all[] = {' ', '"', 0xA0, 0x3000, 0};
    return is_one_of(all, character);
}

static void put_guarded(FILE *out, const char *text)
{
    bool begins = true; /* could a cell begin here? */
    while (*text != '\0') {
        uint32_t character = 0;
        size_t length = visible_decode(text, &character);
        if (begins && begins_formula(character)) fputc('\'', out);
        begins = separates(character) || (begins && is_skipped(character));
        if (character == '"') fputc('"', out);
        fwrite(text, 1, length > 0 ? length : 1, out);
        text += length > 0 ? length : 1;
    }
}

void csv_cell(FILE *out, const char *text)
{
    size_t size = VISIBLE_GROWTH * strlen(text) + 1;
    char *safe = malloc(size);
    if (safe == NULL) abort();
    visible(safe, size, text);
    fputc('"', out);
    put_guarded(out, safe);
    fputc('"', out);
    free(safe);
}

/* ---- grades.csv: a row for each submission --------------------------------------------------- */

/* The greatest loss, or why there was nothing to judge. */
static const char *reason_of(const struct lab_verdict *verdict)
{
    const char *reason = verdict->failure;
    double most = 0;
    for (size_t i = 0; reason[0] == '\0' && i < verdict->line_count; i++)
        if (verdict->lines[i].lost > most) most = verdict->lines[i].lost;
    for (size_t i = 0; most > 0 && i < verdict->line_count; i++)
        if (verdict->lines[i].lost == most) return verdict->lines[i].text;
    return reason;
}

void csv_verdict(FILE *out, const struct lab_verdict *verdict)
{
    fprintf(out, "%.2f,%.2f,%u,%u", verdict->points, verdict->most, verdict->right_cases,
            verdict->cases);
    for (int i = 0; i < LAB_CRITERIA; i++) fprintf(out, ",%.4f", verdict->fraction[i]);
    fputc(',', out);
    csv_cell(out, reason_of(verdict));
}

/* ---- the same PTX ---------------------------------------------------------------------------- */

struct same {
    uint64_t bits[2];
    bool is_step;
    char name[SUBMISSION_NAME];
};

static bool equal(const struct same *left, const struct same *right)
{
    return left->bits[0] == right->bits[0] && left->bits[1] == right->bits[1] &&
           (left->bits[0] | left->bits[1]) != 0;
}

static void add_same(FILE *to, bool *first, const char *name)
{
    fprintf(to, "%s%s", *first ? "" : "; ", name);
    *first = false;
}

/* The cell with steps and the first other submissions of the same PTX, and how many more there
 * are: in a class that has copied one file, a list of all in each row would be long. */
static void print_same(FILE *out, const struct same *all, size_t count, size_t of)
{
    enum { SHOWN = 3 };
    char *text;
    size_t size, found = 0;
    bool first = true;
    FILE *to = open_memstream(&text, &size);
    if (to == NULL) abort();
    for (size_t i = 0; i < count; i++) {
        if (i == of || !equal(&all[i], &all[of])) continue;
        if (all[i].is_step || found < SHOWN) add_same(to, &first, all[i].name);
        found += !all[i].is_step;
    }
    if (found > SHOWN) fprintf(to, "; and %zu more", found - SHOWN);
    fclose(to);
    csv_cell(out, text);
    free(text);
}

/* What the PTX of submissions and steps is the same as. The steps stand behind the submissions. */
static size_t find_same(const struct grader *grader, const struct submission *submissions,
                        size_t count, struct same *all)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        struct compiled compiled = {0};
        all[found] = (struct same){0};
        snprintf(all[found].name, sizeof all->name, "%s", submissions[i].path);
        if (state_compiled(grader, &submissions[i], &compiled))
            memcpy(all[found].bits, compiled.same, sizeof compiled.same);
        free(compiled.messages);
        found++;
    }
    for (size_t i = 0; lab_at(i) != NULL; i++)
        if (solution_bits(grader, lab_at(i), all[found].bits)) {
            all[found].is_step = true;
            snprintf(all[found++].name, sizeof all->name, "step %d", lab_at(i)->number);
        }
    return found;
}

static size_t count_labs(void)
{
    size_t count = 0;
    while (lab_at(count) != NULL) count++;
    return count;
}

/* ---- the table ------------------------------------------------------------------------------- */

/* All that rows are printed from. */
struct class
{
    const struct grader *grader;
    const struct submission *list;
    size_t count;
    size_t *owners;    /* of each submission: where its student stands in the roster */
    struct same *same; /* submissions, and behind them steps */
    size_t same_count;
};

/* The student's name as the roster has it, or the submission's. */
static const char *name_of(const struct class *class, size_t of)
{
    const struct roster *roster = &class->grader->roster;
    size_t owner = class->owners[of];
    return owner < roster->count ? roster->names[owner] : class->list[of].name;
}

static void print_head(FILE *out)
{
    fputs("name,file,status,points,most,right runs,runs", out);
    for (int i = 0; i < LAB_CRITERIA; i++) fprintf(out, ",%s", lab_criterion_name(i));
    fputs(",reason,same PTX as,report,note\n", out);
}

/* Where the report is, from the folder of grades.csv. */
static void print_report(FILE *out, const struct submission *submission, bool judged)
{
    char name[SUBMISSION_ID + 32] = "";
    if (judged) snprintf(name, sizeof name, "reports/%s.html", submission->id);
    csv_cell(out, name);
}

/* The cell with what an instructor has to know. */
static void print_note_cell(FILE *out, const struct class *class, size_t of)
{
    char *text;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    if (to == NULL) abort();
    print_note(to, class->grader, class->list, class->count, of);
    fclose(to);
    csv_cell(out, text);
    free(text);
}

static void print_row(FILE *out, const struct class *class, size_t of)
{
    const struct submission *submission = &class->list[of];
    char *row = state_row(class->grader, submission, NULL);
    csv_cell(out, name_of(class, of));
    fputc(',', out);
    csv_cell(out, submission->path);
    if (row != NULL)
        fprintf(out, ",%s,", row);
    else
        fputs(",not judged,,,,,,,,,\"the machine or the grader failed: grade again\",", out);
    print_same(out, class->same, class->same_count, of);
    fputc(',', out);
    print_report(out, submission, row != NULL);
    fputc(',', out);
    print_note_cell(out, class, of);
    fputc('\n', out);
    free(row);
}

/* The cell with submissions that may be this student's: their names are not on the roster. */
static void print_alike(FILE *out, const struct class *class, const char *student)
{
    char *text;
    size_t size;
    bool first = true;
    FILE *to = open_memstream(&text, &size);
    if (to == NULL) abort();
    for (size_t i = 0; i < class->count; i++) {
        if (class->owners[i] < class->grader->roster.count) continue;
        if (roster_looks_alike(student, class->list[i].name))
            add_same(to, &first, class->list[i].path);
    }
    if (!first) fputs(" has a name that looks alike, and is not on the roster", to);
    fclose(to);
    csv_cell(out, text);
    free(text);
}

/* A row of a student without a submission. */
static void print_absent(FILE *out, const struct class *class, const char *name)
{
    static struct lab_verdict verdict;
    score_nothing(class->grader->lab, &class->grader->weights, "Nothing was handed in.", &verdict);
    csv_cell(out, name);
    fputs(",\"\",nothing handed in,", out);
    csv_verdict(out, &verdict);
    fputs(",\"\",\"\",", out);
    print_alike(out, class, name);
    fputc('\n', out);
}

/* The submissions of the student `owner`; roster.count: those that are not on the roster. Returns
 * how many there are. */
static size_t print_rows_of(FILE *out, const struct class *class, size_t owner)
{
    size_t found = 0;
    for (size_t i = 0; i < class->count; i++)
        if (class->owners[i] == owner) print_row(out, class, i), found++;
    return found;
}

static void print_table(FILE *out, const struct class *class)
{
    const struct roster *roster = &class->grader->roster;
    if (class->grader->bom) fputs("\uFEFF", out);
    print_head(out);
    for (size_t i = 0; i < roster->count; i++)
        if (print_rows_of(out, class, i) == 0) print_absent(out, class, roster->names[i]);
    print_rows_of(out, class, roster->count);
}

int csv_write(const struct grader *grader, const struct submission *submissions, size_t count,
              struct fault *fault)
{
    char path[PATH_MAX], *text;
    size_t size;
    struct class class = {.grader = grader,
                          .list = submissions,
                          .count = count,
                          .owners = calloc(count + 1, sizeof *class.owners),
                          .same = calloc(count + count_labs(), sizeof *class.same)};
    FILE *out = open_memstream(&text, &size);
    if (out == NULL || class.owners == NULL || class.same == NULL) abort();
    for (size_t i = 0; i < count; i++)
        class.owners[i] = roster_find(&grader->roster, submissions[i].name);
    class.same_count = find_same(grader, submissions, count, class.same);
    print_table(out, &class);
    fclose(out);
    snprintf(path, sizeof path, "%s/grades.csv", grader->out);
    int code = state_write(path, text, size, fault);
    free(text);
    free(class.owners);
    free(class.same);
    return code;
}

/* ---- moodle.csv: a row for each student, to be imported into Moodle's gradebook -------------- */

/* The place of the only submission of a student; count if they handed in none, or several. */
static size_t only_one(const struct roster *roster, const struct submission *list, size_t count,
                       const char *name, bool *several)
{
    size_t found = count;
    *several = false;
    for (size_t i = 0; i < count; i++) {
        size_t owner = roster_find(roster, list[i].name);
        if (strcmp(owner < roster->count ? roster->names[owner] : list[i].name, name) != 0)
            continue;
        *several = found < count;
        found = i;
        if (*several) return count;
    }
    return found;
}

/* A row of a judged submission: "judged,POINTS,MOST,…", and as the last cell "REASON" in quotes. */
static bool print_judged(FILE *out, const char *identifier, const char *row)
{
    enum { CELLS_BEFORE_REASON = 9 };
    static const char judged[] = STATUS_JUDGED ",";
    if (row == NULL || strncmp(row, judged, strlen(judged)) != 0) return false;
    const char *points = row + strlen(judged), *most = strchr(points, ',') + 1, *reason = row;
    for (int i = 0; i < CELLS_BEFORE_REASON; i++) reason = strchr(reason, ',') + 1;
    csv_cell(out, identifier);
    fprintf(out, ",%.*s,\"%.*s of %.*s points.%s%s\n", (int)strcspn(points, ","), points,
            (int)strcspn(points, ","), points, (int)strcspn(most, ","), most,
            reason[1] == '"' ? "" : " ", reason + 1);
    return true;
}

/* Returns whether the student has a row: two submissions, or one that is not judged, are for a
 * person to look at, and an import would hide that. */
static bool print_student(FILE *out, const struct grader *grader, const struct submission *list,
                          size_t count, const char *name, const char *identifier)
{
    bool several;
    size_t of = only_one(&grader->roster, list, count, name, &several);
    if (several) return false;
    if (of == count) {
        csv_cell(out, identifier);
        fputs(",0.00,\"Nothing was handed in.\"\n", out);
        return true;
    }
    char *row = state_row(grader, &list[of], NULL);
    bool is_judged = print_judged(out, identifier, row);
    free(row);
    return is_judged;
}

int moodle_write(const struct grader *grader, const struct submission *list, size_t count,
                 struct fault *fault)
{
    const struct roster *roster = &grader->roster;
    char path[PATH_MAX], *text;
    size_t size, students = roster->count > 0 ? roster->count : count, rows = 0;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL) abort();
    fputs("identifier,points,feedback\n", out);
    for (size_t i = 0; i < students; i++) {
        const char *name = roster->count > 0 ? roster->names[i] : list[i].name;
        const char *identifier = roster->count > 0 ? roster->identifiers[i] : name;
        rows += print_student(out, grader, list, count, name, identifier);
    }
    fclose(out);
    snprintf(path, sizeof path, "%s/moodle.csv", grader->out);
    int code = state_write(path, text, size, fault);
    free(text);
    if (code == 0 && rows < students)
        fprintf(stderr,
                "grade-labs: %s leaves out %zu that are not judged or handed in twice; see "
                "grades.csv\n",
                path, students - rows);
    return code;
}
