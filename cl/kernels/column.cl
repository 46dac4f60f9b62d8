// column: the codes that the rows of a table have in a column, and the bins of codes. Helpers of facet.cl
// and measure.cl, no kernel of its own.
//
// Batch     four uint4 a column: {offset of its packed values in units of four words, words, arena buffer,
//           top: the greatest code or bin}, {own: a number for the kernel, the rows without a value as
//           bits: where they begin in units of four words of the buffer of filters, words of them, where
//           the bounds begin in pairs of words of the batch}, {the same of the upper halves of values:
//           offset, words, buffer; no words: all are 0; flags for the kernel}, {last code: lower and upper
//           half, bounds: their number, 1 with bounds}. Bounds are codes, ascending. A column that measure.cl sums
//           has the halves of a factor in the last two.
// Bounds    any packed values: see packed_at.
#ifndef HEDDLE_COLUMN
#define HEDDLE_COLUMN
#ifndef HEDDLE_POSTING
#include "posting.cl"
#endif

typedef struct {
    uint4 low, high; // packed values: place, words, buffer; top, flags
    uint own, absent_at, absent_words, bounds_at;
    ulong last;
    uint bounds, binned;
} column_t;

// column_of takes the four parts of a column.
static inline column_t column_of(uint4 low, uint4 more, uint4 high, uint4 limit) {
    column_t c = {low, high, more.x, more.y, more.z, more.w, (ulong)limit.y << 32 | limit.x, limit.z, limit.w};
    return c;
}

// has_value gives the stored code of a row, unless the row has no value.
static inline bool has_value(__global const uint *filters, column_t c, uint row, ulong *code, ARENA, uint row_count) {
    if (c.absent_words && passes(filters, c.absent_at, c.absent_words, row))
        return false;
    *code = packed_at(arena_at(ARENA_ARGS, c.low.z, c.low.x), c.low.y, row_count, row);
    if (c.high.y)
        *code |= (ulong)packed_at(arena_at(ARENA_ARGS, c.high.z, c.high.x), c.high.y, row_count, row) << 32;
    return true;
}

// number_of is 1 more than a code, or than its bin: the number of bounds that are not above it. It is
// 2 more than the greatest one for a code above the last one.
static inline uint number_of(__global const uint4 *batch, column_t c, ulong code) {
    if (code > c.last)
        return c.low.w + 2;
    if (!c.binned)
        return (uint)code + 1;
    __global const ulong *bounds = (__global const ulong *)batch + c.bounds_at;
    uint lo = 0, hi = c.bounds;
    while (lo < hi) {
        uint mid = lo + (hi - lo) / 2;
        if (bounds[mid] <= code)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo + 1;
}
#endif
