package build

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"heddle/engine/index/analyze"
	"heddle/engine/index/bm25"
	"heddle/engine/index/build/records"
	"heddle/engine/index/hdl"
)

// TestContributions compares impacts with BM25 in floating point.
func TestContributions(t *testing.T) {
	docs := manyTexts(400)
	docs = append(docs, text{"empty", ""})
	plain := invert(t, docs, analyze.Settings{})
	sum := 0.0
	for _, n := range plain.lengths {
		sum += float64(n)
	}
	average := sum / float64(len(docs)-1) // without the empty one
	input := save(t, map[string][]byte{"a.tsv": asText(docs)})[0]
	for _, variant := range bm25.Variants() {
		for _, bits := range []uint8{8, 16} {
			opt := DefaultOptions()
			opt.Impacts, opt.Scoring = bits, bm25.Params{Variant: variant, K1: 1.2, B: 0.75}
			lengths := slices.Clone(plain.lengths)
			if variant == bm25.PISA {
				opt.Lengths = hdl.LengthsLucene
				for d, n := range lengths {
					lengths[d] = bm25.RoundLength(n)
				}
			}
			out, total, err := buildAt(t, opt, input)
			if err != nil {
				t.Fatal(err)
			}
			got, m := load(t, out), metaOf(t, out).Impacts
			limit := float64(uint32(1)<<bits - 1)
			bound := opt.Scoring.Weight(uint64(len(docs)-1), 1)
			if m != (hdl.Impacts{Bits: bits, Origin: hdl.ImpactsBM25, Scale: bound / limit, Variant: variant.String(), K1: 1.2, B: 0.75}) {
				t.Errorf("%v: %+v", variant, m)
			}
			if total.Tokens != got.tokens() || !slices.Equal(got.lengths, lengths) {
				t.Errorf("%v: sums and lengths", variant)
			}
			for term, l := range plain.lists {
				for i, p := range l {
					c := opt.Scoring.Weight(uint64(len(docs)-1), uint64(len(l))) * opt.Scoring.TF(p.freq, lengths[p.doc], average)
					want := max(c/bound*limit, 1)
					if q := got.lists[term][i]; q.doc != p.doc || math.Abs(float64(q.freq)-want) > 0.5001 {
						t.Fatalf("%v, %d bits: impact of %q in %d is %v, want %.3f", variant, bits, term, p.doc, q, want)
					}
				}
			}
		}
	}
}

// TestContributionsAnyhow sees that neither spills nor the format change a byte.
func TestContributionsAnyhow(t *testing.T) {
	docs := manyTexts(600)
	c := invert(t, docs, analyze.Settings{})
	inputs := save(t, map[string][]byte{"a.tsv": asText(docs), "b.ciff": asCIFF(c, slices.Sorted(maps.Keys(c.lists)))})
	opt := DefaultOptions()
	opt.Impacts = 16
	want, _, err := buildAt(t, opt, inputs[0])
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := mustBuild(t, opt, inputs[1]); got.String() != load(t, want).String() {
		t.Error("impacts of CIFF differ from those of texts")
	}
	opt.MemoryLimit = 1
	small, sum, err := buildAt(t, opt, inputs[0])
	if err != nil || sum.Runs == 0 {
		t.Fatalf("%d runs, %v", sum.Runs, err)
	}
	if !bytes.Equal(read(t, want), read(t, small)) {
		t.Error("the file depends on the limit of memory")
	}
}

// TestSmallestImpacts has collections where weights are 0 or there is nothing to
// weigh.
func TestSmallestImpacts(t *testing.T) {
	for name, content := range map[string]string{"nothing": "", "an empty document": "a\t\n", "one document": "a\tloom loom warp\n", "two": "a\tloom\nb\tloom\n"} {
		for _, variant := range bm25.Variants() {
			opt := DefaultOptions()
			opt.Format, opt.Impacts, opt.Scoring.Variant = Text, 8, variant
			c, err := buildBytes(t, opt, "a.tsv", []byte(content))
			if err != nil {
				t.Errorf("%s, %v: %v", name, variant, err)
			}
			for term, l := range c.lists {
				for _, p := range l {
					if p.freq < 1 || p.freq > 255 {
						t.Errorf("%s, %v: %q has impact %d", name, variant, term, p.freq)
					}
				}
			}
		}
	}
	for _, opt := range []Options{{Impacts: 7}, {Impacts: 8, Scoring: bm25.Params{K1: -1}}, {Impacts: 8, Scoring: bm25.Params{B: math.NaN()}}} {
		if _, err := buildBytes(t, opt, "a.tsv", []byte("a\tb\n")); err == nil {
			t.Errorf("%+v is accepted", opt)
		}
	}
}

