# lab 5: elements beyond n are loaded (memcheck)
s/^\( *temp\[ai + bankOffsetA\] = \).* ? \(g_idata\[begin + ai\]\) : 0;/\1\2;/
s/^\( *temp\[bi + bankOffsetB\] = \).* ? \(g_idata\[begin + bi\]\) : 0;/\1\2;/
