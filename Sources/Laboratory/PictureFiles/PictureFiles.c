#include "PictureFiles.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char world_json[] = {
#embed "../../Page/WebFiles/page/world.json"
};
static const unsigned char picture_css[] = {
#embed "styles/picture.css"
};
static const unsigned char comparison_css[] = {
#embed "styles/comparison.css"
};

const struct picture_file world_map = {world_json, sizeof world_json};
const struct picture_file picture_style = {picture_css, sizeof picture_css};
const struct picture_file comparison_style = {comparison_css, sizeof comparison_css};
