package bodies

import (
	"bytes"
	"context"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"

	"connectrpc.com/connect/v2"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"heddle/engine/api"
)

// TestReader: each byte counts, and a refusal ends the body.
func TestReader(t *testing.T) {
	full := errors.New("full")
	var taken int64
	r := &Reader{io.NopCloser(strings.NewReader(strings.Repeat("a", 1000))), func(n int64) error {
		if taken += n; taken > 1500 {
			return full
		}
		return nil
	}}
	n, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{r}, make([]byte, 100))
	if n != 500 || err != full || taken != 1800 {
		t.Errorf("%d bytes, %v, %d taken", n, err, taken)
	}
}

// messages have few bytes and need much memory.
func messages(t testing.TB) map[string][]byte {
	t.Helper()
	many := make([]*api.Filter, 10_000)
	ids := make([]uint64, 10_000)
	for i := range many {
		many[i] = &api.Filter{}
	}
	all := map[string][]byte{}
	for name, m := range map[string]*api.SearchRequest{
		"messages": {Filter: &api.Filter{And: many}},
		"numbers":  {Filter: &api.Filter{Docs: &api.DocumentSet{Ids: ids}}},
		"texts":    {Terms: make([]string, 10_000)},
		"long":     {Query: strings.Repeat("a", 100_000)},
	} {
		text, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		all[name] = text
	}
	return all
}

