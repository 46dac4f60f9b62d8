package build

import (
	"bytes"
	"context"
	"errors"
	"io"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"heddle/engine/file/input"
	"heddle/engine/index/analyze"
)

// silent is an input that gives its text and then blocks for ever.
type silent struct {
	text io.Reader
	end  chan struct{}
}

func (s *silent) Read(p []byte) (int, error) {
	if n, err := s.text.Read(p); err == nil {
		return n, nil
	}
	<-s.end
	return 0, io.EOF
}

func TestCancelBlockedInput(t *testing.T) {
	c := smallCollection()
	ciff := asCIFF(c, []string{"one", "two", "weft", "empty"})
	for format, content := range map[Format][]byte{
		Auto: nil, Text: asText(manyTexts(2000)), JSONL: asJSONL(manyTexts(10)), TREC: asTREC(manyTexts(10)), CIFF: ciff[:len(ciff)-3],
	} {
		dir := t.TempDir()
		ctx, cancel := context.WithCancel(context.Background())
		in := &silent{bytes.NewReader(content), make(chan struct{})}
		defer close(in.end)
		opt := DefaultOptions()
		opt.Format, opt.Stdin, opt.MemoryLimit = format, in, 1
		time.AfterFunc(50*time.Millisecond, cancel)
		if _, err := Build(ctx, filepath.Join(dir, "x.hdl"), []string{"-"}, opt); !errors.Is(err, context.Canceled) || errors.Is(err, input.ErrCorrupt) {
			t.Errorf("%s: error %v", format, err)
		}
		if left := names(t, dir); len(left) > 0 {
			t.Errorf("%s: left behind: %q", format, left)
		}
	}
}

// TestCancelAnywhere cancels after an ever longer time, until a build succeeds,
// and checks that nothing stays behind.
func TestCancelAnywhere(t *testing.T) {
	docs := manyTexts(1500)
	files := map[string][]byte{"a.tsv": asText(docs)}
	set := analyze.Settings{}
	for suffix, b := range asPISA(invert(t, docs[:200], set)) {
		files["b"+suffix] = b
	}
	dir := filepath.Dir(save(t, files)[0])
	inputs := []string{filepath.Join(dir, "a.tsv"), filepath.Join(dir, "b"), filepath.Join(dir, "a.tsv")}
	before := runtime.NumGoroutine()
	cancelled := 0
	for after := time.Duration(0); ; after = after*5/4 + time.Millisecond {
		ctx, cancel := context.WithTimeout(context.Background(), after)
		out := t.TempDir()
		opt := DefaultOptions()
		opt.MemoryLimit = 1
		_, err := Build(ctx, filepath.Join(out, "x.hdl"), inputs, opt)
		cancel()
		if err == nil {
			break
		}
		cancelled++
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("after %v: error %v", after, err)
		}
		if left := names(t, out); len(left) > 0 {
			t.Fatalf("after %v: left behind: %q", after, left)
		}
	}
	if cancelled == 0 {
		t.Error("no build was cancelled")
	}
	for runtime.NumGoroutine() > before { // up to the time-out of the test
		time.Sleep(time.Millisecond)
	}
}

// TestCancelMerge cancels when the reading is over.
func TestCancelMerge(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	input := save(t, map[string][]byte{"a.tsv": asText(manyTexts(500))})[0]
	opt := DefaultOptions()
	opt.Progress = func(done, total int64, docs uint64) {
		if docs == 500 {
			cancel()
		}
	}
	dir := t.TempDir()
	if _, err := Build(ctx, filepath.Join(dir, "x.hdl"), []string{input}, opt); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if left := names(t, dir); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

func TestStandardInput(t *testing.T) {
	docs := manyTexts(300)
	want := invert(t, docs, analyze.Settings{}).String()
	for _, content := range [][]byte{asText(docs), asJSONL(docs), asTREC(docs), zip(asText(docs)), zip(asTREC(docs))} {
		opt := DefaultOptions()
		opt.Stdin = &trickle{content}
		if got, sum := mustBuild(t, opt, "-"); got.String() != want || sum.ReadBytes != int64(len(content)) {
			t.Errorf("%.20q...: a wrong index", content)
		}
	}
	opt := DefaultOptions()
	opt.Stdin = &trickle{[]byte("a\tb\n{")}
	opt.Format = JSONL
	_, _, err := buildAt(t, opt, "-")
	if e := inputError(t, "standard input", err, "incorrect JSON: byte"); e.Path != "-" || e.Line != 1 {
		t.Errorf("error %v", err)
	}
}

// trickle gives its bytes in pieces of odd sizes, as a pipe may.
type trickle struct{ rest []byte }

func (r *trickle) Read(p []byte) (int, error) {
	if len(r.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), 1+len(r.rest)%977)], r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// TestReadErrorsPassThrough keeps errors of the system apart from corrupt data.
func TestReadErrorsPassThrough(t *testing.T) {
	broken := errors.New("the disk is on fire")
	for _, format := range []Format{Auto, Text, JSONL, TREC, CIFF} {
		for _, content := range []string{"", "<DOC>", "\x02\x08\x01", "{\"text\":\"x\"}\n"} {
			opt := DefaultOptions()
			opt.Format = format
			opt.Stdin = io.MultiReader(bytes.NewReader([]byte(content)), failing{broken})
			_, _, err := buildAt(t, opt, "-")
			if wellFormed := errors.Is(err, broken); !wellFormed && !errors.Is(err, input.ErrCorrupt) {
				t.Errorf("%s, %q: error %v", format, content, err)
			} else if !wellFormed && (format == Auto || format == TREC || format == CIFF && content == "") {
				t.Errorf("%s, %q: error %v, want that of the reader", format, content, err)
			}
		}
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
