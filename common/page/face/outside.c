/* outside.c — what a run says to the page while it goes on, and what the page says to it. */
#include "request.h"

#ifdef __wasm__

#include "common/labs/run_case.h"
#include <emscripten.h>

// clang-format off
EM_JS(void, tell, (unsigned done, unsigned all), {
    if (Module.progress) Module.progress(done, all);
})
// clang-format on

void face_progress(unsigned done, unsigned all) { tell(done, all); }

/* Called by the page where it takes what kernels print. */
EMSCRIPTEN_KEEPALIVE void face_printed(unsigned bytes) { run_case_printed(bytes); }

#else

void face_progress(unsigned done, unsigned all) { (void)done, (void)all; }

#endif
