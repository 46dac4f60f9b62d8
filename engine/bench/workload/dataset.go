package workload

import "context"

// DataSet is a document collection of Ao et al. 2011, appendix B, in the shape of the
// GOV-like workload: the same shares of documents for each term, another number of
// documents, and another order of the documents. The sites of a crawl were fitted to
// Table 1.
type DataSet struct {
	Name string // in the paper
	Docs uint32
	// Themes, at most, of a workload: lists of about 240 million postings.
	Themes int
	Order  Order
	base   string  // name of the collection, for results
	sites  int     // number of sites of a crawl
	asked  float64 // share of the documents of the terms in queries, over GOV's
}

// askedBaidu compares terms that queries of Baidu and of GOV ask for: it is the mean share of
// documents with such a term in Baidu, over this share in GOV. It was fitted to Table 7:
// throughput times response time is 277.6 queries a batch of 2^20 elements of the shortest
// lists, so that these have 3,777 docIDs on average.
const askedBaidu = 0.0275

const (
	gov2Docs  = 5_038_710
	baiduDocs = 15_749_656
)

// DataSets are the collections in the order of the tables of the paper.
func DataSets() []DataSet {
	gov2 := DataSet{Docs: gov2Docs, Themes: 3, base: "gov2", sites: 250, asked: 1}
	baidu := DataSet{Docs: baiduDocs, Themes: 1, base: "bd", sites: 1500, asked: askedBaidu}
	return []DataSet{
		Clustered.GOV(DocCount), PageRank.GOV(DocCount), Uniform.GOV(DocCount),
		gov2.in("GOV2", Clustered), gov2.in("GOV2R", Uniform), baidu.in("BD", Clustered), baidu.in("BDR", Uniform),
	}
}

func (d DataSet) in(name string, o Order) DataSet {
	d.Name, d.Order = name, o
	return d
}

// GOV is the collection GOV in an order, with DocCount documents, or fewer for tests.
func (o Order) GOV(docs uint32) DataSet {
	sites := siteCount
	if o == PageRank {
		sites = 800
	}
	return DataSet{Name: [...]string{"GOVR", "GOV", "GOVPR", "GOV, reordered"}[o], Docs: docs, Themes: MaxThemes, Order: o, base: "gov", sites: sites, asked: 1}
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
	number := d.docIDs(seed)
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
