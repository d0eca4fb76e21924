// Lines that claim to come from another file. The scan is right.
// expect: 100 100 
#line 1 "../../../etc/<b>passwd</b>"
//@ tree