// TestWeigh: the estimate of a message is at least the memory that the decoder uses for it, and not many times
// more.
func TestWeigh(t *testing.T) {
	for name, text := range messages(t) {
		var m api.SearchRequest
		estimate := int64(len(text)) + weigh(text, m.ProtoReflect().Descriptor(), 0)
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		if err := proto.Unmarshal(text, &m); err != nil {
			t.Fatal(err)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		if got := int64(after.HeapAlloc) - int64(before.HeapAlloc); estimate < got || estimate > 16*got+1<<16 {
			t.Errorf("%s: estimate with the text %d bytes, the message has %d", name, estimate, got)
		}
		runtime.KeepAlive(&m)
	}
}

// FuzzWeigh: any text has an estimate.
func FuzzWeigh(f *testing.F) {
	for _, text := range messages(f) {
		f.Add(text[:min(len(text), 1000)])
	}
	f.Add(bytes.Repeat([]byte{0x0b}, 1000)) // groups
	f.Fuzz(func(t *testing.T, text []byte) {
		if n := weigh(text, new(api.SearchRequest).ProtoReflect().Descriptor(), 0); n < 0 || n > 256*int64(len(text)+1)*mostDepth {
			t.Errorf("%d bytes for %d", n, len(text))
		}
	})
}

// TestCodecs: each codec decodes a message that fits, and refuses one that does not before it decodes it.
func TestCodecs(t *testing.T) {
	full := errors.New("full")
	for name, text := range map[string]string{"proto": "\x0a\x05looms\x12\x03red", "json": `{"index":"looms","query":"red"}`} {
		for _, most := range []int64{1 << 20, 10} {
			for _, c := range Codecs(func(_ context.Context, n int64) error {
				if n > most {
					return full
				}
				return nil
			}) {
				if c.Name() != name {
					continue
				}
				var m api.SearchRequest
				for _, src := range []io.Reader{bytes.NewBufferString(text), strings.NewReader(text)} {
					m.Reset()
					if err := c.UnmarshalRead(t.Context(), src, &m); most > 10 && (err != nil || m.GetIndex() != "looms" || m.GetQuery() != "red") || most == 10 && (err != full || m.GetIndex() != "") {
						t.Errorf("%s, %d bytes: %v, %v", name, most, &m, err)
					}
				}
			}
		}
	}
	codec := Codecs(func(context.Context, int64) error { return nil })[1]
	if err := codec.UnmarshalRead(t.Context(), strings.NewReader(`{"query":"\ud800"}`), new(api.SearchRequest)); err == nil {
		t.Error("half of a surrogate pair is read")
	}
}

// TestAnswers: protojson reads the JSON of an answer, which takes no allocation for each number.
func TestAnswers(t *testing.T) {
	m := &api.SearchBatchResponse{}
	for i := range 1000 {
		m.Ids, m.Scores = append(m.Ids, uint64(i)), append(m.Scores, float64(i)/7)
	}
	codec := Codecs(func(context.Context, int64) error { return nil })[1]
	var dst bytes.Buffer
	if n := testing.AllocsPerRun(10, func() {
		dst.Reset()
		if err := codec.MarshalWrite(t.Context(), &dst, m); err != nil {
			t.Fatal(err)
		}
	}); n > 20 {
		t.Errorf("%v allocations", n)
	}
	var got api.SearchBatchResponse
	if err := protojson.Unmarshal(dst.Bytes(), &got); err != nil || !proto.Equal(&got, m) {
		t.Errorf("%v: %s", err, dst.Bytes())
	}
}

// TestTexts: bytes of texts that are not UTF-8 become U+FFFD in both codecs, and other errors stay.
func TestTexts(t *testing.T) {
	for _, c := range Codecs(func(context.Context, int64) error { return nil }) {
		for _, m := range []proto.Message{
			&api.SearchResponse{Hits: []*api.Hit{{Id: 1}, {Doc: "caf\xe9"}}, Note: "é\xff", Suggestions: &api.Suggestions{Words: []*api.Correction{{Terms: []*api.Suggestion{{Term: "\xe9t\xe9"}}}}}},
			&api.SuggestResponse{Terms: []*api.Suggestion{{Term: "caf\xe9", Documents: 3}}},
			&api.Statistics{Terms: []string{"a", "b\xff\xfec"}},
		} {
			var dst bytes.Buffer
			got := m.ProtoReflect().New().Interface()
			if err := c.MarshalWrite(t.Context(), &dst, m); err != nil {
				t.Errorf("%s of %T: %v", c.Name(), m, err)
			} else if err := c.UnmarshalRead(t.Context(), &dst, got); err != nil {
				t.Errorf("%s of %T is read: %v", c.Name(), m, err)
			}
			want := proto.Clone(m)
			if !repair(want.ProtoReflect()) || !proto.Equal(got, want) || repair(got.ProtoReflect()) {
				t.Errorf("%s: %v, want %v", c.Name(), got, want)
			}
		}
		if err := c.MarshalWrite(t.Context(), new(bytes.Buffer), "no message"); err == nil {
			t.Errorf("%s writes a string", c.Name())
		}
	}
}

// TestGzip: the account of a message begins and ends with it.
func TestGzip(t *testing.T) {
	full := errors.New("full")
	open, most := 0, int64(0)
	c := Gzip(func() (Take, func()) {
		open++
		var taken int64
		return func(n int64) error {
			if taken += n; taken > most {
				return full
			}
			return nil
		}, func() { open-- }
	})
	var z bytes.Buffer
	w, err := c.Compress(&z)
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(w, strings.Repeat("a", 10_000))
	w.Close()
	if fastest := byte(4); z.Bytes()[8] != fastest {
		t.Errorf("the header has level %d, want %d", z.Bytes()[8], fastest)
	}
	for _, most = range []int64{1 << 20, 1000} {
		r, err := c.Decompress(bytes.NewReader(z.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if fits := most > 1000; fits != (err == nil && len(text) == 10_000) || !fits && err != full || open != 1 {
			t.Errorf("most %d: %d bytes, %v, %d accounts", most, len(text), err, open)
		}
		if r.Close(); open != 0 {
			t.Errorf("%d accounts stay open", open)
		}
	}
	if _, err := c.Decompress(strings.NewReader("no gzip")); err == nil || open != 0 {
		t.Errorf("%v, %d accounts", err, open)
	}
	var _ connect.Compressor = c
}
