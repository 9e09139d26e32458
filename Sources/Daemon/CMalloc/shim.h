// glibc's settings of malloc, which Swift's Glibc leaves out.
#ifndef GIMBAL_CMALLOC_H
#define GIMBAL_CMALLOC_H

#include <malloc.h>

#endif
