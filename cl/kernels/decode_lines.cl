// decode_lines: lists under regression lines to docIDs.
//
// Computes  out[4*to + i] = docID number first+i of a list of lrc, lrcseg, seglrc
//           or hslrc, for the elements of a run; runs of other codecs are left
//           alone. Up to three words behind the elements are undefined.
// Source    Ao et al. 2011, section 5.2 and 5.3: no docID depends on another one,
//           so there is no scan.
// Phases    SCAN_LOCAL: ROWS times four elements a work-item: (1) lines of all
//           rows, (2) residuals, (3) 16-byte stores. Elements that share a line
//           and 16 bytes of output share loads; where a bucket ends between them,
//           the rest are found one by one.
//           SCAN_SERIAL: one work-item a run, line by line.
// Batch     one upload; runs begin at uint4 runs_at.
// Launch    one group of DECODE_WG work-items a run (SCAN_SERIAL: of one).
// Local     none, and no barrier.
// Bounds    see lines.cl; stores are clamped to the run.
#ifndef HEDDLE_LINES
#include "lines.cl"
#endif

static inline bool is_line(uint codec) { return codec >= CODEC_LRC && codec <= CODEC_HSLRC256; }

#if SCAN_SERIAL

__kernel void decode_lines(ARENA, __global const uint4 *runs, uint runs_at, __global uint *restrict out) {
    uint4 r = runs[runs_at + 2 * get_global_id(0)], run = runs[runs_at + 2 * get_global_id(0) + 1];
    words_t p = list_words(ARENA_ARGS, r);
    __global uint *dst = out + (size_t)run.z * 4 - run.x;
    uint codec = r.w & 0xff, i = run.x, end = run.x + run.y;
    if (!is_line(codec))
        return; // there is no barrier to miss
    uint buckets = codec >= CODEC_HSLRC128 ? line_buckets(p, r) : 1;
    if (buckets == 0)
        return; // no encoder wrote this
    uint k = codec >= CODEC_HSLRC128 ? bucket_of(p, 0, buckets, i) : 0;
    while (i < end) {
        uint stop = end;
        if (codec >= CODEC_HSLRC128) {
            while (k + 1 < buckets && bucket_start(p, k + 1) <= i)
                k++;
            if (k + 1 < buckets) // above i, also when this is the last
                stop = min(stop, bucket_start(p, k + 1));
        } else if (codec != CODEC_LRC) {
            stop = min(stop, (i / LINE_SEGMENT + 1) * LINE_SEGMENT);
        }
        line_t l = line_of(p, r, i, k);
        for (uint bit = l.bit; i < stop; i++, bit += l.b) {
            dst[i] = l.base + (uint)(l.at >> l.shift) + bits_at(p, r.z, l.word, bit, l.b);
            l.at += l.slope;
        }
    }
}

#else // SCAN_LOCAL

// across gives elements i to i+3, of which the first lies in bucket k, one by one.
static inline uint4 across(words_t p, uint4 r, uint buckets, uint k, uint i) {
    uint d[4];
    for (uint j = 0; j < 4; j++) {
        uint e = min(i + j, r.y - 1);
        while (k + 1 < buckets && bucket_start(p, k + 1) <= e)
            k++;
        line_t l = line_of(p, r, e, k);
        d[j] = l.base + (uint)(l.at >> l.shift) + bits_at(p, r.z, l.word, l.bit, l.b);
    }
    return (uint4)(d[0], d[1], d[2], d[3]);
}

// decode_buckets does the rows of a work-item of hslrc.
static inline void decode_buckets(words_t p, uint4 r, uint4 run, __global uint4 *dst) {
    uint lid = get_local_id(0), buckets = line_buckets(p, r);
    if (buckets == 0)
        return; // no encoder wrote this
    uint first = bucket_of(p, 0, buckets, run.x); // bucket where the run begins; the same for all work-items
    uint behind = min(bucket_of(p, first, buckets, run.x + run.y - 1) + 1, buckets);
    for (uint k = lid; 4 * k < run.y; k += DECODE_WG) {
        uint i = run.x + 4 * k, b = bucket_of(p, first, behind, i);
        uint end = b + 1 < buckets ? bucket_start(p, b + 1) : r.y;
        if (end > i && (end - i >= 4 || end == r.y)) {
            line_t l = line_of(p, r, i, b);
            dst[k] = along(l) + wide4(window(p, l.word, l.bit, l.b, false), l.b);
        } else {
            dst[k] = across(p, r, buckets, b, i);
        }
    }
}

__attribute__((reqd_work_group_size(DECODE_WG, 1, 1)))
__kernel void decode_lines(ARENA, __global const uint4 *runs, uint runs_at, __global uint *restrict out) {
    uint4 r = runs[runs_at + 2 * GROUP_ID(0)], run = runs[runs_at + 2 * GROUP_ID(0) + 1];
    words_t p = list_words(ARENA_ARGS, r);
    __global uint4 *dst = (__global uint4 *)(out + (size_t)run.z * 4);
    uint lid = get_local_id(0), codec = r.w & 0xff; // the same for the whole group
    if (codec >= CODEC_HSLRC128 && codec <= CODEC_HSLRC256) {
        decode_buckets(p, r, run, dst);
        return;
    }
    if (!is_line(codec))
        return;
    line_t l[ROWS];
    uint4 v[ROWS];
#define LINE_ROW(k) l[k] = line_of(p, r, run.x + min(4 * (lid + k * DECODE_WG), run.y - 1), 0);
    FOUR(LINE_ROW)
    if (max(max(l[0].b, l[1].b), max(l[2].b, l[3].b)) <= 8) {
        // All loads of all rows first: they need not wait for each other.
        window_t w[ROWS];
#define NARROW_LINE_LOAD(k) w[k] = window(p, l[k].word, l[k].bit, l[k].b, true);
#define NARROW_LINE(k) v[k] = narrow4(w[k], l[k].b);
        FOUR(NARROW_LINE_LOAD)
        FOUR(NARROW_LINE)
    } else {
#define WIDE_LINE(k) v[k] = wide4(window(p, l[k].word, l[k].bit, l[k].b, false), l[k].b);
        FOUR(WIDE_LINE)
    }
#define STORE_LINE(k)                                                                                  \
    if (4 * (lid + k * DECODE_WG) < run.y) dst[lid + k * DECODE_WG] = v[k] + along(l[k]);
    FOUR(STORE_LINE)
}

#endif
