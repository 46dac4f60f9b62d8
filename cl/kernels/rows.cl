// The tiles of scan.cl: their shape, and what a work-group does with one. No kernel
// of its own.
//
// A warp, 32 work-items in a row, has SCAN_ROWS rows of 128 elements, one behind
// the other, and a work-item four elements of each of them, so that warps need
// nothing of one another but their sums.
#ifndef HEDDLE_ROWS
#define HEDDLE_ROWS
#ifndef HEDDLE_GROUP
#include "group.cl"
#endif
#ifndef SCAN_SERIAL
#define SCAN_SERIAL 0
#endif
#ifndef SCAN_WG
#define SCAN_WG 256 // a multiple of 32, at most 1024
#endif
#ifndef SCAN_ROWS
#define SCAN_ROWS 4 // or 8: rows of four elements of a work-item
#endif
#define SCAN_TILE (4 * SCAN_ROWS * SCAN_WG)

// What is added up, the host's word for it: the elements themselves (scan), or
// how many are kept.
#define ADD_VALUES 0 // {0, 0, 0, 0}
#define ADD_RANGE 1  // {1, least, greatest - least, 0}
#define ADD_FLAGS 2  // {2, 0, 0, 0}

#if !SCAN_SERIAL

#define SCAN_WARPS (SCAN_WG / 32)
#define ROW(k) (q + 32 * (k))
#define BOX(values) (NV_SHUFFLE ? 1 : (values) * SCAN_WG) // words that warp_scan needs

// first_row is where row 0 of a work-item of tile t begins, in units of four.
static inline size_t first_row(uint t) {
    uint lid = get_local_id(0);
    return (size_t)t * (SCAN_TILE / 4) + lid / 32 * (32 * SCAN_ROWS) + lid % 32;
}

// four reads the elements at 4*q; those from n on count as 0.
static inline uint4 four(__global const uint4 *in, size_t q, uint n) {
    if (4 * q >= n)
        return 0;
    uint4 x = in[q];
    uint left = n - 4 * (uint)q;
    return (uint4)(x.x, left > 1 ? x.y : 0, left > 2 ? x.z : 0, left > 3 ? x.w : 0);
}

// read_tile reads the rows of a work-item of tile t.
static inline void read_tile(__global const uint *in, uint n, uint t, uint4 x[SCAN_ROWS]) {
    __global const uint4 *in4 = (__global const uint4 *)in;
    size_t q = first_row(t);
    if (t < n / SCAN_TILE) {
#pragma unroll
        for (uint k = 0; k < SCAN_ROWS; k++)
            x[k] = in4[ROW(k)];
    } else {
#pragma unroll
        for (uint k = 0; k < SCAN_ROWS; k++)
            x[k] = four(in4, ROW(k), n);
    }
}

// in_range has a bit for each of four elements that is in the range `what`.
static inline uint in_range(uint4 x, uint4 what) {
    uint4 d = x - what.y;
    return (d.x <= what.z) | (d.y <= what.z) << 1 | (d.z <= what.z) << 2 | (d.w <= what.z) << 3;
}

// keep_tile has a bit for each element of a work-item of tile t that is kept, four
// a row.
static inline uint keep_tile(const uint4 x[SCAN_ROWS], uint4 what, __global const uint *flags, uint n, uint t) {
    size_t q = first_row(t);
    uint m = 0;
    if (what.x == ADD_FLAGS) {
#pragma unroll
        for (uint k = 0; k < SCAN_ROWS; k++)
            if (4 * ROW(k) < n)
                m |= (flags[ROW(k) / 8] >> (ROW(k) % 8 * 4) & 15) << (4 * k);
    } else {
#pragma unroll
        for (uint k = 0; k < SCAN_ROWS; k++)
            m |= in_range(x[k], what) << (4 * k);
    }
    if (t == n / SCAN_TILE) { // the last tile, not a whole one: no bits behind n
        for (uint k = 0; k < SCAN_ROWS; k++) {
            uint left = n - min(n, 4 * (uint)ROW(k));
            m &= ~(15u << (4 * k)) | ((1u << min(left, 4u)) - 1) << (4 * k);
        }
    }
    return m;
}

// group_sum adds `own` up over the group; *before is the sum over the warps before
// that of the work-item. All work-items call it; it has barriers.
static inline uint group_sum(uint own, __local uint *warps, uint *before) {
    uint warp = get_local_id(0) / 32, all = 0;
#if NV_SHUFFLE
    for (uint d = 16; d; d /= 2)
        own += shuffle_xor(own, d);
    if (get_local_id(0) % 32 == 0)
        warps[warp] = own;
#else
    if (get_local_id(0) < SCAN_WARPS)
        warps[get_local_id(0)] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(warps + warp, own);
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
    *before = 0;
    for (uint w = 0; w < SCAN_WARPS; w++) {
        uint v = warps[w];
        *before += w < warp ? v : 0;
        all += v;
    }
    return all;
}

