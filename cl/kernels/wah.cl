// wah: words of bit vectors in the word-aligned hybrid code (package codec/wah; Nelson
// et al. 2020, section 2), as the kernels over tables read them. No kernel of its own.
//
// A word is a literal of GROUP_BITS rows, or, where its highest bit is set, a fill: so
// many groups, in its lower bits, of which all rows have the value of the next bit.
#ifndef HEDDLE_WAH
#define HEDDLE_WAH
#ifndef HEDDLE_COMMON
#include "common.cl"
#endif

#ifndef USE_WIDE
#define USE_WIDE 0 // 1: words of 64 bits
#endif

#if USE_WIDE
typedef ulong word_t;
typedef long sword_t;
#define WORD_BITS 64
#else
typedef uint word_t;
typedef int sword_t;
#define WORD_BITS 32
#endif
#define GROUP_BITS (WORD_BITS - 1)
#define GROUP_ONES ((word_t)-1 >> 1)

#define IS_FILL(w) ((sword_t)(w) < 0)

// all_of repeats the highest bit of w.
static inline word_t all_of(word_t w) { return (word_t)((sword_t)w >> (WORD_BITS - 1)); }

// group_of returns the rows of a group that word w stands for. The highest bit is 0 in
// literals and any in fills.
static inline word_t group_of(word_t w) { return IS_FILL(w) ? all_of(w << 1) : w; }

// valid_rows is the mask of the rows of group g of a table of so many.
static inline word_t valid_rows(uint g, uint rows) {
    ulong first = (ulong)g * GROUP_BITS;
    if (first + GROUP_BITS <= rows)
        return GROUP_ONES;
    return first < rows ? ((word_t)1 << (rows - (uint)first)) - 1 : 0;
}

#endif
