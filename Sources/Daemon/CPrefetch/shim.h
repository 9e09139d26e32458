// The processor's prefetch instruction, which Swift does not expose.
#ifndef GIMBAL_CPREFETCH_H
#define GIMBAL_CPREFETCH_H

// Never fails, whatever the address.
static inline void prefetch_for_writing(const void *address) { __builtin_prefetch(address, 1); }

#endif
