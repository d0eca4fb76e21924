/*
 * random.h — random numbers for tests: the same ones in every run.
 */
#ifndef TESTS_RANDOM_H
#define TESTS_RANDOM_H

#include <stdint.h>

/* 64 random bits (splitmix64). */
uint64_t random_bits(void);

#endif
