// Package index writes index files document by document. Its folders analyse, build, rank and store them.
package index

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"

	"heddle/engine/file/container"
	"heddle/engine/file/input"
	"heddle/engine/index/build"
)

// Document is a document of an index or a collection. Its texts are UTF-8.
type Document struct {
	// Name stands for the document. In a collection a document that is added under the name of another one replaces it.
	Name string
	// Text is searched, with the other text members that package build names, such as title.
	Text string
	// Members are further members of the document, as encoding/json writes them: attributes of a collection, stored
	// members (Options.Store), and texts such as title. Default: none.
	Members map[string]any
}

// MarshalJSON returns the object with the members of the document, its name as id. Texts that are not UTF-8 are an error.
func (d Document) MarshalJSON() ([]byte, error) { return d.marshal(map[string]any{"text": d.Text}) }

// Patch is the JSON of a document without an empty text, for updates.
func Patch(d Document) ([]byte, error) {
	members := map[string]any{}
	if d.Text != "" {
		members["text"] = d.Text
	}
	return d.marshal(members)
}

// marshal adds the members and the name of the document to its text.
func (d Document) marshal(members map[string]any) ([]byte, error) {
	maps.Copy(members, d.Members)
	members["id"] = d.Name
	text, err := json.Marshal(members)
	if err == nil && hasReplacement(text) {
		err = errors.New("a text is no UTF-8")
	}
	return text, err
}

// hasReplacement reports whether JSON has the escape of U+FFFD, which encoding/json writes for bytes that are no UTF-8;
// it writes the character itself without an escape.
func hasReplacement(text []byte) bool {
	for {
		i := bytes.IndexByte(text, '\\')
		if i < 0 {
			return false
		}
		if text = text[i:]; bytes.HasPrefix(text, []byte(`\ufffd`)) {
			return true
		}
		text = text[2:]
	}
}

// Writer writes an index file document by document. The file appears at Close, complete and on the disk; until then a
// file at its path stays as it is. It belongs to one goroutine.
type Writer struct {
	lines  *io.PipeWriter
	buffer *bufio.Writer
	cancel context.CancelCauseFunc
	number uint64
	recent [recent]string // names of the newest documents, by their numbers
	ended  bool

	done    chan struct{} // closed when the build has ended
	summary build.Summary
	err     error
}

// recent is the number of documents whose names an error has. A build reads fewer ahead, unless they are tiny.
const recent = 1 << 14

// NewWriter begins an index file at a path, whose folder takes temporary files. Options are the options of a build without
// Format, Invalid, MaxInvalid, Stdin and Text; Options.MemoryLimit bounds the memory, 512 MiB by default. The end of ctx ends the
// writer, and leaves no file. The caller calls Close or Abort.
func NewWriter(ctx context.Context, path string, opt build.Options) (*Writer, error) {
	if err := container.CheckTarget(path); err != nil && !opt.Force {
		return nil, err
	}
	in, out := io.Pipe()
	opt.Format, opt.Invalid, opt.Stdin, opt.Text, opt.ID = build.JSONL, input.Fail, in, nil, "id"
	ctx, cancel := context.WithCancelCause(ctx)
	w := &Writer{lines: out, buffer: bufio.NewWriterSize(out, 1<<16), cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(w.done)
		w.summary, w.err = build.Build(ctx, path, []string{"-"}, opt)
		if cause := context.Cause(ctx); w.err != nil && cause != nil {
			w.err = cause
		}
		in.CloseWithError(cmp.Or(w.err, io.ErrClosedPipe))
	}()
	return w, nil
}

var errClosed = errors.New("the writer is closed")

// Add adds a document. An error names a document: this one, which is left out then, or an earlier one, after which the
// build has ended.
func (w *Writer) Add(d Document) error {
	if w.ended {
		return errClosed
	}
	line, err := d.MarshalJSON()
	if err != nil {
		return fmt.Errorf("document %q: %w", d.Name, err)
	}
	w.recent[w.number%recent] = d.Name
	w.number++
	if _, err := w.buffer.Write(append(line, '\n')); err != nil {
		<-w.done
		return w.fault()
	}
	return nil
}

// fault is the error of the build, with the name of its document.
func (w *Writer) fault() error {
	wrong, ok := errors.AsType[*input.Error](w.err)
	if !ok || wrong.Line < 1 {
		return w.err
	}
	at := uint64(wrong.Line - 1)
	if w.number-at > recent {
		return fmt.Errorf("document %d: %s", at, wrong.Reason)
	}
	return fmt.Errorf("document %d, %q: %s", at, w.recent[at%recent], wrong.Reason)
}

// Close writes the index and returns its summary. The error of a document names it.
func (w *Writer) Close() (build.Summary, error) {
	if w.ended {
		return w.summary, errClosed
	}
	w.ended = true
	w.lines.CloseWithError(w.buffer.Flush()) // an error is the error of the build
	<-w.done
	w.cancel(nil)
	return w.summary, w.fault()
}

// Abort ends the writer without an index. After Close it has no effect.
func (w *Writer) Abort() {
	if !w.ended {
		w.ended = true
		w.cancel(errClosed)
		w.lines.CloseWithError(errClosed)
		<-w.done
	}
}
