package demo

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const text = "../../../../" + DefaultText

// TestRun runs the demonstration, which fails if two backends disagree.
func TestRun(t *testing.T) {
	index := filepath.Join(t.TempDir(), "sub", "kjv.hdl")
	var out, log bytes.Buffer
	if err := Run(t.Context(), Options{Text: text, Index: index}, &out, &log); err != nil {
		t.Fatal(err)
	}
	t.Logf("%s%s", out.String(), log.String())
	if _, err := os.Stat(index); err != nil {
		t.Error(err)
	}
	for _, want := range []string{
		"31,102 verses, 789,683 words",
		"Ge1:1 In the beginning God created",
		"1Cor13:13 And now abideth faith, hope",
		"queries per second",
		"with a scan of the text, for 25 queries and all algorithms",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the report lacks %q", want)
		}
	}
	for _, q := range queries {
		if !strings.Contains(out.String(), "\n"+cut(q, queryWidth)) {
			t.Errorf("the report lacks the query %q", q)
		}
	}
}

// TestScanner compares the scan with known counts of the text.
func TestScanner(t *testing.T) {
	verses, err := readVerses(text)
	if err != nil {
		t.Fatal(err)
	}
	s := newScanner(verses)
	if len(verses) != 31102 || verses[0].ref != "Ge1:1" || verses[31101].ref != "Rev22:21" {
		t.Fatalf("%d verses from %s", len(verses), verses[0].ref)
	}
	for query, want := range map[string][]string{
		"jesus wept":             {"Mat26:75", "Mark14:72", "John11:35"},
		"Faith, hope: CHARITY!":  {"1Cor13:13"},
		"let there be computers": nil,
		"":                       nil,
	} {
		var got []string
		for _, d := range s.search(query) {
			got = append(got, verses[d].ref)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: got %v, want %v", query, got, want)
		}
	}
}

func TestWords(t *testing.T) {
	for in, want := range map[string]string{
		"The LORD is my shepherd;": "the|lord|is|my|shepherd",
		"king's  sons' 'tis":       "king's|sons|tis",
		"Beth-el, a:b 12":          "beth|el|a:b|12",
		" .,; ":                    "",
	} {
		if got := strings.Join(words(in), "|"); got != want {
			t.Errorf("words(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestDifference(t *testing.T) {
	verses := []verse{{ref: "A"}, {ref: "B"}, {ref: "C"}}
	for _, c := range []struct {
		got, want []uint32
		text      string
	}{
		{[]uint32{0, 1}, []uint32{0}, "B should not be there"},
		{[]uint32{0}, []uint32{0, 2}, "C is missing"},
		{[]uint32{2, 0}, []uint32{0, 2}, "the order is not ascending"},
	} {
		if got := difference(verses, c.got, c.want); got != c.text {
			t.Errorf("difference(%v, %v) = %q, want %q", c.got, c.want, got, c.text)
		}
	}
}

// TestDisagreement checks that a wrong answer is detected.
func TestDisagreement(t *testing.T) {
	path := filepath.Join(t.TempDir(), "v.gz")
	gz(t, path, "A\tin the beginning\nB\tbegat\n")
	index := filepath.Join(t.TempDir(), "v.hdl")
	if err := Run(t.Context(), Options{Text: path, Index: index}, &bytes.Buffer{}, &bytes.Buffer{}); err != nil {
		t.Fatal(err)
	}
	backends, err := (&Options{}).openAll(t.Context(), index, &bytes.Buffer{})
	if err != nil {
		t.Fatal(err)
	}
	answers := make([][]uint32, len(queries))
	answers[0] = []uint32{1} // "in the beginning" is in verse 0
	for _, b := range backends {
		err := b.ask(t.Context(), []verse{{ref: "A"}, {ref: "B"}}, answers)
		if err == nil || !strings.Contains(err.Error(), "A should not be there") {
			t.Errorf("%s: %v", b.label, err)
		}
		if err := b.index.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestBadInput(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, []byte("A\ttext without compression\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	noTab := filepath.Join(dir, "notab.gz")
	gz(t, noTab, "A\ttext\nB text\n")
	for path, want := range map[string]string{
		filepath.Join(dir, "absent"): "no such file",
		plain:                        "gzip",
		noTab:                        "line 2 has no tab",
	} {
		index := filepath.Join(dir, "x.hdl")
		err := Run(t.Context(), Options{Text: path, Index: index}, &bytes.Buffer{}, &bytes.Buffer{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
		if _, err := os.Stat(index); err == nil {
			t.Errorf("%s: an index was left behind", path)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Run(ctx, Options{Text: text, Index: filepath.Join(dir, "c.hdl")}, &bytes.Buffer{}, &bytes.Buffer{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestNumbers(t *testing.T) {
	for n, want := range map[uint64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567"} {
		if got := thousands(n); got != want {
			t.Errorf("thousands(%d) = %q, want %q", n, got, want)
		}
	}
	for in, want := range map[string]string{"short": "short", "in the beginning, God": "in the beginning…"} {
		if got := cut(in, 18); got != want {
			t.Errorf("cut(%q) = %q, want %q", in, got, want)
		}
	}
}

func gz(t *testing.T, path, content string) {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(content)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
