#include "WorldMap.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char world_json[] = {
#embed "../../Page/WebFiles/page/world.json"
};

const unsigned char *const world_map = world_json;
const size_t world_map_count = sizeof world_json;
