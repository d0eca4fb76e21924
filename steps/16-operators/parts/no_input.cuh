/* no_input.cuh — the type of a second input that an operator does not have. */
#ifndef STEP16_NO_INPUT_CUH
#define STEP16_NO_INPUT_CUH

namespace step16
{
namespace operators
{
struct no_input {
};
} // namespace operators
using namespace operators;
} // namespace step16
using step16::no_input;

#endif
