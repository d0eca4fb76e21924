// Does nothing.
// expect: 0 0 never written
//@ kernel
{}
