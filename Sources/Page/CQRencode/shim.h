// libqrencode as Swift sees it. (Debian: libqrencode-dev.)
#include <qrencode.h>
