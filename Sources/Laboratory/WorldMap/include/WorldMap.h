// The countries' coasts and borders at 1:110m, compiled in from the page's world.json, the only copy.
#ifndef WORLD_MAP_H
#define WORLD_MAP_H

#include <stddef.h>

extern const unsigned char *const world_map;
extern const size_t world_map_count;

#endif
