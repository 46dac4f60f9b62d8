package export

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf8"

	"heddle/engine/index/build/records"
	"heddle/engine/plan"
)

// batchPostings is the number of postings of the documents that are written at a time, 8
// bytes each.
const batchPostings = 32 << 20

// termFreq is a posting, from the point of view of a document.
type termFreq struct {
	term plan.Handle
	freq uint32
}

// jsonl turns lists into documents, in batches of documents with at most batch postings, or of one document with
// more. Each batch reads all lists.
func (x *exporter) jsonl(batch uint64) error {
	counts := make([]uint32, x.f.Docs()) // terms of each document
	err := x.eachList(func(plan.Handle) error {
		for _, d := range x.docs {
			counts[d]++
		}
		return nil
	})
	if err != nil {
		return err
	}
	for from := uint32(0); from < x.f.Docs(); {
		to, sum := from, uint64(0)
		for to < x.f.Docs() && (to == from || sum+uint64(counts[to]) <= batch) {
			sum += uint64(counts[to])
			to++
		}
		if err := x.documents(from, to, counts, sum); err != nil {
			return err
		}
		from = to
	}
	return nil
}

// documents writes documents with these numbers of terms, and their sum.
func (x *exporter) documents(from, to uint32, counts []uint32, sum uint64) error {
	postings := make([]termFreq, sum)
	ends := make([]uint64, to-from+1) // by document: where its next posting goes, and at last where its postings end
	for d := from; d+1 < to; d++ {
		ends[d-from+1] = ends[d-from] + uint64(counts[d])
	}
	err := x.eachList(func(h plan.Handle) error {
		for i, d := range x.docs {
			if d >= from && d < to {
				end := &ends[d-from]
				postings[*end] = termFreq{h, x.freqs[i]}
				*end++
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for d, start := from, uint64(0); d < to; d++ {
		end := ends[d-from]
		if err := x.document(d, postings[start:end]); err != nil {
			return err
		}
		start = end
	}
	return nil
}

// document writes one line.
func (x *exporter) document(d uint32, postings []termFreq) error {
	if d%1024 == 0 && x.ctx.Err() != nil {
		return x.ctx.Err()
	}
	b := append(x.scratch[:0], `{"id":`...)
	name, err := x.f.DocName(d)
	if err != nil {
		return err
	}
	if b, err = appendJSON(b, name, "name"); err != nil {
		return err
	}
	if x.f.HasDocuments() {
		text, err := records.TextOf(x.f, d)
		if err != nil {
			return err
		}
		if b, err = appendJSON(append(b, `,"text":`...), text, "text"); err != nil {
			return err
		}
	}
	b = append(b, `,"vector":{`...)
	for i, p := range postings {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = appendJSON(b, x.f.Term(p.term), "term"); err != nil {
			return err
		}
		b = strconv.AppendUint(append(b, ':'), uint64(p.freq), 10)
	}
	x.scratch = append(b, "}}\n"...)
	_, err = x.out[0].Write(x.scratch)
	return err
}

// appendJSON appends s as a string of JSON, which must be UTF-8.
func appendJSON(b []byte, s, what string) ([]byte, error) {
	if !utf8.ValidString(s) {
		return b, contentError("the %s %.60q is not UTF-8", what, s)
	}
	to := bytes.NewBuffer(b)
	e := json.NewEncoder(to)
	e.SetEscapeHTML(false)
	err := e.Encode(s)
	return bytes.TrimSuffix(to.Bytes(), []byte("\n")), err
}
