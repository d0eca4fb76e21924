# lab 6: each block gets the increment of the block before (element 2048 is 0)
s/^\( *\)float incr = g_incr\[j\];/\1float incr = g_incr[j - 1];/
