package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// feed runs lines through events and returns the leaves and the printed text.
func feed(lines ...string) ([]result, string) {
	var screen bytes.Buffer
	e := newEvents(io.Discard, &screen)
	for _, l := range lines {
		e.line([]byte(l + "\n"))
	}
	return e.leaves(), screen.String()
}

func names(rs []result) (list []string) {
	for _, r := range rs {
		list = append(list, r.Action+" "+r.Test)
	}
	return list
}

func TestEvents(t *testing.T) {
	for name, c := range map[string]struct {
		lines  []string
		want   []string
		screen string // part of it
	}{
		"a parent counts as its subtests": {
			[]string{`{"Action":"pass","Package":"p","Test":"A/x"}`, `{"Action":"fail","Package":"p","Test":"A/y"}`,
				`{"Action":"fail","Package":"p","Test":"A"}`, `{"Action":"fail","Package":"p"}`},
			[]string{"pass A/x", "fail A/y"}, "FAIL  p A/y",
		},
		"a parent that fails by itself counts": {
			[]string{`{"Action":"pass","Package":"p","Test":"A/x"}`, `{"Action":"fail","Package":"p","Test":"A"}`},
			[]string{"pass A/x", "fail A"}, "FAIL  p A",
		},
		"output of what failed is shown": {
			[]string{`{"Action":"output","Package":"p","Test":"A","Output":"    a_test.go:3: because\n"}`, `{"Action":"fail","Package":"p","Test":"A"}`},
			[]string{"fail A"}, "because",
		},
		"a package that does not build": {
			[]string{`{"ImportPath":"p","Action":"build-output","Output":"undefined: x\n"}`, `{"Action":"fail","Package":"p"}`},
			[]string{"fail (package)"}, "undefined: x",
		},
		"a process that dies within a test": {
			[]string{`{"Action":"output","Package":"p","Test":"A","Output":"last words\n"}`, `{"Action":"fail","Package":"p"}`},
			[]string{"fail (package)"}, "last words",
		},
		"a process that dies within a test after another test failed": {
			[]string{`{"Action":"fail","Package":"p","Test":"A"}`, `{"Action":"output","Package":"p","Test":"B","Output":"last words\n"}`, `{"Action":"fail","Package":"p"}`},
			[]string{"fail A", "fail (package)"}, "last words",
		},
		"no events, no tests": {[]string{"go: no such thing", "{not JSON"}, nil, "go: no such thing"},
		"a package without tests": {
			[]string{`{"Action":"skip","Package":"p"}`, `{"Action":"pass","Package":"q"}`}, nil, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			rs, screen := feed(c.lines...)
			if !slices.Equal(names(rs), c.want) || !strings.Contains(screen, c.screen) {
				t.Errorf("got %v and %q, want %v and %q", names(rs), screen, c.want, c.screen)
			}
		})
	}
}

// TestFoldStacks: like goroutines of a dump are written once. Arguments, addresses and the time that they
// have waited may differ, states and calls may not.
func TestFoldStacks(t *testing.T) {
	dump := func(number, state, calls, line string) string {
		return "goroutine " + number + " [" + state + "]:\np.(*T)." + calls + "(0x" + number + ", {0x1?, 0x2})\n\t/p/a.go:" + line + " +0x" + number +
			"\ncreated by p.Start in goroutine " + number + "\n\t/p/a.go:3 +0x1d\n"
	}
	first, like := dump("1", "select, 2 minutes", "wait", "7"), dump("22", "select", "wait", "7")
	lone := dump("3", "chan receive", "wait", "7") + "\n" + dump("4", "select", "give", "7") + "\n" + dump("5", "select", "wait", "8")
	text := "panic: test timed out after 2s\n\n" + first + "\n" + like + "\n" + lone + "\n" + like
	want := "panic: test timed out after 2s\n\n3 goroutines with this stack:\n" + first + "\n" + lone
	if got := foldStacks(text); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for _, text := range []string{"", "\n", "a\n\nb\n\na\n\n\n\nb\n"} {
		if got := foldStacks(text); got != text {
			t.Errorf("got %q, want %q", got, text)
		}
	}
}

