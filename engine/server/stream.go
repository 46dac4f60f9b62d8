package server

import (
	"bufio"
	"encoding/json"
	"errors"
	"net/http"
	"sync"
	"time"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/failure"
	"heddle/engine/server/admit"
	"heddle/engine/server/bodies"
	"heddle/engine/server/monitor"
	"heddle/engine/server/problem"
)

const (
	// mostPart is the memory that a part of a batch may need for its answers, in bytes.
	mostPart = 16 << 20
	// hitBytes and lineBytes are the memory of a document of an answer, and of an answer without documents.
	hitBytes, lineBytes = 64, 128
	// matchHits is the number of documents that an answer without a limit is expected to have.
	matchHits = 1000
)

// stream answers the lines of a batch part by part: it computes the answers of a part, and writes them. So the
// memory of a batch is the memory of a part, however many documents its answers have. While a client reads,
// the request holds no slot.
type stream struct {
	s       *Server
	w       http.ResponseWriter
	r       *http.Request
	b       *batch
	ids     []json.RawMessage
	partial bool
	room    *room
	left    time.Duration // time that is left for computing

	snapshot *engine.Snapshot // nil: the index is remote
	remote   Remote
	out      *bufio.Writer

	wrong int // number of queries of a part that end with an error

	mu   sync.Mutex
	held int64 // memory of a part
	used int64 // the part of held that the lines take, in bytes
	docs int   // number of documents of the lines
}

// run answers all lines. An error comes before the first byte of the answer: later ones become the answers of
// their lines.
func (x *stream) run(timeout uint32) (err error) {
	slot, err := x.s.enter(x.r.Context(), len(x.ids), timeout)
	if err != nil {
		return err
	}
	err = errPanic
	held := true
	defer func() {
		if held {
			x.s.leave(slot, err)
		}
	}()
	if x.out, err = x.s.slow(x.w, x.r); err != nil {
		return err
	}
	index := x.r.PathValue("index")
	if x.remote = x.s.remoteOf(index); x.remote == nil {
		if x.snapshot, err = x.s.snapshot(index); err != nil {
			return err
		}
		defer x.snapshot.Close()
	}
	for from := 0; ; {
		to := x.part(from)
		lines, cover, wrong := x.answer(from, to)
		for noRoom(wrong) && to-from > 1 && !x.partial { // its answers are longer than expected
			to = from + (to-from)/2
			lines, cover, wrong = x.answer(from, to)
		}
		if from == 0 {
			if err = wrong; err != nil {
				return err
			}
			x.w.Header().Set("Content-Type", bodies.Lines)
			setCoverage(x.w.Header(), cover)
		} else if wrong != nil {
			to = len(x.ids)
			lines = x.failed(lines, from, wrong)
		}
		monitor.Of(x.r.Context()).Errors += x.wrong
		last := to == len(x.ids)
		if held = false; last {
			x.s.leave(slot, wrong)
		} else {
			x.s.gate.Pause(&slot, to-from)
		}
		if x.write(lines, last) != nil || last { // an error: the client has left
			monitor.Of(x.r.Context()).Errors += len(x.ids) - to
			return nil
		}
		x.s.gate.Resume(slot)
		held, from = true, to
	}
}

// part returns the end of the part that begins with a query: its answers should fit the memory.
func (x *stream) part(from int) (to int) {
	if x.partial {
		return len(x.ids) // the coverage precedes all answers
	}
	most := min(mostPart, admit.Of(x.r.Context()).Room()/2)
	for to = from; to < len(x.ids); to++ {
		if most -= expected(&x.b.queries[to]); most < 0 && to > from {
			break
		}
	}
	return to
}

// expected is the expected memory of an answer.
func expected(q *engine.Query) int64 {
	hits := q.K
	if hits == 0 && !q.CountOnly {
		hits = matchHits
	}
	return lineBytes + hitBytes*int64(hits)
}

// noRoom reports whether an answer does not fit the memory.
func noRoom(err error) bool {
	limit, ok := errors.AsType[*problem.LimitError](err)
	return ok && limit.Limit == "memory"
}

// reserve takes the memory of the answers of some queries, in place of the memory of an earlier part.
func (x *stream) reserve(queries []engine.Query) error {
	x.release()
	var n int64
	for i := range queries {
		n += expected(&queries[i])
	}
	err := problem.Take(x.r.Context(), n)
	if err == nil {
		x.held = n
	}
	return err
}

// release gives the memory of a part back.
func (x *stream) release() {
	admit.Of(x.r.Context()).Give(x.held)
	x.held, x.used, x.docs = 0, 0, 0
}

