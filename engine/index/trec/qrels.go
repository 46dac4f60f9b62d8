package trec

import (
	"fmt"
	"io"
	"strconv"
)

// Qrels is the relevance of the judged documents of each query. A negative relevance
// counts as no judgement.
type Qrels map[string]map[string]int

// ReadQrels reads a file of relevance judgements; path is for errors. A document
// that a query names twice is an *Error, as is a relevance that is no whole number.
func ReadQrels(path string, r io.Reader) (Qrels, error) {
	qrels := Qrels{}
	err := scanFields(path, r, func(_ int, fields []string) error {
		if len(fields) != 4 {
			return fmt.Errorf("%d fields, want QUERY ITERATION DOCUMENT RELEVANCE", len(fields))
		}
		query, doc := fields[0], fields[2]
		relevance, err := strconv.ParseInt(fields[3], 10, 32)
		if err != nil {
			return fmt.Errorf("relevance %q is no whole number", fields[3])
		}
		judged := qrels[query]
		if judged == nil {
			judged = map[string]int{}
			qrels[query] = judged
		}
		if _, twice := judged[doc]; twice {
			return fmt.Errorf("query %q has document %q twice", query, doc)
		}
		judged[doc] = int(relevance)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return qrels, nil
}
