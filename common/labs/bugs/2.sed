# lab 3: the down-sweep's barrier stands where only some threads pass (synccheck)
/Down-sweep: give each left child/,/The last level has written/ {
    /^ *\/\/ This level reads/d
    /^ *\/\/ at the root/d
    /^ *__syncthreads();/d
    s/^\( *\)float t = temp\[ai\];/\1__syncthreads();\
&/
}