// warp_scan turns `values` members of each work-item into the sums of them up to it
// in its warp, and *all into those over the warp. All work-items of the group call
// it, with `values` a constant; it has barriers.
static inline void warp_scan(uint *v, uint *all, uint values, __local uint *box) {
    uint lid = get_local_id(0), lane = lid % 32;
#pragma unroll
    for (uint d = 1; d < 32; d *= 2) {
#if NV_SHUFFLE
#pragma unroll
        for (uint k = 0; k < values; k++) {
            uint o = shuffle_up(v[k], d);
            v[k] += lane >= d ? o : 0;
        }
#else
        for (uint k = 0; k < values; k++)
            box[k * SCAN_WG + lid] = v[k];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint k = 0; k < values; k++)
            v[k] += lane >= d ? box[k * SCAN_WG + lid - d] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
#endif
    }
#if NV_SHUFFLE
#pragma unroll
    for (uint k = 0; k < values; k++)
        all[k] = shuffle_from(v[k], 31);
#else
    for (uint k = 0; k < values; k++)
        box[k * SCAN_WG + lid] = v[k];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 0; k < values; k++)
        all[k] = box[k * SCAN_WG + (lid | 31)];
#endif
}

static inline uint sums_of(const uint4 x[SCAN_ROWS], uint s[SCAN_ROWS]) {
    uint sum = 0;
#pragma unroll
    for (uint k = 0; k < SCAN_ROWS; k++)
        sum += s[k] = sum4(x[k]);
    return sum;
}

// sums_before turns the sums s of a work-item's rows into the sums of all elements
// of its warp before each.
static inline void sums_before(uint s[SCAN_ROWS], __local uint *box) {
    uint upto[SCAN_ROWS], all[SCAN_ROWS], before = 0;
#pragma unroll
    for (uint k = 0; k < SCAN_ROWS; k++)
        upto[k] = s[k];
    warp_scan(upto, all, SCAN_ROWS, box);
#pragma unroll
    for (uint k = 0; k < SCAN_ROWS; k++) {
        s[k] = before + upto[k] - s[k];
        before += all[k];
    }
}

// write_scan stores the prefix sums of the rows: b before each in the warp, and
// `before` before the warp.
static inline void write_scan(__global uint *out, uint n, uint t, const uint4 x[SCAN_ROWS], const uint b[SCAN_ROWS],
                              uint before) {
    __global uint4 *out4 = (__global uint4 *)out;
    size_t q = first_row(t);
#pragma unroll
    for (uint k = 0; k < SCAN_ROWS; k++) {
        uint s = before + b[k];
        if (4 * ROW(k) < n)
            out4[ROW(k)] = (uint4)(s, s + x[k].x, s + x[k].x + x[k].y, s + x[k].x + x[k].y + x[k].z);
    }
}

// stage_kept stores the elements that are kept, bits m, in their order; `at` are
// kept before the warp. A row of a warp keeps at most 128: four counts fit a word.
static inline void stage_kept(const uint4 x[SCAN_ROWS], uint m, uint at, __local uint *box, __local uint *stage) {
    uint own[SCAN_ROWS / 4], upto[SCAN_ROWS / 4], all[SCAN_ROWS / 4];
#pragma unroll
    for (uint j = 0; j < SCAN_ROWS / 4; j++) {
        uint h = m >> (16 * j);
        upto[j] = own[j] = popcount(h & 15) | popcount(h & 0xf0) << 8 | popcount(h & 0xf00) << 16 | popcount(h & 0xf000) << 24;
    }
    warp_scan(upto, all, SCAN_ROWS / 4, box);
#pragma unroll
    for (uint k = 0; k < SCAN_ROWS; k++) {
        uint shift = 8 * (k % 4), bits = m >> (4 * k), to = at + ((upto[k / 4] - own[k / 4]) >> shift & 0xff);
        at += all[k / 4] >> shift & 0xff;
        if (bits & 1) stage[to++] = x[k].x;
        if (bits & 2) stage[to++] = x[k].y;
        if (bits & 4) stage[to++] = x[k].z;
        if (bits & 8) stage[to] = x[k].w;
    }
}

static inline void write_compact(__global uint *out, uint n, uint to, uint many, __local const uint *stage) {
#pragma unroll 4
    for (uint i = get_local_id(0); i < many; i += SCAN_WG)
        if (to + i < n)
            out[to + i] = stage[i];
}

#endif
#endif
