/* Go has no const: these names stand for it in the functions of the package. */
#ifndef HEDDLE_CONST
#define HEDDLE_CONST
#include "types.h"
typedef const char const_char;
typedef const char *const const_text;
typedef const uint32_t const_uint32;
typedef const heddle_control const_control;
typedef const heddle_queries const_queries;
typedef const heddle_aggregation const_aggregation;

/* Texts that stay valid: names of codes by their numbers, and behind them the version. */
enum { heddle_texts_version = 127 };
extern const char *heddle_texts[128];
#endif