// TestStoredTexts builds from every format of texts.
func TestStoredTexts(t *testing.T) {
	docs := manyTexts(300)
	docs[7].text, docs[8].text = "", strings.TrimSpace(strings.Repeat("a long line of text ", 5000))
	for name, content := range map[string][]byte{"a.tsv": asText(docs), "a.jsonl": asJSONL(docs), "a.trec": asTREC(docs)} {
		var files [][]byte
		for _, limit := range []uint64{0, 1} {
			opt := DefaultOptions()
			opt.Store, opt.MemoryLimit = hdl.StoreText, limit
			out, _, err := buildAt(t, opt, save(t, map[string][]byte{name: content})...)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, read(t, out))
			if limit == 1 {
				continue
			}
			f, err := hdl.Open(out)
			if err != nil {
				t.Fatal(err)
			}
			for i, d := range docs {
				if got, err := f.Document(uint32(i)); err != nil || got != strings.TrimSpace(d.text) {
					t.Errorf("%s: text %d is %.60q, %v, want %.60q", name, i, got, err, d.text)
				}
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		}
		if !bytes.Equal(files[0], files[1]) {
			t.Errorf("%s: the file depends on the limit of memory", name)
		}
	}
}

// TestStoredSources stores objects of JSON lines, and finds their texts in them.
func TestStoredSources(t *testing.T) {
	lines := []string{
		`{"id":"a","title":"red","text":["warp","weft"],"year":1801}`, "  {\"id\" : \"b\", \"text\" : null}\t", "{\"id\":\"c\",\"text\":\"x\xff\"}", `{"id":"d","meta":{"body":"blue"},"text":"y"}`,
	}
	for members, texts := range map[string][]string{"": {"red\nwarp\nweft", "", "x\ufffd", "y"}, "text,meta.body": {"warp\nweft", "", "x\ufffd", "y\nblue"}} {
		opt := DefaultOptions()
		opt.Store, opt.MaxInvalid = hdl.StoreSource, 1
		if members != "" {
			opt.Text = strings.Split(members, ",")
		}
		out, _, err := buildAt(t, opt, save(t, map[string][]byte{"a.jsonl": []byte(strings.Join(lines, "\n"))})...)
		if err != nil {
			t.Fatal(err)
		}
		f, err := hdl.Open(out)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for d, line := range lines {
			want := strings.ToValidUTF8(strings.TrimSpace(line), "\ufffd")
			if got, err := f.Document(uint32(d)); err != nil || got != want {
				t.Errorf("document %d is %q, %v, want %q", d, got, err, want)
			}
			if got, err := records.TextOf(f, uint32(d)); err != nil || got != texts[d] {
				t.Errorf("members %q: text %d is %q, %v, want %q", members, d, got, err, texts[d])
			}
		}
	}
}

// TestInvertedTexts asks for texts that are not there.
func TestInvertedTexts(t *testing.T) {
	c := smallCollection()
	files := map[string][]byte{"a.ciff": asCIFF(c, slices.Sorted(maps.Keys(c.lists)))}
	for suffix, b := range asPISA(c) {
		files["b"+suffix] = b
	}
	dir := filepath.Dir(save(t, files)[0])
	for _, input := range []string{"a.ciff", "b.docs"} {
		opt := DefaultOptions()
		opt.Store = hdl.StoreText
		if _, _, err := buildAt(t, opt, filepath.Join(dir, input)); err == nil || !strings.Contains(err.Error(), "no documents that could be stored") {
			t.Errorf("%s: %v", input, err)
		}
	}
}

// TestVectorTexts stores the text beside a vector.
func TestVectorTexts(t *testing.T) {
	opt := DefaultOptions()
	opt.Store = hdl.StoreText
	out, _, err := buildAt(t, opt, save(t, map[string][]byte{"a.jsonl": []byte(`{"vector":{"a":1},"title":"T","contents":" two\nlines "}` + "\n" + `{"vector":{"b":1}}` + "\n")})...)
	if err != nil {
		t.Fatal(err)
	}
	f, err := hdl.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var got []string
	for d := range f.Docs() {
		text, err := f.Document(d)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, text)
	}
	if fmt.Sprintf("%q", got) != `["T\n two\nlines" ""]` {
		t.Errorf("texts %q", got)
	}
}
