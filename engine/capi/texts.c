#include "const.h"
const char *heddle_texts[128];
