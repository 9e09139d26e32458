// glibc's malloc settings, which Swift's Glibc module does not include.
#ifndef GIMBAL_CMALLOC_H
#define GIMBAL_CMALLOC_H

#include <malloc.h>

#endif