// answer returns the lines of some queries, and the coverage if the answer may be partial.
func (x *stream) answer(from, to int) (lines [][]byte, cover *api.Coverage, err error) {
	began := time.Now()
	defer func() { x.left -= time.Since(began) }()
	x.room.left.Add(int64(x.docs))
	x.wrong = 0
	b := x.b.slice(from, to)
	if err := x.reserve(b.queries); err != nil {
		return nil, nil, err
	}
	for i := range b.queries {
		b.queries[i].Timeout = max(x.left, 1)
	}
	ids := x.ids[from:to]
	lines = make([][]byte, len(ids))
	if x.remote != nil {
		var hits []api.Hits
		hits, cover, err = b.remote(x.r.Context(), x.remote, x.r.PathValue("index"), api.Ask{Names: true, AllowPartial: x.partial, Take: taking(x.r.Context())})
		for n, h := range hits {
			if b.errs[n] != nil {
				continue
			}
			if lines[n], err = line(x, ids[n], &b.queries[n], h.Count, h.Total, h.Note, h.IDs, h.Scores, func(i int) (string, error) { return h.Names[i], nil }, h.Documents, h.After); err != nil {
				break
			}
		}
	} else {
		err = b.run(x.r.Context(), x.snapshot, func(at []int, hits []engine.Hits) (err error) {
			for i, h := range hits {
				var all []engine.Contents
				if q := &b.queries[at[i]]; q.Fields != nil {
					if all, err = documents(x.r.Context(), x.snapshot, q, h.Docs); failure.OfQuery(err) {
						b.wrong(at[i], err)
						continue
					} else if err != nil {
						return err
					}
				}
				if lines[at[i]], err = line(x, ids[at[i]], &b.queries[at[i]], h.Count, h.Total, x.snapshot.Note(b.queries[at[i]], h.Count > 0), h.Docs, h.Scores, func(i int) (string, error) { return x.snapshot.File().DocName(h.Docs[i]) }, all, h.After); err != nil {
					return err
				}
			}
			return nil
		})
	}
	x.wrong = len(b.errs)
	for i, wrong := range b.errs {
		lines[i] = errorLine(ids[i], wrong)
	}
	return lines, cover, err
}

// line returns the line of an answer, which it counts.
func line[N uint32 | uint64](x *stream, id json.RawMessage, q *engine.Query, count uint64, total engine.Total, note string, docs []N, scores []float64, name func(i int) (string, error), documents []engine.Contents, after string) ([]byte, error) {
	n := int64(lineBytes + hitBytes*len(docs))
	if err := x.take(n, len(docs)); err != nil {
		return nil, err
	}
	text, err := appendAnswer(make([]byte, 0, n), id, q, count, total, note, docs, scores, name, documents, after)
	if err == nil {
		err = x.take(int64(cap(text))-n, 0) // long names
	}
	return text, err
}

// take counts the memory and the documents of a line.
func (x *stream) take(n int64, docs int) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.used += n
	x.docs += docs
	if err := x.room.take(docs); err != nil {
		return err
	}
	more := max(0, x.used-x.held)
	err := problem.Take(x.r.Context(), more)
	if err == nil {
		x.held += more
	}
	return err
}

// failed adds the lines of an error to the lines of a part, and to all later queries.
func (x *stream) failed(lines [][]byte, from int, err error) [][]byte {
	lines = append(lines, make([][]byte, len(x.ids)-from-len(lines))...)
	for i, l := range lines {
		if l == nil {
			x.wrong++
			lines[i] = errorLine(x.ids[from+i], err)
		}
	}
	return lines
}

// errorLine returns the line of a query without an answer.
func errorLine(id json.RawMessage, err error) []byte {
	e, _, _ := problem.Describe(err, "")
	return append(api.AppendJSON(append(appendID(nil, id), `"error":`...), e), '}', '\n')
}

// write writes the lines of a part, and gives their memory back.
func (x *stream) write(lines [][]byte, last bool) error {
	for _, line := range lines {
		if _, err := x.out.Write(line); err != nil {
			return err
		}
	}
	err := x.out.Flush()
	if err == nil && !last {
		err = http.NewResponseController(x.w).Flush()
	}
	x.release()
	return err
}

// slow returns a buffered writer of an answer. The client must accept each part in Options.Stall.
func (s *Server) slow(w http.ResponseWriter, r *http.Request) (*bufio.Writer, error) {
	n := int64(writerBytes)
	if r.Header.Get("Accept-Encoding") != "" {
		n += compressorBytes
	}
	if err := problem.Take(r.Context(), n); err != nil {
		return nil, err
	}
	return bufio.NewWriterSize(&slowWriter{w, http.NewResponseController(w), s.opt.Stall}, writerBytes), nil
}

const (
	writerBytes     = 64 << 10
	compressorBytes = 1 << 20 // memory of a compressor of gzip or zstd, in bytes
)

type slowWriter struct {
	w       http.ResponseWriter
	control *http.ResponseController
	stall   time.Duration
}

func (s *slowWriter) Write(p []byte) (int, error) {
	s.control.SetWriteDeadline(time.Now().Add(s.stall)) // writers of tests have no deadlines
	return s.w.Write(p)
}
