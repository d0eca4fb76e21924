/* passes.c — the passes, in their order. */
#include "passes.h"

void passes_run(struct ir_function *f)
{
    pass_same_values(f);
    pass_unused(f);
    pass_unroll(f);
    pass_addresses(f);
    pass_same_values(f);
    pass_unused(f);
    pass_slots(f);
    for (int k = 0; k < 3; k++) {
        pass_loads(f);
        pass_same_values(f);
        pass_unused(f);
        pass_choices(f);
        pass_branches(f);
        f->keeps_signs = false;
        pass_same_values(f);
        pass_loops(f);
        pass_operands(f);
    }
    pass_loads(f);
    pass_same_values(f);
    pass_unused(f);
    pass_operands(f);
    pass_sink(f);
    pass_pairs(f);
    pass_fuse(f);
    pass_unused(f);
}
