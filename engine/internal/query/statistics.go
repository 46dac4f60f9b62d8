package query

import "heddle/engine/index/bm25"

// Statistics returns the statistics of x, with the document frequencies of terms; 0 for a
// term that no document has.
func (x *Index) Statistics(terms ...string) bm25.Statistics {
	s := bm25.Statistics{Docs: x.docs(), Length: x.tokens(), DF: make(map[string]uint64, len(terms)), Fields: x.FieldStatistics()}
	for _, t := range terms {
		s.DF[t] = 0
		if h, ok := x.Dictionary.Lookup(t); ok {
			s.DF[t] = uint64(x.Source.Lists[h].Len)
		}
	}
	return s
}

func (x *Index) countTokens() (n uint64) {
	if x.Source.Length > 0 {
		return x.Source.Length
	}
	for _, l := range x.Source.Lengths {
		n += uint64(l)
	}
	return n
}

// FieldStatistics returns the statistics of the fields; nil without fields.
func (x *Index) FieldStatistics() (all []bm25.FieldStatistics) {
	for _, f := range x.Source.Fields {
		all = append(all, bm25.FieldStatistics{Name: f.Name, Docs: f.Docs, Length: f.Length})
	}
	return all
}
