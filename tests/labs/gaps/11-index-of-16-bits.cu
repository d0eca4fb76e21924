// Wrong: the index of an element does not fit.
// expect: 0 80 element 0 is
// sed: s/size_t first = (size_t)tile/unsigned short first = tile/
