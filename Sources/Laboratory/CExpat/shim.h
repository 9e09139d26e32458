// libexpat as Swift sees it. (Debian: libexpat1-dev.)
#include <expat.h>
