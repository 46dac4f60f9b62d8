package build

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"heddle/engine/index/analyze"
	"heddle/engine/index/hdl"
)

// text is a document that is to be analysed.
type text struct{ name, text string }

// collection is an index in the plainest form, for comparison.
type collection struct {
	names   []string
	lengths []uint32
	lists   map[string][]posting
}

type posting struct{ doc, freq uint32 }

// String has a line a document and a line a list, so that differences show.
func (c collection) String() string {
	var b strings.Builder
	for i, name := range c.names {
		fmt.Fprintf(&b, "document %d %q length %d\n", i, name, c.lengths[i])
	}
	for _, term := range slices.Sorted(maps.Keys(c.lists)) {
		fmt.Fprintf(&b, "list %q", term)
		for _, p := range c.lists[term] {
			fmt.Fprintf(&b, " %d:%d", p.doc, p.freq)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// tokens is the sum of all frequencies.
func (c collection) tokens() (n uint64) {
	for _, l := range c.lists {
		for _, p := range l {
			n += uint64(p.freq)
		}
	}
	return n
}

// invert is the oracle of all builds from texts.
func invert(t testing.TB, docs []text, set analyze.Settings) collection {
	t.Helper()
	a, err := analyze.New(set)
	if err != nil {
		t.Fatal(err)
	}
	c := collection{lists: map[string][]posting{}}
	for i, d := range docs {
		var terms []string
		for token := range a.Documents().Tokens([]byte(d.text)) {
			terms = append(terms, string(token.Term))
		}
		c.names = append(c.names, d.name)
		c.lengths = append(c.lengths, uint32(len(terms)))
		for _, term := range terms {
			l := c.lists[term]
			if n := len(l); n > 0 && l[n-1].doc == uint32(i) {
				l[n-1].freq++
			} else {
				c.lists[term] = append(l, posting{uint32(i), 1})
			}
		}
	}
	return c
}

// load reads an index file back, after a deep check.
func load(t testing.TB, path string) collection {
	t.Helper()
	f, err := hdl.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Verify(context.Background()); err != nil {
		t.Fatal(err)
	}
	c := collection{lists: map[string][]posting{}}
	for d := range f.Docs() {
		name, err := f.DocName(d)
		if err != nil {
			t.Fatal(err)
		}
		c.names = append(c.names, name)
		c.lengths = append(c.lengths, f.DocLen(d))
	}
	for h := range uint32(f.Terms()) {
		docs, err := f.Source().List(h).AppendTo(nil)
		if err != nil {
			t.Fatal(err)
		}
		freqs, err := f.Freqs(nil, h)
		if err != nil {
			t.Fatal(err)
		}
		l := make([]posting, len(docs))
		for i := range docs {
			l[i] = posting{docs[i], freqs[i]}
		}
		c.lists[f.Term(h)] = l
	}
	return c
}

// save writes files and returns their paths, in order of their names.
func save(t testing.TB, files map[string][]byte) []string {
	t.Helper()
	dir := t.TempDir()
	var paths []string
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, files[name], 0o666); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths
}

// buildAt builds into a folder that must then hold the index and nothing else,
// or nothing at all after an error.
func buildAt(t testing.TB, opt Options, inputs ...string) (string, Summary, error) {
	t.Helper()
	dir := t.TempDir()
	out := filepath.Join(dir, "index.hdl")
	sum, err := Build(context.Background(), out, inputs, opt)
	want := []string{"index.hdl"}
	if err != nil {
		want = nil
	}
	if got := names(t, dir); !slices.Equal(got, want) {
		t.Errorf("the folder holds %q after a build with error %v", got, err)
	}
	return out, sum, err
}

func names(t testing.TB, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// mustBuild builds and reads back.
func mustBuild(t testing.TB, opt Options, inputs ...string) (collection, Summary) {
	t.Helper()
	out, sum, err := buildAt(t, opt, inputs...)
	if err != nil {
		t.Fatal(err)
	}
	return load(t, out), sum
}

// buildBytes builds from one input of this name and content.
func buildBytes(t testing.TB, opt Options, name string, content []byte) (collection, error) {
	t.Helper()
	out, _, err := buildAt(t, opt, save(t, map[string][]byte{name: content})...)
	if err != nil {
		return collection{}, err
	}
	return load(t, out), nil
}

func zip(b []byte) []byte {
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	_, _ = w.Write(b)
	_ = w.Close()
	return z.Bytes()
}

func asText(docs []text) []byte {
	var b bytes.Buffer
	for _, d := range docs {
		fmt.Fprintf(&b, "%s\t%s\n", d.name, d.text)
	}
	return b.Bytes()
}

func asJSONL(docs []text) []byte {
	var b bytes.Buffer
	for _, d := range docs {
		line, _ := json.Marshal(map[string]string{"id": d.name, "contents": d.text})
		b.Write(append(line, '\n'))
	}
	return b.Bytes()
}

func asTREC(docs []text) []byte {
	var b bytes.Buffer
	for _, d := range docs {
		fmt.Fprintf(&b, "<DOC>\n<DOCNO> %s </DOCNO>\n<TEXT>\n%s\n</TEXT>\n</DOC>\n", d.name, html.EscapeString(d.text))
	}
	return b.Bytes()
}

// asPISA gives the files of a collection, by suffix, with its terms in ascending order.
func asPISA(c collection) map[string][]byte {
	return asPISAOf(c, slices.Sorted(maps.Keys(c.lists)))
}

// descending is the terms of a collection in descending order. It has two at least.
func descending(c collection) []string {
	terms := slices.Sorted(maps.Keys(c.lists))
	slices.Reverse(terms)
	return terms
}

// asPISAOf is asPISA with the terms in this order.
func asPISAOf(c collection, order []string) map[string][]byte {
	sequence := func(b []byte, values ...uint32) []byte {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(values)))
		for _, v := range values {
			b = binary.LittleEndian.AppendUint32(b, v)
		}
		return b
	}
	docs := sequence(nil, uint32(len(c.names)))
	var freqs, terms []byte
	for _, term := range order {
		var ds, fs []uint32
		for _, p := range c.lists[term] {
			ds, fs = append(ds, p.doc), append(fs, p.freq)
		}
		docs, freqs = sequence(docs, ds...), sequence(freqs, fs...)
		terms = append(append(terms, term...), '\n')
	}
	var names []byte
	for _, name := range c.names {
		names = append(append(names, name...), '\n')
	}
	return map[string][]byte{
		".docs": docs, ".freqs": freqs, ".sizes": sequence(nil, c.lengths...), ".terms": terms, ".documents": names,
	}
}

// message builds protobuf messages; zeros are left out, as proto3 has it.
type message []byte

func (m message) number(field int, v uint64) message {
	if v == 0 {
		return m
	}
	return binary.AppendUvarint(binary.AppendUvarint(m, uint64(field)<<3), v)
}

func (m message) bytes(field int, b []byte) message {
	m = binary.AppendUvarint(m, uint64(field)<<3|2)
	return append(binary.AppendUvarint(m, uint64(len(b))), b...)
}

func (m message) double(field int, v float64) message {
	m = binary.AppendUvarint(m, uint64(field)<<3|1)
	return binary.LittleEndian.AppendUint64(m, math.Float64bits(v))
}

// delimited puts the length in front.
func (m message) delimited() []byte {
	return append(binary.AppendUvarint(nil, uint64(len(m))), m...)
}

func ciffHeaderOf(c collection) message {
	length := uint64(0)
	for _, l := range c.lengths {
		length += uint64(l)
	}
	lists, docs := uint64(len(c.lists)), uint64(len(c.names))
	return message{}.number(1, 1).number(2, lists).number(3, docs).number(4, lists).number(5, docs).
		number(6, length).double(7, float64(length)/float64(max(docs, 1))).bytes(8, []byte("a test"))
}

func ciffListOf(term string, l []posting) message {
	var cf uint64
	for _, p := range l {
		cf += uint64(p.freq)
	}
	m := message{}.bytes(1, []byte(term)).number(2, uint64(len(l))).number(3, cf)
	last := uint32(0)
	for _, p := range l {
		m = m.bytes(4, message{}.number(1, uint64(p.doc-last)).number(2, uint64(p.freq)))
		last = p.doc
	}
	return m
}

// asCIFF writes the lists in the order of terms.
func asCIFF(c collection, terms []string) []byte {
	b := ciffHeaderOf(c).delimited()
	for _, term := range terms {
		b = append(b, ciffListOf(term, c.lists[term]).delimited()...)
	}
	for i, name := range c.names {
		m := message{}.number(1, uint64(i)).bytes(2, []byte(name)).number(3, uint64(c.lengths[i]))
		b = append(b, m.delimited()...)
	}
	return b
}
