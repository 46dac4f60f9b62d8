package build

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"heddle/engine/index/analyze"
	"heddle/engine/index/hdl"
	"heddle/engine/plan/testneeds"
)

// weights are vectors in the plainest form, a map a document.
type weights []map[string]float64

// asVectors writes an object a line, documents named by their numbers.
func (v weights) asVectors(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	for i, doc := range v {
		line, err := json.Marshal(map[string]any{"id": i, "vector": doc})
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(line, '\n'))
	}
	return b.Bytes()
}

// invert is the oracle: number turns a weight into the frequency.
func (v weights) invert(number func(float64) uint32, impacts bool) collection {
	c := collection{lists: map[string][]posting{}}
	for i, doc := range v {
		length := uint32(len(doc))
		for term, w := range doc {
			c.lists[term] = append(c.lists[term], posting{uint32(i), number(w)})
			if !impacts {
				length += uint32(w) - 1
			}
		}
		c.names, c.lengths = append(c.names, fmt.Sprint(i)), append(c.lengths, length)
	}
	return c
}

// metaOf reads the description in a file.
func metaOf(t testing.TB, path string) hdl.Meta {
	t.Helper()
	f, err := hdl.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	return f.Meta()
}

func TestVectors(t *testing.T) {
	content := `{"id":"a","vector":{"##ing": 2 , "the loom":1,"none":0,"nil":-0.0,"\u00dfA\"":3.0e0,"":1}}
{"id":"b","VECTOR":{},"contents":"ignored among the terms"}
{"vector":{ "##ing":4294967295 },"id":7}
`
	want := collection{
		names: []string{"a", "b", "7"}, lengths: []uint32{7, 0, math.MaxUint32},
		lists: map[string][]posting{"##ing": {{0, 2}, {2, math.MaxUint32}}, "the loom": {{0, 1}}, "ßA\"": {{0, 3}}, "": {{0, 1}}},
	}
	out, sum, err := buildAt(t, DefaultOptions(), save(t, map[string][]byte{"a.jsonl": []byte(content)})...)
	if err != nil {
		t.Fatal(err)
	}
	if got := load(t, out); got.String() != want.String() || sum.Tokens != 7+math.MaxUint32 {
		t.Errorf("the index is\n%s\nwant\n%s", got, want)
	}
	m := metaOf(t, out)
	if m.Analysis.Tokens != analyze.TokensSpaces || m.Analysis.Stemmer != analyze.StemNone || m.Impacts.Bits != 0 {
		t.Errorf("meta %+v", m)
	}
}

// TestVectorImpacts compares with impacts computed by hand.
func TestVectorImpacts(t *testing.T) {
	for _, c := range []struct {
		name  string
		bits  uint8
		in    []float64
		want  []uint32
		scale float64
	}{
		{"whole numbers that fit", 8, []float64{1, 3, 255}, []uint32{1, 3, 255}, 1},
		{"whole numbers that just do not fit", 8, []float64{1, 128, 256}, []uint32{1, 128, 255}, 256.0 / 255},
		{"fractions", 8, []float64{0.001, 1, 2, 0.5}, []uint32{1, 128, 255, 64}, 2.0 / 255},
		{"a small fraction among whole numbers", 16, []float64{0.25, 2}, []uint32{8192, 65535}, 2.0 / 65535},
		{"whole numbers of 16 bits", 16, []float64{65535, 300}, []uint32{65535, 300}, 1},
		{"the ends of the range", 8, []float64{math.MaxFloat32, 1e-300}, []uint32{255, 1}, math.MaxFloat32 / 255},
		{"smallest alone", 16, []float64{5e-324}, []uint32{65535}, math.SmallestNonzeroFloat32 / 65535},
	} {
		var docs weights
		for _, w := range c.in {
			docs = append(docs, map[string]float64{"x": w})
		}
		opt := DefaultOptions()
		opt.Impacts = c.bits
		out, _, err := buildAt(t, opt, save(t, map[string][]byte{"a.jsonl": docs.asVectors(t)})...)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		var got []uint32
		for _, p := range load(t, out).lists["x"] {
			got = append(got, p.freq)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: impacts %v, want %v", c.name, got, c.want)
		}
		want := hdl.Impacts{Bits: c.bits, Origin: hdl.ImpactsWeights, Scale: c.scale}
		if m := metaOf(t, out).Impacts; m.Bits != want.Bits || m.Origin != want.Origin || math.Abs(m.Scale/want.Scale-1) > 1e-12 || m.Variant != "" {
			t.Errorf("%s: %+v, want %+v", c.name, m, want)
		}
	}
}

