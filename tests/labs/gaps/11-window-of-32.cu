// Wrong: it never looks further back than one warp does at a time.
// expect: 0 97 element
// sed: s/nearest -= WARP;/break;/
