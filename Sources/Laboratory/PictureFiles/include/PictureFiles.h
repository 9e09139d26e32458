// The files of pictures, compiled in.
#ifndef PICTURE_FILES_H
#define PICTURE_FILES_H

#include <stddef.h>

struct picture_file {
    const unsigned char *bytes;
    size_t count;
};

// The countries' coasts and borders at 1:110m: the page's world.json, the only copy.
extern const struct picture_file world_map;
// The style of all pictures, and that of the page that compares streams.
extern const struct picture_file picture_style;
extern const struct picture_file comparison_style;

#endif
