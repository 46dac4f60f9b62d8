// prepare, copy_raw, starts, tf_components: the lists of ranked queries, each once a round,
// to docIDs and term-frequency components in scratch, and the start of each range of
// documents in them.
//
// Computes  prepare: runs of decode.cl of all lists, at `runs`, and zeros in the
//           `clear` words of `state`.
//           copy_raw: the decoder of raw lists.
//           starts: of each list starts[at + j], the first element that is not below
//           document first_doc + j * 2^bits, for j from 0 to `ranges`.
//           tf_components: of the elements of a run components[4*to + i].
// Source    Ding et al. 2009, section 8; plan.Norm.
// Batch     see posting.cl. A run's last word is the number of its list.
// Phases    starts: a binary search each; neighbours share most of their way.
//           tf_components: segment by segment, four elements a work-item: docIDs, lengths,
//           frequencies in place, exceptions through local memory, components.
//           SCAN_SERIAL: one work-item a run, element by element.
// Launch    prepare, starts: any; copy_raw, tf_components: a group of DECODE_WG a run
//           (SCAN_SERIAL: of one).
// Local     4*DECODE_WG words.
// Bounds    any words: loads are clamped to the lists; docIDs that are not below
//           doc_count are taken for the last one. Starts lie in the list.
#ifndef HEDDLE_POSTING
#include "posting.cl"
#endif

#if SCAN_SERIAL
#define RUN_GROUP
#else
#define RUN_GROUP __attribute__((reqd_work_group_size(DECODE_WG, 1, 1)))
#endif

__kernel void prepare(__global const uint4 *batch, __global uint4 *runs, __global uint *state, uint lists, uint all,
                      uint clear) {
    uint g = get_global_id(0);
    if (g < clear)
        state[g] = 0;
    if (g >= all)
        return;
    uint lo = 0, hi = lists; // the first list whose runs begin behind g
    while (lo < hi) {
        uint mid = (lo + hi) / 2;
        if (batch[LIST_RECORD(mid) + 1].w <= g) lo = mid + 1; else hi = mid;
    }
    uint l = max(lo, 1u) - 1, done;
    uint4 part = batch[LIST_RECORD(l) + 1];
    done = (g - part.w) * RUN;
    runs[2 * g] = batch[LIST_RECORD(l)];
    runs[2 * g + 1] = (uint4)(part.x + done, min(part.y - done, (uint)RUN), part.z + done / 4, l);
}

RUN_GROUP
__kernel void copy_raw(ARENA, __global const uint4 *runs, uint runs_at, __global uint *restrict out) {
    uint4 r = runs[runs_at + 2 * GROUP_ID(0)], run = runs[runs_at + 2 * GROUP_ID(0) + 1];
    words_t p = list_words(ARENA_ARGS, r);
    for (uint i = get_local_id(0); i < run.y; i += get_local_size(0))
        out[(size_t)run.z * 4 + i] = p[min(run.x + i, r.z - 1)];
}

__kernel void starts(__global const uint4 *batch, __global const uint *docs, __global uint *out, uint lists,
                     uint first_doc, uint bits, uint ranges) {
    uint g = get_global_id(0), l = g / (ranges + 1), j = g % (ranges + 1), loads = 0;
    if (l >= lists)
        return;
    uint4 part = batch[LIST_RECORD(l) + 1];
    ulong x = (ulong)first_doc + ((ulong)j << bits);
    out[batch[LIST_RECORD(l) + 2].z + j] =
        x >> 32 ? part.y : lower_bound(docs + (size_t)part.z * 4, 0, part.y, (uint)x, &loads);
}

#define TF_ARGUMENTS                                                                              \
    FREQUENCIES, __global const uint4 *batch, __global const uint4 *runs, __global const uint *docs, \
    __global const uint *lengths, __global uint *components, uint doc_count, uint narrow

#if SCAN_SERIAL

