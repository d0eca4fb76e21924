/* partners.h — how partners.cu launches its own kernels; ./step16 reports it. */
#ifndef STEP16_PARTNERS_H
#define STEP16_PARTNERS_H

#define PARTNER_THREADS 256 /* of a block */

#endif
