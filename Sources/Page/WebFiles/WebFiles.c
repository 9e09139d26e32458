// The page's files. The compiler embeds them (#embed, C23), and notices when one has changed. Some are modules that
// other pages can use, too: they are stored only once.
#include "WebFiles.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char index_html[] = {
#embed "page/index.html"
};
static const unsigned char style_css[] = {
#embed "page/style.css"
};
static const unsigned char icon_svg[] = {
#embed "page/icon.svg"
};
static const unsigned char world_json[] = {
#embed "page/world.json"
};
static const unsigned char earth_bin[] = {
#embed "page/earth.bin"
};
static const unsigned char main_js[] = {
#embed "page/main.js"
};
static const unsigned char cameras_js[] = {
#embed "page/cameras.js"
};
static const unsigned char connection_js[] = {
#embed "page/connection.js"
};
static const unsigned char projection_js[] = {
#embed "../../../Protocols/examples/adapters/projection.js"
};
static const unsigned char present_js[] = {
#embed "../../../Protocols/examples/adapters/present.js"
};
static const unsigned char link_js[] = {
#embed "../../../Protocols/examples/adapters/link.js"
};
static const unsigned char maplibre_js[] = {
#embed "../../../Protocols/examples/adapters/maplibre.js"
};
static const unsigned char world_js[] = {
#embed "page/world.js"
};
static const unsigned char earth_js[] = {
#embed "page/earth.js"
};
static const unsigned char ground_js[] = {
#embed "page/ground.js"
};
static const unsigned char styled_js[] = {
#embed "page/styled.js"
};
static const unsigned char view_js[] = {
#embed "page/view.js"
};
static const unsigned char overview_js[] = {
#embed "page/overview.js"
};
static const unsigned char timeline_js[] = {
#embed "page/timeline.js"
};
static const unsigned char log_js[] = {
#embed "page/log.js"
};
static const unsigned char hands_js[] = {
#embed "page/hands.js"
};
static const unsigned char commands_js[] = {
#embed "page/commands.js"
};
static const unsigned char lock_js[] = {
#embed "page/lock.js"
};
static const unsigned char step_js[] = {
#embed "page/step.js"
};
static const unsigned char player_js[] = {
#embed "page/player.js"
};
static const unsigned char surface_js[] = {
#embed "page/surface.js"
};
static const unsigned char theme_js[] = {
#embed "page/theme.js"
};
static const unsigned char tour_js[] = {
#embed "page/tour.js"
};
static const unsigned char tour_file_js[] = {
#embed "page/tour-file.js"
};
static const unsigned char pan_fling_ndjson[] = {
#embed "../../../Protocols/examples/traces/pan-fling.ndjson"
};
static const unsigned char pinch_and_rotate_ndjson[] = {
#embed "../../../Protocols/examples/traces/pinch-and-rotate.ndjson"
};
static const unsigned char tilt_ndjson[] = {
#embed "../../../Protocols/examples/traces/tilt.ndjson"
};

#define SCRIPT "text/javascript; charset=utf-8"
#define TILES "application/octet-stream"
#define TRACE "application/x-ndjson; charset=utf-8"

static const struct web_file files[] = {
    {"/", "text/html; charset=utf-8", index_html, sizeof index_html},
    {"/style.css", "text/css; charset=utf-8", style_css, sizeof style_css},
    {"/icon.svg", "image/svg+xml", icon_svg, sizeof icon_svg},
    {"/world.json", "application/json", world_json, sizeof world_json},
    {"/earth.bin", TILES, earth_bin, sizeof earth_bin},
    {"/main.js", SCRIPT, main_js, sizeof main_js},
    {"/cameras.js", SCRIPT, cameras_js, sizeof cameras_js},
    {"/connection.js", SCRIPT, connection_js, sizeof connection_js},
    {"/projection.js", SCRIPT, projection_js, sizeof projection_js},
    {"/present.js", SCRIPT, present_js, sizeof present_js},
    {"/link.js", SCRIPT, link_js, sizeof link_js},
    {"/maplibre.js", SCRIPT, maplibre_js, sizeof maplibre_js},
    {"/styled.js", SCRIPT, styled_js, sizeof styled_js},
    {"/world.js", SCRIPT, world_js, sizeof world_js},
    {"/earth.js", SCRIPT, earth_js, sizeof earth_js},
    {"/ground.js", SCRIPT, ground_js, sizeof ground_js},
    {"/view.js", SCRIPT, view_js, sizeof view_js},
    {"/overview.js", SCRIPT, overview_js, sizeof overview_js},
    {"/timeline.js", SCRIPT, timeline_js, sizeof timeline_js},
    {"/log.js", SCRIPT, log_js, sizeof log_js},
    {"/hands.js", SCRIPT, hands_js, sizeof hands_js},
    {"/commands.js", SCRIPT, commands_js, sizeof commands_js},
    {"/lock.js", SCRIPT, lock_js, sizeof lock_js},
    {"/step.js", SCRIPT, step_js, sizeof step_js},
    {"/player.js", SCRIPT, player_js, sizeof player_js},
    {"/surface.js", SCRIPT, surface_js, sizeof surface_js},
    {"/theme.js", SCRIPT, theme_js, sizeof theme_js},
    {"/tour.js", SCRIPT, tour_js, sizeof tour_js},
    {"/tour-file.js", SCRIPT, tour_file_js, sizeof tour_file_js},
    {"/samples/pan-fling.ndjson", TRACE, pan_fling_ndjson, sizeof pan_fling_ndjson},
    {"/samples/pinch-and-rotate.ndjson", TRACE, pinch_and_rotate_ndjson, sizeof pinch_and_rotate_ndjson},
    {"/samples/tilt.ndjson", TRACE, tilt_ndjson, sizeof tilt_ndjson},
};

size_t web_file_count(void) { return sizeof files / sizeof files[0]; }

struct web_file web_file_at(size_t index) { return files[index]; }
