// The page's files, as bytes in the program. Invariant: none of them ever changes or goes away.
#ifndef WEB_FILES_H
#define WEB_FILES_H

#include <stddef.h>

struct web_file {
    const char *path;  // as it is asked for, such as "/main.js"
    const char *type;  // its Content-Type
    const unsigned char *bytes;
    size_t count;
};

size_t web_file_count(void);
// Returns the file at an index below web_file_count().
struct web_file web_file_at(size_t index);

#endif
