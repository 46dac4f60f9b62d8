package server

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/index/bm25"
	"heddle/engine/server/problem"
	"heddle/engine/syntax"
)

// searchLines answers POST /v1/indexes/{index}/search/batch: a query on each line of the body,
// and the answers in the same order.
func (s *Server) searchLines(w http.ResponseWriter, r *http.Request) error {
	timeout, partial, err := lineOptions(r.URL.Query())
	if err != nil {
		return problem.BadRequest(err)
	}
	b, ids, err := s.readLines(r, timeout)
	if err != nil {
		return err
	}
	aboutBatch(r.Context(), r.PathValue("index"), len(ids))
	x := &stream{s: s, w: w, r: r, b: b, ids: ids, partial: partial, room: s.room(), left: s.timeout(timeout)}
	return x.run(timeout)
}

// lineOptions reads the options that all queries of a body of lines share.
func lineOptions(from url.Values) (timeout uint32, partial bool, err error) {
	if text := from.Get("timeout_ms"); text != "" {
		ms, err := strconv.ParseUint(text, 10, 32)
		if err != nil {
			return 0, false, fmt.Errorf("timeout_ms: want a whole number from 0 to 4294967295, found %s", syntax.Quote(text))
		}
		timeout = uint32(ms)
	}
	if text := from.Get("allow_partial"); text != "" {
		if partial, err = strconv.ParseBool(text); err != nil {
			return 0, false, fmt.Errorf("allow_partial: want true or false, found %s", syntax.Quote(text))
		}
	}
	return timeout, partial, nil
}

// appendAnswer appends the line of query q.
func appendAnswer[N uint32 | uint64](dst []byte, id json.RawMessage, q *engine.Query, count uint64, total engine.Total, note string, docs []N, scores []float64, name func(i int) (string, error), documents []engine.Contents, after string) ([]byte, error) {
	dst = appendID(dst, id)
	if q.K == 0 && q.Total == 0 {
		dst = append(strconv.AppendUint(append(dst, `"count":`...), count, 10), ',')
	}
	if !q.CountOnly || q.Total > 0 {
		dst = append(dst, `"hits":[`...)
		for i, d := range docs {
			if i > 0 {
				dst = append(dst, ',')
			}
			text, err := name(i)
			if err != nil {
				return nil, err
			}
			dst = api.AppendString(append(dst, `{"doc":`...), text)
			dst = strconv.AppendUint(append(dst, `,"id":`...), uint64(d), 10)
			if scores != nil {
				dst = api.AppendNumber(append(dst, `,"score":`...), scores[i])
			}
			if documents != nil {
				dst = appendContents(dst, &documents[i])
			}
			dst = append(dst, '}')
		}
		dst = append(dst, `],`...)
	}
	if q.Total > 0 {
		dst = append(api.AppendJSON(append(dst, `"total":`...), totalMessage(q, total)), ',')
	}
	if after != "" {
		dst = append(api.AppendString(append(dst, `"after":`...), after), ',')
	}
	if note != "" {
		dst = append(api.AppendString(append(dst, `"note":`...), note), ',')
	}
	return append(dst[:len(dst)-1], '}', '\n'), nil
}

// appendContents appends the members of a hit with the parts of its document.
func appendContents(dst []byte, d *engine.Contents) []byte {
	for _, part := range []struct {
		name string
		text json.RawMessage
	}{{"fields", d.Members}, {"source", d.Source}, {"attributes", d.Attributes}} {
		if len(part.text) > 0 {
			dst = append(append(append(append(dst, ',', '"'), part.name...), '"', ':'), part.text...)
		}
	}
	if d.Snippet != "" {
		dst = api.AppendString(append(dst, `,"snippet":`...), d.Snippet)
	}
	return dst
}

func appendID(dst []byte, id json.RawMessage) []byte {
	dst = append(dst, '{')
	if id != nil {
		dst = append(append(append(dst, `"id":`...), id...), ',')
	}
	return dst
}

