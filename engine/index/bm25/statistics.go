package bm25

import (
	"maps"
	"slices"
	"strings"
)

// Statistics are the numbers that BM25 needs of a collection. The statistics of shards add up to the
// statistics of the whole, and a shard that ranks with the sum gives every document the score that the
// whole would give it, bit for bit.
type Statistics struct {
	Docs   uint64 // documents with at least one term, as docCount in Lucene
	Length uint64 // sum of their lengths, in tokens; divided by Docs the mean length
	// DF is the number of documents that have a term. It must hold every term of a query that
	// the index or another shard has.
	DF map[string]uint64
	// Fields are the statistics of the fields, of an index that has some: a term of a field has the weight and the mean
	// length of its field.
	Fields []FieldStatistics
	// Shard says that the index is a shard of the collection. A prefix or tolerant word then stands for
	// terms of DF, and an index with impacts reads in DF which terms other shards
	// have. A term that DF lacks has no documents, even if the index has documents with it.
	// Default: false.
	Shard bool
}

// FieldMark is between the name of a field and a word in a term of the field.
const FieldMark = ":"

// DocsOf is Docs, of a term of a field Docs of the field.
func (s *Statistics) DocsOf(term string) uint64 {
	for _, f := range s.Fields {
		if strings.HasPrefix(term, f.Name+FieldMark) {
			return f.Docs
		}
	}
	return s.Docs
}

// FieldStatistics are the Docs and the Length of a field.
type FieldStatistics struct {
	Name         string
	Docs, Length uint64
}

// Add adds the statistics of another part of the collection.
func (s *Statistics) Add(t Statistics) {
	s.Docs += t.Docs
	s.Length += t.Length
	s.Fields = AddFields(s.Fields, t.Fields)
	if s.DF == nil {
		s.DF = maps.Clone(t.DF)
		return
	}
	for term, df := range t.DF {
		s.DF[term] += df
	}
}

// AddFields adds the statistics of the fields of two parts of a collection. The slices stay as they are.
func AddFields(a, b []FieldStatistics) []FieldStatistics {
	all := slices.Clone(a)
	for _, f := range b {
		i := slices.IndexFunc(all, func(one FieldStatistics) bool { return one.Name == f.Name })
		if i < 0 {
			all = append(all, f)
			continue
		}
		all[i].Docs, all[i].Length = all[i].Docs+f.Docs, all[i].Length+f.Length
	}
	return all
}
