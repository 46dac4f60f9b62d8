// Helpers of kernels that add up over a work-group and over work-groups: no
// kernel of its own.
//
// Look-back (Merrill and Garland 2016, "Single-pass parallel prefix scan with
// decoupled look-back"): tiles are numbered by an atomic ticket in the order in
// which their groups start; each publishes its sum, then reads the sums of the tiles
// before it back to the nearest one that knows its prefix. A group waits only for
// groups that have started, so it ends wherever a started group goes on; the host
// takes it only where the kernel `progress` has shown that (tuning field
// look_back). Waiting is bounded all the same: a group that gives up says so in
// the state; the host then repeats a scan in the plain form, and takes a merge for
// a failure of the device, so that the next backend answers.
//
// State     words, zero when made: 0 the next ticket, 1 whether a group gave up,
//           from STATE_TILES on two words a tile. Each holds an epoch (bits 18-31),
//           a status (16-17) and half of the value (0-15), so that each word says
//           by itself whether it is valid: no fence orders them, no 64-bit atomic is
//           needed, and words of earlier launches count as not yet written. The
//           host passes another epoch at every launch and clears the state before
//           one comes again; it knows the ticket that comes first.
#ifndef HEDDLE_GROUP
#define HEDDLE_GROUP

#ifndef NV_SHUFFLE
#define NV_SHUFFLE 0 // 1: warp shuffles and votes in inline PTX (NVIDIA only)
#endif

#define STATE_TICKET 0
#define STATE_FAILED 1
#define STATE_TILES 4
#define TILE_SUM 1u    // the sum of the tile alone
#define TILE_PREFIX 2u // the sum of all tiles up to it
#define WINDOW 32      // tiles looked at together
#define PATIENCE (1 << 22) // times a tile is asked before its group gives up

typedef volatile __global uint *state_t;

// PUBLISH writes a word for other groups of the launch, ASK reads one. FENCE orders these accesses of a
// work-item for all groups.
#ifndef PLAIN_WORDS // tools that check kernels choose one form
#define PLAIN_WORDS (NV_SHUFFLE || SCAN_SERIAL)
#endif
#if PLAIN_WORDS
#define PUBLISH(p, v) (*(p) = (v)) // volatile accesses go to L2 on NVIDIA; caches of CPUs agree
#define ASK(p) (*(p))
#else
#define PUBLISH(p, v) atomic_xchg(p, v)
#define ASK(p) atomic_or(p, 0u)
#endif
#if NV_SHUFFLE
#define FENCE asm volatile("membar.gl;" ::: "memory")
#elif __AMDGCN__
#define FENCE __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent") // mem_fence is for the own group
#else
#define FENCE mem_fence(CLK_GLOBAL_MEM_FENCE)
#endif
#if SCAN_SERIAL
#define GROUP_SYNC
#else
#define GROUP_SYNC barrier(CLK_LOCAL_MEM_FENCE)
#endif

// group_last tells whether the group is the last one of n that come to a counter, which is 0 before.
// It may ask for all words that groups published before they came. No group waits for another one. All
// work-items call it; `box` may be written again behind the next barrier.
static inline bool group_last(state_t counter, uint n, __local uint *box) {
#if !NV_SHUFFLE // on NVIDIA, the fence of one work-item is for all that the group did before a barrier
    FENCE;
#endif
    GROUP_SYNC;
    if (get_local_id(0) == 0) {
        FENCE;
        *box = atomic_inc(counter) + 1 == n;
        FENCE;
    }
    GROUP_SYNC;
    return *box;
}

#if NV_SHUFFLE
static inline uint shuffle_up(uint v, uint d) {
    uint o;
    asm volatile("shfl.sync.up.b32 %0, %1, %2, 0, 0xffffffff;" : "=r"(o) : "r"(v), "r"(d));
    return o;
}

static inline uint shuffle_xor(uint v, uint d) {
    uint o;
    asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 0x1f, 0xffffffff;" : "=r"(o) : "r"(v), "r"(d));
    return o;
}
#endif

// group_scan gives the prefix sums of s up to each work-item of a group of wg,
// member by member, and in *total the sums over the group. Of `sums` it uses wg
// members, wg/32 with NV_SHUFFLE. All work-items call it; it has barriers, and
// `sums` may be written again behind the next one.
static inline uint4 group_scan(uint4 s, uint wg, __local uint4 *sums, uint4 *total) {
    uint lid = get_local_id(0);
#if NV_SHUFFLE
    uint lane = lid % 32, warp = lid / 32;
    for (uint d = 1; d < 32; d *= 2) {
        uint4 o = (uint4)(shuffle_up(s.x, d), shuffle_up(s.y, d), shuffle_up(s.z, d), shuffle_up(s.w, d));
        if (lane >= d)
            s += o;
    }
    if (lane == 31)
        sums[warp] = s;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint4 before = 0, all = 0;
    for (uint w = 0; w < wg / 32; w++) {
        uint4 v = sums[w];
        before += w < warp ? v : (uint4)0;
        all += v;
    }
    *total = all;
    return s + before;
#else
    for (uint d = 1; d < wg; d *= 2) {
        sums[lid] = s;
        barrier(CLK_LOCAL_MEM_FENCE);
        uint4 o = lid >= d ? sums[lid - d] : (uint4)0;
        barrier(CLK_LOCAL_MEM_FENCE);
        s += o;
    }
    if (lid == wg - 1)
        sums[0] = s;
    barrier(CLK_LOCAL_MEM_FENCE);
    *total = sums[0];
    return s;
#endif
}

