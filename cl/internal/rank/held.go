package rank

import (
	"sync"

	"heddle/cl/internal/device"
	"heddle/cl/internal/rank/packets"
	"heddle/engine/plan"
)

// patience is the number of batches in turn under another Norm after which packets change
// to it, or as many as ran under the present one if these are fewer. Until then such batches
// run without packets.
const patience = 8

// held is the packets of a ranker. Batches hold them while they use them.
type held struct {
	mu     sync.Mutex
	store  *packets.Store
	refs   int
	uses   int  // batches under the Norm
	others int  // batches in turn under another Norm
	off    bool // memory was short
	remove func()
}

// hold returns the packets under a Norm, which letGo must follow. It is nil if there are
// none.
func (r *Ranker) hold(norm plan.Norm) *packets.Store {
	h := &r.held
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.off || r.set.Cache != nil {
		return nil
	}
	if h.store != nil && h.store.Norm != norm {
		if h.others++; h.others < min(patience, h.uses) || h.refs > 0 {
			return nil
		}
		h.store.Release()
		h.store, h.uses = nil, 0
	}
	if h.others = 0; h.store == nil {
		rt, memory := r.set.Device, r.set.Memory
		h.store = packets.New(norm, r.set.Src, device.NewScratchMemory(rt, memory, &r.used, "ranking"), memory.Left()/2, rt.Info.MaxAlloc, rt.Tuning.Serial)
		if h.remove == nil {
			h.remove = memory.OnShortage(r.dropPackets)
		}
	}
	h.refs++
	h.uses++
	return h.store
}

func (r *Ranker) letGo() {
	r.held.mu.Lock()
	r.held.refs--
	r.held.mu.Unlock()
}

// dropPackets frees the packets for good, because memory is short elsewhere. It is false
// if they are in use.
func (r *Ranker) dropPackets() bool {
	h := &r.held
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.store == nil || h.refs > 0 {
		return false
	}
	h.store.Release()
	h.store, h.off = nil, true
	return true
}

// releasePackets frees the packets of a ranker without batches.
func (r *Ranker) releasePackets() {
	if r.held.remove != nil {
		r.held.remove()
	}
	r.dropPackets()
}