// queryBytes is the memory of a query in a batch, without its texts.
const queryBytes = 512

// readLines reads the queries of a batch. A line with an error makes one invalid query.
func (s *Server) readLines(r *http.Request, timeout uint32) (b *batch, ids []json.RawMessage, err error) {
	b = &batch{}
	in := bufio.NewReaderSize(r.Body, 64<<10)
	reader := lineReader{s: s, index: r.PathValue("index"), timeout: timeout, room: func(n int64) error { return problem.Take(r.Context(), n) }}
	for number := 1; ; number++ {
		text, err := readLine(in)
		if errors.Is(err, io.EOF) {
			return b, ids, nil
		}
		if err != nil {
			return nil, nil, problem.Unread(fmt.Errorf("line %d: %w", number, err))
		}
		if len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		if err := problem.Within("batch", len(ids)+1, s.limits().Batch); err != nil {
			return nil, nil, err
		}
		if len(ids)%64 == 0 {
			if err := reader.room(64 * queryBytes); err != nil {
				return nil, nil, err
			}
		}
		id, q, wrong := reader.read(r.Context(), text)
		if refused, ok := errors.AsType[*problem.LimitError](wrong); ok && refused.Limit == "memory" {
			return nil, nil, refused
		}
		if wrong != nil {
			code := engine.CodeOf(wrong)
			if e, ok := errors.AsType[*engine.Error](wrong); ok {
				wrong = e.Err // the operation is named once
			}
			wrong = &engine.Error{Code: code, Op: "read request", Err: fmt.Errorf("line %d: %w", number, wrong)}
		}
		ids, b.queries = append(ids, id), append(b.queries, q)
		if wrong != nil {
			b.wrong(len(ids)-1, wrong)
		}
	}
}

// readLine returns the next line; io.EOF after the last one. The line is valid up to the next call.
func readLine(in *bufio.Reader) ([]byte, error) {
	line, err := in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		line = bytes.Clone(line) // the next read overwrites it
		var rest []byte
		rest, err = in.ReadBytes('\n')
		line = append(line, rest...)
	}
	if errors.Is(err, io.EOF) && len(line) > 0 {
		err = nil
	}
	return line, err
}

// lineReader reads the lines of one request, and reuses its memory.
type lineReader struct {
	s       *Server
	index   string
	timeout uint32
	room    func(bytes int64) error
	line    api.Line
	fields  *engine.Fields // fields of the last query with some
	scoring *bm25.Params   // parameters of the last query with some
}

func (l *lineReader) read(ctx context.Context, text []byte) (id json.RawMessage, q engine.Query, err error) {
	if err := l.line.Read(text, l.room); err != nil {
		return nil, q, problem.Unread(err)
	}
	if id = l.line.ID; id != nil && id[0] != '"' && id[0] != '-' && (id[0] < '0' || id[0] > '9') {
		return nil, q, problem.BadRequest(errors.New("id: want a string or a number"))
	}
	q, err = l.s.query(ctx, l.index, &l.line.BatchQuery, l.timeout)
	if err == nil {
		q.Fields, err = l.s.fields(l.index, &l.line.BatchQuery, l.fields)
	}
	if q.Fields != nil {
		l.fields = q.Fields
	}
	if err == nil {
		err = l.s.kind(&q, &l.line.BatchQuery, l.line.K, l.line.GetTotal(), l.line.GetScoring(), nil, l.line.GetWeights())
	}
	if p := q.Scoring; p != nil && l.scoring != nil && *p == *l.scoring {
		q.Scoring = l.scoring // queries of equal options join a batch
	} else if p != nil {
		l.scoring = p
	}
	if err == nil {
		err = l.s.page(&q, l.index, &l.line.BatchQuery, l.line.GetAfter())
	}
	if err == nil {
		err = combine(&q, l.line.Tie, l.line.GetExpandScore())
	}
	return id, q, err
}
