# lab 5: leaves of the tree beyond n are never written (initcheck)
s/^\( *\)\(temp\[ai + bankOffsetA\] = \)\(begin .*\) ? \(g_idata\[begin + ai\]\) : 0;/\1if (\3) \2\4;/
s/^\( *\)\(temp\[bi + bankOffsetB\] = \)\(begin .*\) ? \(g_idata\[begin + bi\]\) : 0;/\1if (\3) \2\4;/
