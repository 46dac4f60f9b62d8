package ranktest

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"heddle/codec"
	"heddle/engine/plan"
	"heddle/engine/plan/plantest"
	"heddle/hostfallback"
)

// FuzzRank ranks random batches, some of them invalid, over sound lists in pure Go.
func FuzzRank(f *testing.F) {
	b := hostfallback.New(hostfallback.Options{Threads: 2})
	defer b.Close()
	su := suite{
		Suite:        &plantest.Suite{Options: plantest.Options{Small: true, Codecs: codec.IDs()}},
		accumulators: []plan.Accumulators{plan.AutoAccumulators, plan.GlobalAccumulators},
	}
	for i := range uint64(8) { // the source of the draws of rapid
		data, r := make([]byte, 4096), rand.New(rand.NewPCG(i, 0))
		for j := range data {
			data[j] = byte(r.Uint32())
		}
		f.Add(data)
	}
	f.Fuzz(rapid.MakeFuzz(func(rt *rapid.T) { su.randomBatch(rt, b) }))
}

// FuzzRankWords ranks over lists and frequencies of arbitrary words. The backend may
// return an error or any answer within bounds.
func FuzzRankWords(f *testing.F) {
	b := hostfallback.New(hostfallback.Options{Threads: 2})
	defer b.Close()
	sound := func(id codec.ID, docs []uint32) (data []byte) {
		words, err := codec.Append(nil, id, docs, codec.DefaultOptions())
		if err != nil {
			f.Fatal(err)
		}
		for _, w := range words {
			data = binary.LittleEndian.AppendUint32(data, w)
		}
		return data
	}
	freqs := make([]byte, 64)
	for _, id := range codec.IDs() {
		f.Add(uint32(1000), uint8(id), uint32(3), sound(id, []uint32{1, 500, 999}), freqs, false)
		f.Add(uint32(600), uint8(id), uint32(3), sound(id, []uint32{1, 500, 999}), freqs, true)
	}
	f.Add(uint32(3), uint8(codec.Raw), uint32(4), []byte{}, []byte{1}, false)
	f.Fuzz(func(t *testing.T, docs uint32, id uint8, n uint32, words, freqs []byte, impacts bool) {
		docs %= 1 << 16
		src := plan.Source{Docs: docs, Freqs: wordsOf(freqs)}
		if impacts {
			src.Impacts = 8
		} else {
			src.Lengths = make([]uint32, docs)
		}
		w := wordsOf(words)
		for len(w)%plan.ListAlign != 0 {
			w = append(w, 0)
		}
		other := plan.List{Off: uint64(len(w)), Codec: codec.Raw}
		if docs > 0 {
			src.Words, other.Words, other.Len = append(w, docs-1), 1, 1
		} else {
			src.Words = w
		}
		damaged := plan.List{Words: uint32(len(words) / 4), Len: n, Codec: codec.ID(id), FreqWords: uint32(len(src.Freqs))}
		other.FreqOff, other.FreqWords = uint64(len(src.Freqs)), 2*other.Len // one segment of width 0
		src.Freqs = append(src.Freqs, make([]uint32, other.FreqWords)...)
		src.Lists = []plan.List{damaged, other}
		if src.Validate() != nil {
			return
		}
		st, err := b.Load(t.Context(), &src)
		if err != nil {
			return
		}
		defer st.Close()
		var out plan.TopK
		for _, mode := range []plan.Mode{plan.Or, plan.And} {
			for _, a := range []plan.Accumulators{plan.AutoAccumulators, plan.GlobalAccumulators} {
				q := plan.RankBatch{Mode: mode, Accumulators: a, K: 3, Norm: plan.NewNorm(0.9, 0.4, 1)}
				q.Norm.Impacts = src.Impacts
				q.Add(&src, plan.Term{List: 0, Weight: 1 << 31})
				q.Add(&src, plan.Term{List: 0, Weight: 1 << 31}, plan.Term{List: 1, Weight: 1})
				q.Add(&src, plan.Term{List: 1, Weight: 5})
				if err := st.Rank(t.Context(), &q, &out); err != nil {
					continue
				}
				if err := bounded(&q, &src, &out); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

func wordsOf(data []byte) []uint32 {
	words := make([]uint32, len(data)/4)
	for i := range words {
		words[i] = binary.LittleEndian.Uint32(data[4*i:])
	}
	return words
}
