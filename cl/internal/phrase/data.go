package phrase

import (
	"context"
	"fmt"
	"math"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/cl/internal/device"
	"heddle/cl/internal/lists"
)

// data is the data of phrases beside the lists.
type data struct {
	reason string // why there is none; empty: there is
	bytes  uint64
	most   int // places of a round

	words, directory, ranks      *ocl.MemObject
	wordCount, groups, rankCount int // groups: entries of the directory
}

// refuse tells why the lists have no data, whatever memory is free; empty: they may have.
func (m *Maker) refuse() string {
	switch {
	case m.set.Cache != nil:
		return "lists come and go on the device"
	case m.set.Src.Positions == nil || m.set.Src.Freqs == nil:
		return "the lists have no positions"
	}
	return ""
}

// load uploads the positions. Positions of a reason never fit; without memory it is an error.
func (m *Maker) load(ctx context.Context) (*data, error) {
	rt, src := m.set.Device, m.set.Src
	ranks, err := src.Positions.All()
	if err != nil {
		return nil, err
	}
	v := &src.Positions.Values
	d := &data{wordCount: max(len(v.Words), 1), groups: len(v.Directory) / 6, rankCount: max(len(ranks), 1)}
	all := [][]uint32{v.Words, v.Directory, ranks}
	for _, words := range all {
		n := device.PaddedBytes(len(words))
		if most := min(rt.Info.MaxAlloc, math.MaxUint32); n > most {
			return &data{reason: fmt.Sprintf("the positions take %d bytes, a buffer has at most %d", n, most)}, nil
		}
		d.bytes += n
	}
	if err := m.set.Memory.Reserve(d.bytes, "positions"); err != nil {
		return nil, err
	}
	bytes := min(rt.Info.Memory, m.set.Memory.Size(), m.set.Memory.Left()) / 16 // of the buffers of a slot
	d.most = int(max(min(bytes/(4*(1+2+foundWords)), rt.Info.MaxAlloc/(4*(foundWords+1)), 1<<24), 2*lists.RunLen))
	for i, to := range []**ocl.MemObject{&d.words, &d.directory, &d.ranks} {
		if *to, err = rt.LoadWords(ctx, all[i], "positions"); err != nil {
			d.release(m.set.Memory)
			return nil, err
		}
	}
	return d, nil
}

func (d *data) release(memory *device.Budget) {
	device.ReleaseBuffers(d.words, d.directory, d.ranks)
	memory.Unreserve(d.bytes)
}