func TestSkipReason(t *testing.T) {
	for out, want := range map[string]string{
		"=== RUN   A\n    a_test.go:7: no device\n--- SKIP: A (0.00s)\n":    "no device",
		"    a_test.go:7: first\n    sub/b_test.go:70: then\n--- SKIP: A\n": "then",
		"--- SKIP: A (0.00s)\n": "no reason given",
	} {
		if got := skipReason(out); got != want {
			t.Errorf("skipReason(%q) = %q, want %q", out, got, want)
		}
	}
}

// TestRun goes through the commands as the scripts do.
func TestRun(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, c := range []struct {
		args string
		ok   bool
	}{
		{"check a good true", true},
		{"check a bad false", false},
		{"check a absent ./no-such-program", false},
		{"skip b tool missing", true},
		{"test c echo", false}, // ran no test
		{"test d false", false},
	} {
		ok, err := run(strings.Fields(c.args))
		if err != nil || ok != c.ok {
			t.Errorf("%s: %v, %v, want %v", c.args, ok, err, c.ok)
		}
	}
	if _, err := run([]string{"check", "a"}); err == nil {
		t.Error("a command without arguments is no error")
	}
	for labels, want := range map[string]string{
		"":      "1 passed, 4 failed, 1 skipped\n",
		"a":     "1 passed, 2 failed, 0 skipped\n",
		"b":     "0 passed, 0 failed, 1 skipped\n",
		"never": "0 passed, 0 failed, 0 skipped\n",
	} {
		var out bytes.Buffer
		ok, err := total(&out, strings.Fields(labels))
		if err != nil || ok || !strings.HasSuffix(out.String(), "\n"+want) {
			t.Errorf("total %q: %v, %v, %q", labels, ok, err, out.String())
		}
		if labels == "b" && !strings.Contains(out.String(), "     1  b: missing") {
			t.Errorf("the reason of the skip is missing: %q", out.String())
		}
	}
	if ok, err := run(strings.Fields("check good good true")); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if ok, err := total(io.Discard, []string{"good"}); !ok || err != nil {
		t.Errorf("total of what passed: %v, %v", ok, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "broken.json"), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := total(io.Discard, []string{"broken"}); err == nil {
		t.Error("a broken file of results is no error")
	}
}

func TestSkipped(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	lines := `{"Action":"pass","Package":"p","Test":"Whole"}
{"Action":"pass","Package":"p","Test":"Part/one"}
{"Action":"skip","Package":"p","Test":"Part/two"}
{"Action":"skip","Package":"p","Test":"Alone"}
{"Action":"skip","Package":"q","Test":"Other"}
`
	if err := os.WriteFile(filepath.Join(dir, "a.json"), []byte(lines), 0o644); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{"a p": "^(Alone|Part)$\n", "a r": "", "never p": ""} {
		var out bytes.Buffer
		f := strings.Fields(args)
		if err := skipped(&out, f[0], f[1]); err != nil || out.String() != want {
			t.Errorf("skipped %s: %q, %v, want %q", args, out.String(), err, want)
		}
	}
}

func TestCost(t *testing.T) {
	var screen bytes.Buffer
	e := newEvents(io.Discard, &screen)
	e.line([]byte(`{"Action":"output","Package":"p","Output":"tally: 1.500000 s of CPU time\n"}`))
	e.line([]byte(`{"Action":"output","Package":"q","Output":"tally: 12.250000 s of CPU time\n"}`))
	e.line([]byte(`{"Action":"output","Package":"r","Output":"tally: none\n"}`))
	printCosts(&screen, e.costs)
	if want := "    12.2 s of CPU time  q\n     1.5 s of CPU time  p\n"; screen.String() != want {
		t.Errorf("got %q, want %q", screen.String(), want)
	}
}
