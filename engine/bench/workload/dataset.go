package workload

import "context"

// DataSet is a document collection of Ao et al. 2011, appendix B, in the shape of the
// GOV-like workload: the same shares of documents for each term, another number of
// documents, and another order of the documents. The sites of a crawl were fitted to
// Table 1.
type DataSet struct {
	Name  string
	Docs  uint32
	crawl crawl // no sites: docIDs at random
}

// DataSets are the collections in the order of the tables of the paper.
func DataSets() []DataSet {
	const gov2, baidu = 5_038_710, 15_749_656
	return []DataSet{
		{"GOV", DocCount, crawl{siteCount, 0}}, {"GOVPR", DocCount, pageRank}, {"GOVR", DocCount, crawl{}},
		{"GOV2", gov2, crawl{250, 0}}, {"GOV2R", gov2, crawl{}},
		{"BD", baidu, crawl{1500, 0}}, {"BDR", baidu, crawl{}},
	}
}

// Scaled returns the data set with a number of documents that is smaller by docs over
// DocCount, for tests.
func (d DataSet) Scaled(docs uint32) DataSet {
	d.Docs = uint32(uint64(d.Docs) * uint64(docs) / DocCount)
	return d
}

// Terms returns the terms whose expected lists have from to below to docIDs, at most most
// of them, at regular distances in the order of frequency.
func (d DataSet) Terms(from, to uint64, most int) (ranks []int) {
	var all []int
	for r := range termsPerTheme * MaxThemes {
		t := newTerm(r, d.Docs)
		if n := uint64(t.share * float64(d.Docs)); from <= n && n < to {
			all = append(all, r)
		}
	}
	for i := range min(most, len(all)) {
		ranks = append(ranks, all[(2*i+1)*len(all)/(2*min(most, len(all)))])
	}
	return ranks
}

// Draw returns the lists of terms, which Workload.Generate draws with the same seed for
// the same numbers of documents.
func (d DataSet) Draw(ctx context.Context, seed uint64, ranks []int) (lists [][]uint32, err error) {
	ids := randomIDs
	if d.crawl.sites > 0 {
		ids = d.crawl.docIDs
	}
	number := ids(seed, d.Docs)
	lists = make([][]uint32, len(ranks))
	return lists, EachWith(ctx, len(ranks), func(s *scratch, i int) error {
		s.draw(seed, ranks[i], d.Docs)
		lists[i] = make([]uint32, len(s.positions))
		s.number(lists[i], number)
		return nil
	})
}

// Sample returns lists at regular distances in the order of length, with about a number
// of postings.
func (d DataSet) Sample(ctx context.Context, seed uint64, postings uint64) (Collection, error) {
	sum := 0.0
	for r := range termsPerTheme * MaxThemes {
		sum += newTerm(r, d.Docs).share * float64(d.Docs)
	}
	all := float64(termsPerTheme * MaxThemes)
	lists, err := d.Draw(ctx, seed, d.Terms(0, 1<<32, int(min(all, max(1, all*float64(postings)/sum)))))
	return Collection{d.Name, lists}, err
}