__kernel void tf_components(TF_ARGUMENTS) {
    uint g = get_global_id(0);
    uint4 r = runs[2 * g], run = runs[2 * g + 1], norm = batch[0], place = batch[LIST_RECORD(run.w) + 2];
    __global const uint *doc = docs + (size_t)run.z * 4;
    __global uint *out = components + (size_t)run.z * 4;
    words_t p = frequency_words(FREQUENCY_ARGS, place);
    for (uint i = 0; i < run.y; i += SEGMENT) {
        segment_t s = packed_segment(p, place.y, 0, r.y, (run.x + i) / SEGMENT);
        uint e = 0, next = s.en ? exception_index(p, place.y, s, 0) : SEGMENT;
        uint n = min(s.count, run.y - i);
        for (uint j = 0; j < n; j++) {
            uint f = bits_at(p, place.y, s.at, j * s.b, s.b);
            if (j == next) {
                f |= exception_overflow(p, place.y, s, e);
                next = ++e < s.en ? exception_index(p, place.y, s, e) : SEGMENT;
            }
            uint length = norm.w ? 0 : length_of(lengths, narrow, min(doc[i + j], doc_count - 1));
            out[i + j] = tf_of(norm, f + 1, length);
        }
    }
}

#else // SCAN_LOCAL

#define LANES (SEGMENT / 4)

// values_of returns four frequencies in place, less one, of a segment; zeros where its
// payload would leave the list.
static inline uint4 values_of(words_t p, uint4 place, uint segments, segment_t x, uint lane) {
    uint room = place.y - 2 * segments, off = x.at - 2 * segments;
    bool inside = off <= room && (x.count * x.b + 31) / 32 <= room - off;
    if (!inside || x.b == 0 || 4 * lane >= x.count)
        return 0;
    window_t w = window(p, x.at, 4 * lane * x.b, x.b, x.b <= 8);
    return x.b <= 8 ? narrow4(w, x.b) : wide4(w, x.b);
}

// segment_sync orders local memory among the work-items of one segment.
static inline void segment_sync(void) {
#if NV_SHUFFLE
    asm volatile("bar.warp.sync 0xffffffff;" ::: "memory");
#else
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
}

#if NV_SHUFFLE
#define MAY_SKIP(n) ((n) == 0) // the same for all work-items of a segment, which are a warp
#else
#define MAY_SKIP(n) false // barriers are the whole group's
#endif

// Segments are not unrolled: many work-items hide more of the loads' time than many
// loads of each.
RUN_GROUP
__kernel void tf_components(TF_ARGUMENTS) {
    __local uint exceptions[DECODE_WG * 4];
    uint lid = get_local_id(0), lane = lid % LANES, g = GROUP_ID(0);
    uint4 r = runs[2 * g], run = runs[2 * g + 1], norm = batch[0], place = batch[LIST_RECORD(run.w) + 2];
    words_t p = frequency_words(FREQUENCY_ARGS, place);
    uint first = run.x / SEGMENT, segments = SEGMENTS(r.y), here = SEGMENTS(run.y);
    __local uint *overflow = exceptions + lid / LANES * SEGMENT;
    #pragma unroll 1
    for (uint b = 0; b < here; b += DECODE_WG / LANES) {
        uint s = b + lid / LANES, i = s * LANES + lane;
        uint left = run.y > 4 * i ? run.y - 4 * i : 0; // behind the elements nothing is written
        uint4 d = 0, n = 0, v = 0;
        if (left)
            d = vload4(run.z + i, docs);
        if (left < 2) d.y = d.x;
        if (left < 3) d.z = d.y;
        if (left < 4) d.w = d.z;
        d = min(d, (uint4)(doc_count - 1)); // Oclgrind 21.10 takes a scalar for the first part alone
        if (!norm.w)
            n = (uint4)(length_of(lengths, narrow, d.x), length_of(lengths, narrow, d.y),
                        length_of(lengths, narrow, d.z), length_of(lengths, narrow, d.w));
        segment_t x = packed_segment(p, place.y, 0, r.y, first + min(s, here - 1));
        if (left)
            v = values_of(p, place, segments, x, lane);
        if (!MAY_SKIP(x.en)) {
            vstore4((uint4)0, lane, overflow);
            segment_sync();
            for (uint e = lane; e < x.en; e += LANES)
                overflow[exception_index(p, place.y, x, e)] = exception_overflow(p, place.y, x, e);
            segment_sync();
            v |= vload4(lane, overflow);
        }
        if (left)
            vstore4((uint4)(tf_of(norm, v.x + 1, n.x), tf_of(norm, v.y + 1, n.y),
                            tf_of(norm, v.z + 1, n.z), tf_of(norm, v.w + 1, n.w)), run.z + i, components);
    }
}

#endif
