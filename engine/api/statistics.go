package api

import "heddle/engine/index/bm25"

// FieldsMessage is the statistics of fields as a message.
func FieldsMessage(all []bm25.FieldStatistics) (m []*FieldStatistics) {
	for _, f := range all {
		m = append(m, &FieldStatistics{Name: f.Name, Docs: f.Docs, Length: f.Length})
	}
	return m
}

// FieldsOf is the statistics of fields of a message.
func FieldsOf(m []*FieldStatistics) (all []bm25.FieldStatistics) {
	for _, f := range m {
		all = append(all, bm25.FieldStatistics{Name: f.GetName(), Docs: f.GetDocs(), Length: f.GetLength()})
	}
	return all
}
