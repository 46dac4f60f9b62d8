package workload

import (
	"cmp"
	"slices"
)

// crawl numbers documents so that each site stays together.
type crawl struct {
	sites int
	// trend is the influence of the themes on the order of the sites: a site at the
	// fraction x of the order of themes has the key trend*x + a random number up to 1.
	trend float64
}

// docIDs maps documents in the order of themes to docIDs.
func (d DataSet) docIDs(seed uint64) []uint32 {
	switch d.Order {
	case Uniform:
		return randomIDs(seed, d.Docs)
	case Clustered:
		return crawl{sites: d.sites}.docIDs(seed, d.Docs)
	case PageRank:
		return crawl{sites: d.sites, trend: 0.2}.docIDs(seed, d.Docs)
	}
	return inOrder(d.Docs)
}

// inOrder keeps the order of themes.
func inOrder(docs uint32) []uint32 {
	ids := make([]uint32, docs)
	for i := range ids {
		ids[i] = uint32(i)
	}
	return ids
}

// randomIDs numbers documents at random.
func randomIDs(seed uint64, docs uint32) []uint32 {
	ids := inOrder(docs)
	Shuffle(NewRandom(seed, streamDocIDs, 0), ids)
	return ids
}

// docIDs maps documents in the order of themes to docIDs.
func (c crawl) docIDs(seed uint64, docs uint32) []uint32 {
	r := NewRandom(seed, StreamSites, 0)
	cuts := []uint32{0, docs}
	for len(cuts) <= c.sites {
		cuts = append(cuts, uint32(r.Below(uint64(docs))))
	}
	slices.Sort(cuts)
	sites := make([]int, c.sites)
	for i := range sites {
		sites[i] = i
	}
	Shuffle(r, sites)
	if c.trend > 0 {
		key := make([]float64, c.sites)
		for i := range key {
			key[i] = float64(c.trend*float64(cuts[i])/float64(docs)) + r.Unit()
		}
		slices.SortFunc(sites, func(a, b int) int { return cmp.Compare(key[a], key[b]) })
	}
	ids, next := make([]uint32, docs), uint32(0)
	for _, s := range sites {
		for d := cuts[s]; d < cuts[s+1]; d++ {
			ids[d] = next
			next++
		}
	}
	return ids
}
