package server

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"iter"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/RoaringBitmap/roaring/v2"
	"google.golang.org/protobuf/reflect/protoreflect"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/table/rowset"
	"heddle/engine/table/values/arrow"
)

// Media types of rows.
const (
	typeJSON    = "application/json"
	typeLines   = "application/x-ndjson"
	typeRaw     = "application/octet-stream"
	typeRoaring = "application/x-roaring"
	typeRanges  = "text/tab-separated-values" // first TAB last of each range of consecutive rows
)

var rowTypes = []string{typeJSON, typeLines, typeRaw, typeRoaring, typeRanges, arrow.Type}

// acceptable returns the first of the types that the client accepts; "" if it accepts none.
func acceptable(accept string, types []string) string {
	if accept == "" {
		return types[0]
	}
	for part := range strings.SplitSeq(accept, ",") {
		kind, parameters, err := mime.ParseMediaType(part)
		if err != nil || parameters["q"] == "0" {
			continue
		}
		family, any := strings.CutSuffix(kind, "/*")
		for _, t := range types {
			if kind == t || any && (family == "*" || strings.HasPrefix(t, family+"/")) {
				return t
			}
		}
	}
	return ""
}

// accepted returns the type of the answer. If the client accepts none of the types, it returns ""
// and answers with a problem.
func accepted(w http.ResponseWriter, r *http.Request, types []string) string {
	kind := acceptable(r.Header.Get("Accept"), types)
	if kind == "" {
		e, _, _ := describe(badRequest(fmt.Errorf("header Accept: want one of %s", strings.Join(types, ", "))), w.Header().Get(requestHeader))
		writeProblemOf(w, e, http.StatusNotAcceptable)
	}
	return kind
}

// selectRoute answers POST /v1/tables/{table}/select in the form that the client accepts.
func (s *Server) selectRoute(w http.ResponseWriter, r *http.Request, variables []protoreflect.FieldDescriptor) error {
	kind := accepted(w, r, rowTypes)
	if kind == "" {
		return nil
	}
	request := new(api.SelectRequest)
	if err := readBody(r, request, variables); err != nil {
		return err
	}
	var rows *selected
	began := time.Now()
	err := s.inSlot(r.Context(), 1, request.GetTimeoutMs(), func() (err error) { // writing follows: a slow reader holds no slot
		rows, err = s.selectRows(r.Context(), request, kind == typeRanges)
		return err
	})
	if err != nil {
		return err
	}
	took := milliseconds(began)
	if rows.large != nil && kind != typeJSON && kind != typeLines && kind != typeRanges {
		return &engine.Error{Code: engine.Unsupported, Op: "select", Err: fmt.Errorf("row %d has more than 32 bits: accept %s or %s, or use a smaller limit", rows.large[len(rows.large)-1], typeJSON, typeLines)}
	}
	out, err := s.slow(w, r)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", kind)
	if kind != typeJSON {
		setCoverage(w.Header(), rows.coverage)
	}
	switch kind {
	case typeJSON:
		rows.write(out, took)
	case typeLines:
		for i := range rows.len() {
			out.Write(append(strconv.AppendUint(out.AvailableBuffer(), rows.at(i), 10), '\n'))
		}
	case typeRaw:
		for _, id := range rows.ids {
			out.Write(binary.LittleEndian.AppendUint32(out.AvailableBuffer(), id))
		}
	case typeRoaring:
		set := roaring.BitmapOf(rows.ids...)
		set.RunOptimize()
		set.WriteTo(out)
	case typeRanges:
		for x := range rows.spans() {
			b := append(strconv.AppendUint(out.AvailableBuffer(), x.first, 10), '\t')
			out.Write(append(strconv.AppendUint(b, x.last, 10), '\n'))
		}
	case arrow.Type:
		arrow.WriteRows(out, rows.ids)
	}
	out.Flush() // after an error of the connection, Write and Flush do nothing
	return nil
}

// selected is the answer of a selection.
type selected struct {
	count    uint64
	ids      []uint32 // ids of the first rows
	large    []uint64 // the same, if a number has more than 32 bits
	ranges   []span   // the rows as ranges, if the caller asks for ranges; then the other forms are empty
	coverage *api.Coverage
}

// span is a range of consecutive rows.
type span struct{ first, last uint64 }

const spanBytes = 16

// spans yields the rows as ranges, each as long as it is.
func (s *selected) spans() iter.Seq[span] {
	return func(yield func(span) bool) {
		for _, x := range s.ranges {
			if !yield(x) {
				return
			}
		}
		for i := 0; i < s.len(); i++ {
			x := span{s.at(i), s.at(i)}
			for i+1 < s.len() && s.at(i+1) == x.last+1 {
				i++
				x.last++
			}
			if !yield(x) {
				return
			}
		}
	}
}

// rangesOf returns the first rows of a bitset as ranges. It stops at the given numbers of rows and of ranges.
func rangesOf(ctx context.Context, bits []uint64, rows uint64, most int) (all []span, err error) {
	for first, last := range rowset.Ranges(bits) {
		n := min(uint64(last-first)+1, rows)
		if n == 0 {
			break
		}
		if len(all) == most {
			return nil, &LimitError{Limit: "documents", Max: uint64(most)}
		}
		if len(all)%4096 == 0 {
			if err := take(ctx, 2*4096*spanBytes); err != nil {
				return nil, err
			}
		}
		all = append(all, span{uint64(first), uint64(first) + n - 1})
		rows -= n
	}
	return all, nil
}

func (s *selected) len() int { return len(s.ids) + len(s.large) }

func (s *selected) at(i int) uint64 {
	if s.large != nil {
		return s.large[i]
	}
	return uint64(s.ids[i])
}

// write writes api.SelectResponse without a copy of the rows.
func (s *selected) write(out *bufio.Writer, took float64) {
	out.Write(append(strconv.AppendUint(append(out.AvailableBuffer(), `{"count":`...), s.count, 10), `,"rows":[`...))
	for i := range s.len() {
		b := out.AvailableBuffer()
		if i > 0 {
			b = append(b, ',')
		}
		out.Write(strconv.AppendUint(b, s.at(i), 10))
	}
	out.Write(api.AppendNumber(append(out.AvailableBuffer(), `],"took_ms":`...), took))
	if s.coverage != nil {
		out.Write(api.AppendJSON(append(out.AvailableBuffer(), `,"coverage":`...), s.coverage))
	}
	out.WriteString("}\n")
}

// slow returns a buffered writer of an answer. The client must accept each part in Options.Stall.
func (s *Server) slow(w http.ResponseWriter, r *http.Request) (*bufio.Writer, error) {
	n := int64(writerBytes)
	if r.Header.Get("Accept-Encoding") != "" {
		n += compressorBytes
	}
	if err := take(r.Context(), n); err != nil {
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
