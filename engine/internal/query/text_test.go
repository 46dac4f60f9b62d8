package query

import (
	"cmp"
	"math"
	"math/rand/v2"
	"runtime"
	"strconv"
	"sync"
	"testing"

	"heddle/codec"
	"heddle/engine/plan"
)

// numbers is a dictionary whose terms are the numbers of their lists.
type numbers int

func (n numbers) Lookup(term string) (plan.Handle, bool) {
	h, err := strconv.Atoi(term)
	return plan.Handle(h), err == nil && h < int(n)
}

// text is a random text.
type text struct {
	docs       int
	mean       int // words of a document; 0: 100. The least has half of them.
	vocabulary int // 0: 2^17. Word r is as frequent as 1 / (r + 2).
	from, to   int // words that have lists; 0: all. The others are empty lists.
}

// zipfText makes an index with positions of a text.
func zipfText(tb testing.TB, t text) *Index {
	docs, mean, vocabulary := t.docs, cmp.Or(t.mean, 100), cmp.Or(t.vocabulary, 1<<17)
	to := cmp.Or(t.to, vocabulary)
	src := &plan.Source{Docs: uint32(docs), Lengths: make([]uint32, docs)}
	total := math.Log(float64(vocabulary)/2 + 1)
	type occurrence struct{ doc, position uint32 }
	parts := runtime.GOMAXPROCS(0)
	found := make([][][]occurrence, parts) // by part of the documents, by word
	var wg sync.WaitGroup
	for p := range parts {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(uint64(p), 7))
			words := make([][]occurrence, vocabulary)
			for d := docs * p / parts; d < docs*(p+1)/parts; d++ {
				n := mean/2 + random.IntN(mean+1)
				src.Lengths[d] = uint32(n)
				for i := range n {
					w := min(int(2*math.Exp(random.Float64()*total)-2), vocabulary-1)
					if t.from <= w && w < to {
						words[w] = append(words[w], occurrence{uint32(d), uint32(i)})
					}
				}
			}
			found[p] = words
		})
	}
	wg.Wait()
	freqs, values := make([][]uint32, vocabulary), make([][]uint32, vocabulary)
	postings := make([][]uint32, vocabulary)
	next := make(chan int, vocabulary)
	for w := range vocabulary {
		next <- w
	}
	close(next)
	for range parts {
		wg.Go(func() {
			for w := range next {
				last, n := occurrence{math.MaxUint32, 0}, 0
				for p := range found {
					n += len(found[p][w])
				}
				postings[w], freqs[w], values[w] = make([]uint32, 0, n), make([]uint32, 0, n), make([]uint32, 0, n)
				for p := range found {
					for _, o := range found[p][w] {
						if o.doc != last.doc {
							postings[w], freqs[w] = append(postings[w], o.doc), append(freqs[w], 1)
							values[w] = append(values[w], o.position)
						} else {
							freqs[w][len(freqs[w])-1]++
							values[w] = append(values[w], o.position-last.position-1)
						}
						last = o
					}
					found[p][w] = nil
				}
			}
		})
	}
	wg.Wait()
	var positions sync.WaitGroup
	positions.Go(func() { src.SetPositions(freqs, values) })
	for w := range vocabulary {
		id := codec.ParaPFor
		if len(postings[w])*32 > docs {
			id = codec.Bitset
		}
		h, err := src.Append(id, postings[w], codec.DefaultOptions())
		if err == nil {
			err = src.AppendFreqs(h, freqs[w], codec.DefaultOptions())
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
	positions.Wait()
	x, err := NewIndex(src, numbers(vocabulary), nil, plan.Auto)
	if err != nil {
		tb.Fatal(err)
	}
	return x
}