// TestWeigherJoin: a fraction of any part makes the weights fractions.
func TestWeigherJoin(t *testing.T) {
	for _, c := range [][2]bool{{false, false}, {true, false}, {false, true}} {
		w := weigher{largest: 2, broken: c[0]}
		w.join(&weigher{largest: 3, broken: c[1]})
		if w.broken != (c[0] || c[1]) || w.largest != 3 {
			t.Errorf("%v: %+v", c, w)
		}
	}
}

// TestVectorsAnyhow builds drawn vectors under drawn limits, workers and inputs, and
// compares with the oracle; the file must not depend on limits and workers.
func TestVectorsAnyhow(t *testing.T) {
	testneeds.Long(t)
	term := rapid.OneOf(rapid.SampledFrom([]string{"##ing", "the", "The", " ", "\"", "\\u", "漢", "\ufffd"}), rapid.StringN(0, 4, -1))
	rapid.Check(t, func(r *rapid.T) {
		bits := rapid.SampledFrom([]uint8{0, 8, 16}).Draw(r, "bits")
		value := rapid.Map(rapid.Uint32Range(1, 1<<16), func(v uint32) float64 { return float64(v) })
		if bits > 0 && rapid.Bool().Draw(r, "fractions") {
			value = rapid.Float64Range(1e-3, 300)
		}
		docs := weights(rapid.SliceOfN(rapid.MapOfN(term, value, 0, 8), 0, 40).Draw(r, "documents"))
		largest, whole := 0.0, true
		for _, d := range docs {
			for _, w := range d {
				largest, whole = max(largest, w), whole && w == math.Trunc(w)
			}
		}
		limit := float64(uint32(1)<<bits - 1)
		number := func(w float64) uint32 {
			if bits > 0 && !(whole && largest <= limit) {
				w = max(math.Round(float64(float32(w))*limit/float64(float32(largest))), 1)
			}
			return uint32(w)
		}
		lines := bytes.SplitAfter(docs.asVectors(t), []byte("\n"))
		cut := rapid.IntRange(0, len(lines)).Draw(r, "cut")
		inputs := save(t, map[string][]byte{"1.jsonl": bytes.Join(lines[:cut], nil), "2.jsonl": bytes.Join(lines[cut:], nil)})
		opt := DefaultOptions()
		opt.Impacts = bits
		whole1, _, err := buildAt(t, opt, inputs...)
		if err != nil {
			r.Fatal(err)
		}
		got, want := load(t, whole1), docs.invert(number, bits > 0)
		if !near(got, want) {
			r.Fatalf("the index is\n%s\nwant\n%s", got, want)
		}
		if rapid.IntRange(0, 3).Draw(r, "again") > 0 { // a build takes its time
			return
		}
		opt.MemoryLimit, opt.Workers = 1, rapid.IntRange(1, 3).Draw(r, "workers")
		small, _, err := buildAt(t, opt, inputs...)
		if err != nil {
			r.Fatal(err)
		}
		if a, b := read(t, whole1), read(t, small); !bytes.Equal(a, b) {
			r.Fatal("the file depends on the limit of memory")
		}
	})
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// near compares collections whose impacts may differ by one where a half is rounded.
func near(x, y collection) bool {
	if !slices.Equal(x.names, y.names) || !slices.Equal(x.lengths, y.lengths) || len(x.lists) != len(y.lists) {
		return false
	}
	for term, l := range x.lists {
		if !slices.EqualFunc(l, y.lists[term], func(p, q posting) bool {
			return p.doc == q.doc && p.freq-q.freq+1 <= 2
		}) {
			return false
		}
	}
	return true
}

func TestMalformedVectors(t *testing.T) {
	long := strings.Repeat("x", hdl.MaxTermLen+1)
	for _, c := range []struct {
		line    string
		impacts uint8
		reason  string
	}{
		{`{"vector":[1]}`, 0, "a vector is [1], not an object"},
		{`{"vector":5}`, 8, "a vector is 5, not an object"},
		{`{"vector":"a"}`, 8, `a vector is "a", not an object`},
		{`{"vector":{"a":"1"}}`, 8, `the weight of "a" is "1", no`},
		{`{"vector":{"b":1,"a":{"x":1}}}`, 8, `the weight of "a" is {"x":1}, no`},
		{`{"vector":{"a":null}}`, 8, `the weight of "a" is null`},
		{`{"vector":{"a":true}}`, 8, `the weight of "a" is true`},
		{`{"id":"d7","vector":{"a":-2}}`, 0, `document "d7": the weight of "a" is -2: weights are positive, or 0`},
		{`{"vector":{"a":1,"b":-1e-9}}`, 8, `document "2": the weight of "b" is -1e-09`},
		{`{"vector":{"a":1e999}}`, 8, `the weight of "a" is 1e999, no`},
		{`{"vector":{"a":1e39}}`, 8, `the weight of "a" is 1e+39: weights are at most 3.4028235e+38`},
		{`{"vector":{"a":1.5}}`, 0, `the weight of "a" is 1.5: without impacts, weights are whole numbers`},
		{`{"vector":{"a":4294967296}}`, 0, `at most 4294967295`},
		{`{"vector":{"a":4294967295,"b":1}}`, 0, `the weights of a vector add up to 4294967296`},
		{`{"vector":{"a":1,"b":2,"\u0061":1}}`, 0, `the term "a" comes twice`},
		{`{"vector":{"` + long + `":1}}`, 0, "65537 bytes; at most 65536"},
		{`{"vector":null}`, 0, "none of the members"},
		{`{"vector":{"a":1}`, 0, "cut off"},
		{`{"text":"a"}`, 0, "a document without a vector behind documents with one"},
	} {
		opt := DefaultOptions()
		opt.Impacts = c.impacts
		_, err := buildBytes(t, opt, "a.jsonl", []byte("{\"vector\":{\"good\":1}}\n"+c.line+"\n"))
		if e := inputError(t, c.line[:min(len(c.line), 60)], err, c.reason); e.Line != 2 {
			t.Errorf("%.60s: line %d", c.line, e.Line)
		}
	}
}

// TestKinds mixes vectors with texts, in one chunk, in several inputs, and with settings
// that change terms.
func TestKinds(t *testing.T) {
	vector, text := []byte("{\"vector\":{\"a\":1}}\n"), []byte("{\"text\":\"a\"}\n")
	many := bytes.Repeat(text, 2000)
	_, err := buildBytes(t, DefaultOptions(), "a.jsonl", slices.Concat(text, vector))
	if e := inputError(t, "one chunk", err, "a document with a vector behind documents without"); e.Line != 2 {
		t.Errorf("line %d", e.Line)
	}
	small := DefaultOptions()
	small.MemoryLimit = 1
	_, err = buildBytes(t, small, "a.jsonl", slices.Concat(many, vector))
	inputError(t, "several chunks", err, "a document with a vector behind documents without")
	_, err = buildBytes(t, small, "a.jsonl", slices.Concat(vector, many))
	inputError(t, "several chunks", err, "a document without a vector behind documents with one")

	c := smallCollection()
	inputs := save(t, map[string][]byte{"a.jsonl": vector, "b.ciff": asCIFF(c, slices.Sorted(maps.Keys(c.lists)))})
	_, _, err = buildAt(t, DefaultOptions(), inputs...)
	inputError(t, "CIFF behind vectors", err, "inverted lists behind documents with vectors")
	_, _, err = buildAt(t, DefaultOptions(), inputs[1], inputs[0])
	inputError(t, "vectors behind CIFF", err, "a document with a vector behind documents without")

	for _, opt := range []Options{{Stem: analyze.StemEnglish}, {StopWords: []string{"the"}}} {
		_, err = buildBytes(t, opt, "a.jsonl", vector)
		inputError(t, "analysis", err, "no folding, stemmer or stop words")
	}
	if _, err := buildBytes(t, Options{Tokens: analyze.TokensSpaces}, "a.jsonl", vector); err != nil {
		t.Error(err)
	}
}

// TestSpaces cuts texts at white space alone.
func TestSpaces(t *testing.T) {
	opt := DefaultOptions()
	opt.Tokens = analyze.TokensSpaces
	got, err := buildBytes(t, opt, "a.tsv", []byte("a\tThe ##ing  the\n"))
	want := collection{names: []string{"a"}, lengths: []uint32{3}, lists: map[string][]posting{"The": {{0, 1}}, "##ing": {{0, 1}}, "the": {{0, 1}}}}
	if err != nil || got.String() != want.String() {
		t.Errorf("%v, the index is\n%s\nwant\n%s", err, got, want)
	}
}
