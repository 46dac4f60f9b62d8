package server

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"

	"heddle/engine"
	"heddle/engine/file/input"
	"heddle/engine/server/admit"
	"heddle/engine/server/bodies"
	"heddle/engine/server/problem"
)

// isUpload reports whether the body of a request has no limit: the server reads it part by part.
func isUpload(path string) bool {
	return strings.HasPrefix(path, "/v1/admin/indexes/") && strings.HasSuffix(path, "/upload")
}

const (
	uploadPart = 4 << 20 // bytes of the lines that are added at a time
	mostErrors = 100     // wrong lines after which an upload ends
)

// uploaded is the answer of an upload.
type uploaded struct {
	Lines     uint64      `json:"lines"` // lines that were read, blank ones included
	Added     uint64      `json:"added"`
	Documents uint64      `json:"documents,omitempty"` // of the collection; 0 if none was added
	Epoch     uint64      `json:"epoch,omitempty"`     // of the last part; 0 if none was added
	Errors    []lineError `json:"errors,omitempty"`    // lines that were left out
	// Stopped says why the upload ended before the end of the body.
	Stopped string `json:"stopped,omitempty"`
}

// lineError is the error of a line.
type lineError struct {
	Line   uint64 `json:"line"` // from 1
	Detail string `json:"detail"`
}

// upload answers POST /v1/admin/indexes/{index}/upload: it adds the JSON lines of the body, of any length, part by
// part, and leaves out lines that the collection cannot take.
func (s *Server) upload(w http.ResponseWriter, r *http.Request) {
	c, err := adminService{s}.changer(r.PathValue("index"))
	if err != nil {
		s.count(r.Context(), err)
		problem.Write(w, err)
		return
	}
	end, err := bodies.Decode(w, r, 0)
	if err != nil {
		s.count(r.Context(), err)
		problem.Write(w, err)
		return
	}
	defer end()
	u := &upload{ctx: r.Context(), to: c, index: r.PathValue("index")}
	status := http.StatusOK
	if err := u.read(&bodies.Reader{ReadCloser: r.Body, Take: taking(r.Context())}, s.limits().Body); err != nil {
		s.count(r.Context(), err)
		u.Stopped = err.Error()
		_, status, _ = problem.Describe(err, "")
	}
	slices.SortFunc(u.Errors, func(a, b lineError) int { return cmp.Compare(a.Line, b.Line) })
	w.Header().Set("Content-Type", bodies.JSON)
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(u.uploaded) // an error means that the client has left
}

// upload is a body of lines.
type upload struct {
	uploaded
	ctx   context.Context
	to    Changer
	index string
	part  [][]byte
	size  int // bytes of the body that part was read from
}

// read adds the lines of a body, each of at most some bytes.
func (u *upload) read(body io.Reader, most int64) error {
	in := bufio.NewScanner(body)
	in.Buffer(nil, int(min(most, math.MaxInt32)))
	in.Split(func(data []byte, end bool) (n int, line []byte, err error) {
		n, line, err = bufio.ScanLines(data, end)
		u.size += n
		return n, line, err
	})
	for in.Scan() {
		u.Lines++
		u.part = append(u.part, bytes.Clone(in.Bytes()))
		if u.size >= uploadPart {
			if err := u.flush(); err != nil {
				return err
			}
		}
	}
	err := in.Err()
	if errors.Is(err, bufio.ErrTooLong) {
		err = &problem.LimitError{Limit: "body", Max: uint64(most)}
	} else if err != nil {
		err = problem.Unread(err)
	}
	return errors.Join(u.flush(), err)
}

// flush adds the lines that were read, and gives their memory back.
func (u *upload) flush() error {
	lines := u.part
	defer admit.Of(u.ctx).Give(bodies.Growth * int64(u.size))
	u.part, u.size = nil, 0
	return u.add(lines, u.Lines-uint64(len(lines)))
}

// errTooMany ends an upload with many wrong lines.
var errTooMany = &engine.Error{Code: engine.InvalidOption, Op: "upload", Err: errors.New("too many wrong lines: at most 100 are left out")}

// add adds lines, the first of which has the number before + 1. It leaves out wrong lines.
func (u *upload) add(lines [][]byte, before uint64) error {
	for len(lines) > 0 {
		done, err := u.to.Add(u.ctx, u.index, bytes.Join(lines, []byte{'\n'}))
		if err == nil {
			u.Added += done.GetAdded()
			u.Documents, u.Epoch = done.GetDocuments(), done.GetEpoch()
			return nil
		}
		if engine.CodeOf(err) != engine.InvalidOption {
			return err
		}
		at := len(lines) / 2
		if wrong, ok := errors.AsType[*input.Error](err); ok && wrong.Line >= 1 && wrong.Line <= len(lines) {
			at = wrong.Line - 1
		} else if len(lines) > 1 { // an error without a line: halve
			if err := u.add(lines[:at], before); err != nil {
				return err
			}
			lines, before = lines[at:], before+uint64(at)
			continue
		}
		if len(u.Errors) == mostErrors {
			return errTooMany
		}
		u.Errors = append(u.Errors, lineError{before + uint64(at) + 1, reason(err)})
		lines = append(append([][]byte{}, lines[:at]...), append([][]byte{{}}, lines[at+1:]...)...) // the numbers of lines stay
		if len(bytes.TrimSpace(bytes.Join(lines, nil))) == 0 {
			return nil
		}
	}
	return nil
}

// reason is the text of an error of a line without its place.
func reason(err error) string {
	if wrong, ok := errors.AsType[*input.Error](err); ok {
		return wrong.Reason
	}
	return err.Error()
}
