package server

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/RoaringBitmap/roaring/v2"
	"google.golang.org/protobuf/reflect/protoreflect"

	"heddle/engine"
	"heddle/engine/api"
)

// Media types of rows.
const (
	typeJSON    = "application/json"
	typeLines   = "application/x-ndjson"
	typeRaw     = "application/octet-stream"
	typeRoaring = "application/x-roaring"
)

var rowTypes = []string{typeJSON, typeLines, typeRaw, typeRoaring}

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

// selectRoute answers POST /v1/tables/{table}/select in the form that the client accepts.
func (s *Server) selectRoute(w http.ResponseWriter, r *http.Request, variables []protoreflect.FieldDescriptor) error {
	kind := acceptable(r.Header.Get("Accept"), rowTypes)
	if kind == "" {
		e, _, _ := describe(badRequest(fmt.Errorf("header Accept: want one of %s", strings.Join(rowTypes, ", "))), w.Header().Get(requestHeader))
		writeProblemOf(w, e, http.StatusNotAcceptable)
		return nil
	}
	request := new(api.SelectRequest)
	if err := readBody(r, request, variables); err != nil {
		return err
	}
	var rows engine.Rows
	var ids []uint32
	began := time.Now()
	err := s.inSlot(func() (err error) { // writing follows: a slow reader holds no slot
		rows, ids, err = s.selectRows(r.Context(), request, host(r.RemoteAddr))
		return err
	})
	if err != nil {
		return err
	}
	took := milliseconds(began)
	w.Header().Set("Content-Type", kind)
	out := s.slow(w)
	switch kind {
	case typeJSON:
		writeRows(out, rows.Count, ids, took)
	case typeLines:
		for _, id := range ids {
			out.Write(append(strconv.AppendUint(out.AvailableBuffer(), uint64(id), 10), '\n'))
		}
	case typeRaw:
		for _, id := range ids {
			out.Write(binary.LittleEndian.AppendUint32(out.AvailableBuffer(), id))
		}
	case typeRoaring:
		set := roaring.BitmapOf(ids...)
		set.RunOptimize()
		set.WriteTo(out)
	}
	out.Flush() // after an error of the connection, Write and Flush do nothing
	return nil
}

// writeRows writes api.SelectResponse without a copy of the rows.
func writeRows(out *bufio.Writer, count uint64, ids []uint32, took float64) {
	out.Write(append(strconv.AppendUint(append(out.AvailableBuffer(), `{"count":`...), count, 10), `,"rows":[`...))
	for i, id := range ids {
		b := out.AvailableBuffer()
		if i > 0 {
			b = append(b, ',')
		}
		out.Write(strconv.AppendUint(b, uint64(id), 10))
	}
	out.Write(append(api.AppendNumber(append(out.AvailableBuffer(), `],"took_ms":`...), took), '}', '\n'))
}

// slow returns a buffered writer of an answer. The client must accept each part in Options.Stall.
func (s *Server) slow(w http.ResponseWriter) *bufio.Writer {
	return bufio.NewWriterSize(&slowWriter{w, http.NewResponseController(w), s.opt.Stall}, 64<<10)
}

type slowWriter struct {
	w       http.ResponseWriter
	control *http.ResponseController
	stall   time.Duration
}

func (s *slowWriter) Write(p []byte) (int, error) {
	s.control.SetWriteDeadline(time.Now().Add(s.stall)) // writers of tests have no deadlines
	return s.w.Write(p)
}
