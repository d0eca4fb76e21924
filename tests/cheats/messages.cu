// Warnings without end, to fill the disk.
// expect: 0 0 too many messages
#if __INCLUDE_LEVEL__ < 190
#warning "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
#include __FILE__
#endif
//@ tree
