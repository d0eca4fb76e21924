/* test_elf_file.c — the reader of ELF files, on small files made here, whole and damaged. */
#include "common/emu/ptx/binary.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* A file with the sections "", ".names", ".text.scan", ".bss" and one whose name has no end. */
enum { NAMES = 1, TEXT, BSS, ENDLESS, SECTIONS };
static const char names[] = "\0.names\0.text.scan\0.bss\0endless";
enum { AT_TEXT_NAME = 8, AT_BSS_NAME = 19, AT_ENDLESS_NAME = 24 };

static struct {
    Elf64_Ehdr header;
    Elf64_Shdr sections[SECTIONS];
    char names[sizeof names - 1]; /* without the last one's end */
    char code[16];
} file;

#define OFFSET(member) ((size_t)((char *)&file.member - (char *)&file))

static void make_file(void)
{
    memcpy(file.header.e_ident, ELFMAG, SELFMAG);
    file.header.e_ident[EI_CLASS] = ELFCLASS64;
    file.header.e_type = ET_DYN;
    file.header.e_machine = EM_X86_64;
    file.header.e_shentsize = sizeof(Elf64_Shdr);
    file.header.e_shnum = SECTIONS;
    file.header.e_shoff = OFFSET(sections);
    file.header.e_shstrndx = NAMES;
    file.sections[NAMES] =
        (Elf64_Shdr){.sh_name = 1, .sh_offset = OFFSET(names), .sh_size = sizeof file.names};
    file.sections[TEXT] = (Elf64_Shdr){
        .sh_name = AT_TEXT_NAME, .sh_offset = OFFSET(code), .sh_size = sizeof file.code};
    file.sections[BSS] =
        (Elf64_Shdr){.sh_name = AT_BSS_NAME, .sh_type = SHT_NOBITS, .sh_size = sizeof file.code};
    file.sections[ENDLESS] = (Elf64_Shdr){.sh_name = AT_ENDLESS_NAME};
    memcpy(file.names, names, sizeof file.names);
}

TestSuite(elf_file, .init = make_file);

static struct elf read_elf(void)
{
    struct elf elf;
    cr_assert_eq(elf_read(&elf, &file, sizeof file), ELF_FINE);
    return elf;
}

/* Also at an odd address. */
Test(elf_file, sections_by_name)
{
    char *moved = malloc(sizeof file + 1);
    memcpy(moved + 1, &file, sizeof file);
    const void *const places[] = {&file, moved + 1};
    for (int i = 0; i < 2; i++) {
        struct elf elf;
        size_t size;
        cr_assert_eq(elf_read(&elf, places[i], sizeof file), ELF_FINE);
        cr_expect(elf.type == ET_DYN && elf.machine == EM_X86_64);
        cr_expect_eq(elf_find(&elf, ".text.", "scan"), TEXT);
        cr_expect_eq(elf_find(&elf, "", ".text.scan"), TEXT);
        cr_expect_eq(elf_find(&elf, ".text.", "sca"), 0);
        cr_expect_eq(elf_content(&elf, TEXT, &size), elf.data + OFFSET(code));
        cr_expect_eq(size, sizeof file.code);
        cr_expect_eq(elf_header(&elf, TEXT).sh_name, AT_TEXT_NAME);
        cr_expect_str_eq(elf_string(&elf, NAMES, AT_BSS_NAME), ".bss");
    }
    free(moved);
}

Test(elf_file, what_has_no_content_is_not_found)
{
    struct elf elf = read_elf();
    size_t size = 1;
    cr_expect_null(elf_content(&elf, BSS, &size));
    cr_expect_eq(size, 0);
    cr_expect_eq(elf_find(&elf, "", ".bss"), 0);
    cr_expect_null(elf_content(&elf, 0, &size));
    cr_expect_null(elf_content(&elf, SECTIONS, &size));
    cr_expect_str_empty(elf_string(&elf, NAMES, sizeof file.names));
    cr_expect_str_empty(elf_string(&elf, NAMES, AT_ENDLESS_NAME), "a string without an end");
    cr_expect_str_empty(elf_string(&elf, SECTIONS, 0));
}

Test(elf_file, contents_beyond_the_end_are_not_found)
{
    static const Elf64_Off offsets[] = {sizeof file - 15, sizeof file + 1, UINT64_MAX - 3};
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
        file.sections[TEXT].sh_offset = offsets[i];
        struct elf elf = read_elf();
        cr_expect_eq(elf_find(&elf, ".text.", "scan"), 0, "case %zu", i);
    }
}

Test(elf_file, what_is_no_elf_file)
{
    struct elf elf;
    cr_expect_eq(elf_read(&elf, &file, sizeof file.header - 1), ELF_TOO_SHORT);
    size_t all = OFFSET(sections) + sizeof file.sections;
    cr_expect_eq(elf_read(&elf, &file, all), ELF_FINE);
    cr_expect_eq(elf_read(&elf, &file, all - 1), ELF_DAMAGED_TABLE);
    file.header.e_shentsize--;
    cr_expect_eq(elf_read(&elf, &file, sizeof file), ELF_DAMAGED_TABLE);
    file.header.e_ident[EI_CLASS] = ELFCLASS32;
    cr_expect_eq(elf_read(&elf, &file, sizeof file), ELF_OTHER_FORMAT);
    file.header.e_ident[EI_CLASS] = ELFCLASS64;
    file.header.e_ident[0] = 0;
    cr_expect_eq(elf_read(&elf, &file, sizeof file), ELF_OTHER_FORMAT);
}
