# lab 2: a sweep reads the buffer that it writes (racecheck)
s/^\( *\)pin = 1 - pout;/\1pin = pout;/