// group_total adds up s over the work-items of a group of wg, a power of two. Of `sums` it uses as
// many members as group_scan. All work-items call it; it has barriers, and `sums` may be
// written again behind the next one.
static inline uint4 group_total(uint4 s, uint wg, __local uint4 *sums) {
    uint lid = get_local_id(0);
#if NV_SHUFFLE
    for (uint d = 16; d; d /= 2)
        s += (uint4)(shuffle_xor(s.x, d), shuffle_xor(s.y, d), shuffle_xor(s.z, d), shuffle_xor(s.w, d));
    if (lid % 32 == 0)
        sums[lid / 32] = s;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint4 all = 0;
    for (uint w = 0; w < wg / 32; w++)
        all += sums[w];
    return all;
#else
    sums[lid] = s;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint d = wg / 2; d; d /= 2) {
        if (lid < d)
            sums[lid] += sums[lid + d];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    return sums[0];
#endif
}

// rows_before turns the totals of four rows into the sums before each.
static inline uint4 rows_before(uint4 t) { return (uint4)(0, t.x, t.x + t.y, t.x + t.y + t.z); }

static inline uint sum4(uint4 v) { return v.x + v.y + v.z + v.w; }

// group_ticket numbers the tile of a group. All work-items call it.
static inline uint group_ticket(state_t state, uint first, __local uint *box) {
    if (get_local_id(0) == 0)
        box[0] = atomic_inc(state + STATE_TICKET) - first;
    barrier(CLK_LOCAL_MEM_FENCE);
    return box[0];
}

static inline void publish(state_t state, uint epoch, uint t, uint status, uint v) {
    uint tag = epoch << 18 | status << 16;
    atomic_xchg(state + STATE_TILES + 2 * (size_t)t, tag | (v & 0xffff));
    atomic_xchg(state + STATE_TILES + 2 * (size_t)t + 1, tag | v >> 16);
}

// ask returns the status of tile t, 0 where there is none yet, and its value. The
// halves belong together when both bear the same tag: a tag comes once an epoch.
static inline uint ask(state_t state, uint epoch, uint t, uint *v) {
    state_t p = state + STATE_TILES + 2 * (size_t)t;
    uint lo = ASK(p), hi = ASK(p + 1);
    *v = (lo & 0xffff) | hi << 16;
    return lo >> 16 == hi >> 16 && lo >> 18 == epoch ? lo >> 16 & 3 : 0;
}

// wait_for asks until tile t has a status; where it gives up, it says so and
// returns a value that lets the group end.
static inline uint wait_for(state_t state, uint epoch, uint t, uint *v) {
    uint status = 0;
    for (uint i = 0; !status && i < PATIENCE; i++)
        status = ask(state, epoch, t, v);
    if (status)
        return status;
    atomic_or(state + STATE_FAILED, 1u);
    *v = 0;
    return TILE_PREFIX;
}

// group_publish tells the others the sum of tile t.
static inline void group_publish(state_t state, uint epoch, uint t, uint sum) {
    if (get_local_id(0) == 0)
        publish(state, epoch, t, t ? TILE_SUM : TILE_PREFIX, sum);
}

// group_before returns the sum of the tiles before tile t, whose own sum has been
// published. Of `box` it uses 2*WINDOW words. All work-items of the group call it,
// t is the same for all of them; it has barriers where t > 0, and `box` may be
// written again behind the next one.
static inline uint group_before(state_t state, uint epoch, uint t, uint sum, __local uint *box) {
    uint lid = get_local_id(0), before = 0;
    if (t == 0)
        return 0;
#if NV_SHUFFLE
    if (lid < 32) {
        uint known = 0;
        for (uint end = t; !known; end -= WINDOW) {
            uint v = 0, status = TILE_PREFIX; // in front of the first tile
            if (lid < end)
                status = wait_for(state, epoch, end - 1 - lid, &v);
            uint nearest = status == TILE_PREFIX ? lid : WINDOW;
            for (uint d = 16; d; d /= 2)
                nearest = min(nearest, shuffle_xor(nearest, d));
            v = lid <= nearest ? v : 0;
            for (uint d = 16; d; d /= 2)
                v += shuffle_xor(v, d);
            before += v;
            known = nearest < WINDOW; // so it is before end gets below WINDOW
        }
        if (lid == 0) {
            publish(state, epoch, t, TILE_PREFIX, before + sum);
            box[0] = before;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return box[0];
#else
    bool known = false;
    for (uint end = t; !known; end -= WINDOW) {
        if (lid < WINDOW) {
            uint v = 0, status = TILE_PREFIX;
            if (lid < end)
                status = wait_for(state, epoch, end - 1 - lid, &v);
            box[2 * lid] = v;
            box[2 * lid + 1] = status;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint i = 0; i < WINDOW && !known; i++) {
            before += box[2 * i];
            known = box[2 * i + 1] == TILE_PREFIX;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lid == 0)
        publish(state, epoch, t, TILE_PREFIX, before + sum);
    return before;
#endif
}

#endif
