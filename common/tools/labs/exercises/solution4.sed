# A solution of exercise 4, made of the solution of lab 4: an element at place p of row r goes to
# place p xor r of the same row, and rows that are 32 apart differ as well.
s/^#define CONFLICT_FREE_OFFSET(i) .*/#define CONFLICT_FREE_OFFSET(i) (((i) ^ ((i) >> 5 \& 31) ^ ((i) >> 10)) - (i))/
