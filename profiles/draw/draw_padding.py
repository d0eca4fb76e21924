#!/usr/bin/env python3
"""Draws shared memory as rows of 32 words, without and with padding: notes/figures/padding.svg."""

from svg import Figure

BANKS, ROWS = 32, 5
LEFT, CELL, GAP = 90, 20, 2
WANTED = [0, 32, 64, 96]  # words that four lanes want at once: a stride of 32


def rows(figure, y, place_of, words, title, style):
    """Rows of places; `place_of` says where a word lies. Places without a word are padding."""
    figure.text(24, y, title, "ink")
    y += 28
    for bank in (0, 1, 2, 3, 31):
        figure.text(LEFT + bank * CELL + CELL / 2 - 1, y - 6, bank, "quiet tiny", "middle")
    figure.text(24, y - 6, "bank", "quiet small")
    word_at = {place_of(word): word for word in range(words)}
    plain, padding = [], []
    for place in range(BANKS * ROWS):
        row, bank = divmod(place, BANKS)
        x, top = LEFT + bank * CELL, y + row * CELL
        if place not in word_at:
            padding += [(x, top)] * (place < place_of(words - 1))
        elif word_at[place] not in WANTED:
            plain.append((x, top))
        else:
            figure.rect(x, top, CELL - GAP, CELL - GAP, style, radius=2)
            figure.text(x + (CELL - GAP) / 2, top + 12.5, word_at[place], "ink tiny", "middle")
    figure.cells(plain, CELL - GAP, "cell")
    if padding:
        figure.cells(padding, CELL - GAP, "quiet")


def main():
    words = 4 * BANKS
    figure = Figure(LEFT + BANKS * CELL + 24, 330, "Padding shifts each row",
                    "Without padding words 0, 32, 64 and 96 lie in bank 0; with a word of padding "
                    "after every 32 they lie in banks 0 to 3.")
    figure.text(24, 30, "Four lanes want the words 0, 32, 64 and 96", "head ink")
    rows(figure, 62, lambda word: word, words,
         "without padding all four lie in bank 0: four wavefronts", "bad")
    rows(figure, 196, lambda word: word + word // BANKS, words,
         "one unused word after every 32 (dark): they lie in banks 0, 1, 2 and 3: one wavefront",
         "good")
    figure.save("padding.svg")


main()
