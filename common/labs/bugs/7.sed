# lab 11: threads read the ticket before it is drawn (racecheck)
/All threads read what the first thread has written/,/int tile = ticket;/ {
    /^ *__syncthreads();/d
    /^ *\/\/ All threads read/d
}
