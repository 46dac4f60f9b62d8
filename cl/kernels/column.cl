// column: the codes that the rows of a table have in a column, and the bins of codes. Helpers of facet.cl,
// measure.cl, groups.cl and totals.cl, no kernel of its own.
//
// Batch     three uint4 a column: {its number, own: a number for the kernel, top: the greatest code or bin, flags},
//           {where the bounds begin in pairs of words of the batch, bounds, 0, 0}, {last code, factor: lower and upper
//           halves}. Bounds are codes, ascending. measure.cl sums codes times the factor.
// Tiles     as in slices.cl.
#ifndef HEDDLE_COLUMN
#define HEDDLE_COLUMN
#ifndef HEDDLE_SLICE
#include "slice.cl"
#endif

// Flags of a column.
#define COLUMN_VALUES 1 // measure.cl: count the rows with a value
#define COLUMN_SUM 2    // measure.cl: sum codes
#define COLUMN_BINS 4   // codes are the bins of stored ones
#define COLUMN_ENDS 8   // totals.cl: find the least and the greatest code
#define COLUMN_LEAST 32 // measure.cl: find the least code of each group
#define COLUMN_GREATEST 64
#define COLUMN_LOWER 128 // sum the lower halves of codes alone
#define COLUMN_UPPER 256

typedef struct {
    uint number, own, top, flags, bounds_at, bounds;
    ulong last, factor;
} column_t;

// column_of takes the three parts of a column.
static inline column_t column_of(uint4 a, uint4 b, uint4 c) {
    column_t x = {a.x, a.y, a.z, a.w, b.x, b.y, (ulong)c.y << 32 | c.x, (ulong)c.w << 32 | c.z};
    return x;
}

static inline slices_t slices_of(BUFFERS, __global const uint4 *tiles, uint tile_count, column_t c, uint w) {
    return slices_at(BUFFER_ARGS, tiles, c.number * tile_count + w / SLICE_WORDS);
}

// with_value returns the rows of a set that have a value, of the 32 rows of word w of the table.
static inline uint with_value(slices_t t, uint w, uint set) {
    return first_bit(t) ? set & slice_word(t, 0, w % SLICE_WORDS) : set;
}

// number_of is 1 more than a code, or than its bin: the number of bounds that are not above it. It is
// 2 more than the greatest one for a code above the last one.
static inline uint number_of(__global const uint4 *batch, column_t c, ulong code) {
    if (code > c.last)
        return c.top + 2;
    if (!(c.flags & COLUMN_BINS))
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

// sum_all adds to a sum in global memory whose halves are so many cells apart.
static inline void sum_all(volatile __global uint *cell, uint apart, ulong n) {
    uint low = (uint)n, old = atomic_add(cell, low), high = (uint)(n >> 32) + (old + low < old);
    if (high)
        atomic_add(cell + apart, high);
}
#endif
