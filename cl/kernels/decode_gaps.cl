// decode_vbyte, decode_rice, decode_pfd, decode_newpfd, decode_rpfd: lists of the
// gap codecs to docIDs.
//
// Computes  out[4*to + i] = docID number first+i of a list of the kernel's codec,
//           for the elements of a run; runs of other codecs are left alone. The
//           words behind the elements, up to whole segments, are undefined.
//           With DECODE_GAPS see decode.cl.
// Source    Ding et al. 2009, section 6, Ao et al. 2011, section 5.1; the prefix
//           sum of gaps over one segment.
// Phases    SCAN_LOCAL: segment by segment: gaps (segments.cl, segments_rpfd.cl),
//           prefix sum, 16-byte stores. A codec has a kernel of its own, so that
//           none takes the registers and local memory of another.
//           SCAN_SERIAL: one work-item a run, no barrier.
// Batch     one upload; runs begin at uint4 runs_at.
// Launch    DECODE_WG/LANES groups of LANES work-items a run, group g taking every
//           (DECODE_WG/LANES)-th segment of run g/(DECODE_WG/LANES) (SCAN_SERIAL:
//           a group of one).
// Local     LANE_WORDS words, RPFD_WORDS+LANES for rpfd (SCAN_SERIAL: none).
// Bounds    see gaps.cl; stores are clamped to the segments of the run.
#ifndef HEDDLE_COMMON
#include "common.cl"
#endif
#if SCAN_SERIAL && !defined HEDDLE_SEGMENTS
#include "segments_serial.cl"
#endif
#if !SCAN_SERIAL && !defined HEDDLE_RPFD
#include "segments_rpfd.cl"
#endif

#define RUNS ARENA, __global const uint4 *runs, uint runs_at, __global uint *restrict out
#define RUN_ARGS ARENA_ARGS, runs, runs_at, out

#if SCAN_SERIAL

static inline void decode_run(RUNS, uint codec) {
    uint4 r = runs[runs_at + 2 * get_global_id(0)], x = runs[runs_at + 2 * get_global_id(0) + 1];
    words_t p = list_words(ARENA_ARGS, r);
    __global uint *dst = out + (size_t)x.z * 4;
    if ((r.w & 0xff) != codec)
        return; // there is no barrier to miss
    uint docs[SEGMENT];
    for (uint i = 0; i < x.y; i += SEGMENT) {
        uint n = segment_docs(p, r, (x.x + i) / SEGMENT, docs);
        for (uint j = 0; j < n; j++)
            dst[i + j] = docs[j];
    }
}

__kernel void decode_vbyte(RUNS) { decode_run(RUN_ARGS, CODEC_VBYTE); }
__kernel void decode_rice(RUNS) { decode_run(RUN_ARGS, CODEC_RICE); }
__kernel void decode_pfd(RUNS) { decode_run(RUN_ARGS, CODEC_PFD); }
__kernel void decode_newpfd(RUNS) { decode_run(RUN_ARGS, CODEC_NEWPFD); }
__kernel void decode_rpfd(RUNS) { decode_run(RUN_ARGS, CODEC_RPFD); }

#else // SCAN_LOCAL

#define SPLIT (DECODE_WG / LANES) // groups of a run

// DECODE_RUN is the body of a kernel that decodes the segments of a run by `gaps`,
// with so many words of local memory. It is no function, for a function that takes
// another as an argument there is not.
#define DECODE_RUN(codec, gaps, local_words)                                                    \
    {                                                                                           \
        __local uint work[local_words];                                                         \
        uint lane = get_local_id(0), g = GROUP_ID(0);                                       \
        uint4 r = runs[runs_at + 2 * (g / SPLIT)], run = runs[runs_at + 2 * (g / SPLIT) + 1]; \
        words_t p = list_words(ARENA_ARGS, r);                                                  \
        __global uint4 *dst = (__global uint4 *)(out + (size_t)run.z * 4);                      \
        uint first = run.x / SEGMENT, here = SEGMENTS(run.y);                                   \
        if ((r.w & 0xff) != codec || r.z < SEGMENTS(r.y))                                       \
            here = 0; /* not this kernel's, or no encoder wrote this */                         \
        for (uint s = g % SPLIT; s < here; s += SPLIT) {                                        \
            uint count = segment_count(r, first + s), base = segment_base(p, r, first + s);     \
            uint4 v = gaps(p, r, first + s, count, lane, work);                                 \
            if (DECODE_GAPS)                                                                    \
                segment_barrier(); /* before the local memory is used again */                  \
            else                                                                                \
                v = base + sums4(v + 1, lane, work);                                            \
            dst[s * LANES + lane] = v;                                                          \
        }                                                                                       \
    }

#define GROUP_OF_LANES __attribute__((reqd_work_group_size(LANES, 1, 1)))
GROUP_OF_LANES __kernel void decode_vbyte(RUNS) DECODE_RUN(CODEC_VBYTE, vbyte_lanes, LANE_WORDS)
GROUP_OF_LANES __kernel void decode_rice(RUNS) DECODE_RUN(CODEC_RICE, rice_lanes, LANE_WORDS)
GROUP_OF_LANES __kernel void decode_pfd(RUNS) DECODE_RUN(CODEC_PFD, pfd_lanes, LANE_WORDS)
GROUP_OF_LANES __kernel void decode_newpfd(RUNS) DECODE_RUN(CODEC_NEWPFD, newpfd_lanes, LANE_WORDS)
GROUP_OF_LANES __kernel void decode_rpfd(RUNS) DECODE_RUN(CODEC_RPFD, rpfd_lanes, RPFD_WORDS + LANES)

#endif
