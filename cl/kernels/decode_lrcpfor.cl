// decode_lrcpfor: lists of lrcpfor to docIDs.
//
// Computes  out[4*to + i] = docID number first+i of a list of lrcpfor, for the elements
//           of a run; runs of other codecs are left alone. Up to three words behind the
//           elements are undefined.
// Source    Ao et al. 2011, section 5.2, with Algorithm 2 of appendix D for the residuals.
// Phases    SCAN_LOCAL: ROWS times four elements a work-item: (1) headers and lines of all
//           rows, (2) values in place, (3) only where a segment of the run has exceptions,
//           these through local memory, one a work-item, (4) 16-byte stores.
//           SCAN_SERIAL: one work-item a run, segment by segment, no barrier.
// Batch     one upload; runs begin at uint4 runs_at, at multiples of four elements.
// Launch    one group of DECODE_WG work-items a run (SCAN_SERIAL: of one).
// Local     RUN + LINE_SEGMENT words (SCAN_SERIAL: none).
// Bounds    see lrcpfor.cl; stores are clamped to the run.
#ifndef HEDDLE_LINES
#include "lines.cl"
#endif
#ifndef HEDDLE_LRCPFOR
#include "lrcpfor.cl"
#endif

// decodable says whether a run is one of this kernel, the same for a whole group.
static inline bool decodable(uint4 r, uint4 run) { return (r.w & 0xff) == CODEC_LRCPFOR && run.y > 0 && good_lrcpfor(r); }

#if SCAN_SERIAL

__kernel void decode_lrcpfor(ARENA, __global const uint4 *runs, uint runs_at, __global uint *restrict out) {
    uint4 r = runs[runs_at + 2 * get_global_id(0)], run = runs[runs_at + 2 * get_global_id(0) + 1];
    words_t p = list_words(ARENA_ARGS, r);
    if (!decodable(r, run))
        return; // there is no barrier to miss
    __global uint *dst = out + (size_t)run.z * 4 - run.x;
    uint stop, end = run.x + run.y;
    for (uint i = run.x; i < end; i = stop) {
        uint s = i / LINE_SEGMENT, from = s * LINE_SEGMENT;
        stop = min(end, from + LINE_SEGMENT);
        segment_t g = lrcpfor_segment(p, r, s);
        ulong slope = word64(p), at = slope * i + word64(p + 2);
        for (uint j = i; j < stop; j++, at += slope)
            dst[j] = (uint)(at >> 30) + value_in(p, g, j - from);
        for (uint e = 0; e < g.en; e++) {
            uint j = from + exception_index(p, r.z, g, e);
            if (j >= i && j < stop)
                dst[j] += exception_overflow(p, r.z, g, e);
        }
    }
}

#else // SCAN_LOCAL

__attribute__((reqd_work_group_size(DECODE_WG, 1, 1)))
__kernel void decode_lrcpfor(ARENA, __global const uint4 *runs, uint runs_at, __global uint *restrict out) {
    __local uint overflow[RUN + LINE_SEGMENT]; // of the elements from the first segment on
    uint4 r = runs[runs_at + 2 * GROUP_ID(0)], run = runs[runs_at + 2 * GROUP_ID(0) + 1];
    words_t p = list_words(ARENA_ARGS, r);
    __global uint4 *dst = (__global uint4 *)(out + (size_t)run.z * 4);
    uint lid = get_local_id(0);
    if (decodable(r, run)) {
        uint last = run.x + run.y - 1, first = run.x / LINE_SEGMENT, any = 0;
        line_t l[ROWS];
        uint4 v[ROWS];
#define SEGMENT_ROW(k)                                                                          \
    {                                                                                           \
        uint i = min(run.x + 4 * (lid + k * DECODE_WG), last), j = i % LINE_SEGMENT;            \
        segment_t g = lrcpfor_segment(p, r, i / LINE_SEGMENT);                                  \
        l[k].base = 0;                                                                          \
        l[k].shift = 30;                                                                        \
        l[k].slope = word64(p);                                                                 \
        l[k].at = l[k].slope * i + word64(p + 2);                                               \
        l[k].b = j < g.count ? g.b : 0;                                                         \
        l[k].word = g.at;                                                                       \
        l[k].bit = j * l[k].b;                                                                  \
    }
        FOUR(SEGMENT_ROW)
#define VALUES_ROW(k) v[k] = along(l[k]) + wide4(window(p, l[k].word, l[k].bit, l[k].b, false), l[k].b);
        FOUR(VALUES_ROW)
        for (uint s = first; s <= last / LINE_SEGMENT; s++)
            any |= lrcpfor_segment(p, r, s).en;
        if (any) { // the same for the whole group
            for (uint i = lid; i < RUN + LINE_SEGMENT; i += DECODE_WG)
                overflow[i] = 0;
            barrier(CLK_LOCAL_MEM_FENCE);
            for (uint s = first; s <= last / LINE_SEGMENT; s++) {
                segment_t g = lrcpfor_segment(p, r, s);
                for (uint e = lid; e < g.en; e += DECODE_WG)
                    overflow[(s - first) * LINE_SEGMENT + exception_index(p, r.z, g, e)] = exception_overflow(p, r.z, g, e);
            }
            barrier(CLK_LOCAL_MEM_FENCE);
#define EXCEPTIONS_ROW(k) v[k] += vload4(run.x % LINE_SEGMENT / 4 + lid + k * DECODE_WG, overflow);
            FOUR(EXCEPTIONS_ROW)
        }
#define STORE_ROW(k)                                                                            \
    if (4 * (lid + k * DECODE_WG) < run.y) dst[lid + k * DECODE_WG] = v[k];
        FOUR(STORE_ROW)
    }
}

#endif
