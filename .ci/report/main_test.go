package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReport(t *testing.T) {
	for name, c := range map[string]struct {
		lines, record []string
		screen        string // part of it
	}{
		"a parent counts as its subtests": {
			[]string{`{"Action":"pass","Package":"p","Test":"A/x"}`, `{"Action":"fail","Package":"p","Test":"A/y"}`,
				`{"Action":"fail","Package":"p","Test":"A"}`, `{"Action":"fail","Package":"p"}`},
			[]string{"pass\tp\tA/x\t", "fail\tp\tA/y\t"}, "FAIL  l  p A/y",
		},
		"a parent that fails by itself counts": {
			[]string{`{"Action":"pass","Package":"p","Test":"A/x"}`, `{"Action":"fail","Package":"p","Test":"A"}`},
			[]string{"pass\tp\tA/x\t", "fail\tp\tA\t"}, "FAIL  l  p A",
		},
		"output of what failed is shown": {
			[]string{`{"Action":"output","Package":"p","Test":"A","Output":"    a_test.go:3: because\n"}`, `{"Action":"fail","Package":"p","Test":"A"}`},
			[]string{"fail\tp\tA\t"}, "because",
		},
		"a package that does not build": {
			[]string{`{"ImportPath":"p","Action":"build-output","Output":"undefined: x\n"}`, `{"Action":"fail","Package":"p"}`},
			[]string{"fail\tp\t(package)\t"}, "undefined: x",
		},
		"a process that dies within a test after another test failed": {
			[]string{`{"Action":"fail","Package":"p","Test":"A"}`, `{"Action":"output","Package":"p","Test":"B","Output":"last words\n"}`, `{"Action":"fail","Package":"p"}`},
			[]string{"fail\tp\tA\t", "fail\tp\t(package)\t"}, "last words",
		},
		"the reason of a skip is its last line": {
			[]string{`{"Action":"output","Package":"p","Test":"A","Output":"    a_test.go:7: first\n    b_test.go:70: no device\n--- SKIP: A\n"}`,
				`{"Action":"skip","Package":"p","Test":"A"}`, `{"Action":"pass","Package":"p","Elapsed":1.5}`},
			[]string{"skip\tp\tA\tno device"}, "ok    l  p  1.5s",
		},
		"a skip without a reason": {[]string{`{"Action":"skip","Package":"p","Test":"A"}`}, []string{"skip\tp\tA\tno reason given"}, ""},
		"no events, no tests":     {[]string{"go: no such thing", "{not JSON"}, nil, "go: no such thing\n{not JSON"},
		"a package without tests": {[]string{`{"Action":"skip","Package":"p"}`, `{"Action":"pass","Package":"q"}`}, nil, ""},
		"a result from the test cache": {
			[]string{`{"Action":"pass","Package":"p","Test":"A"}`, `{"Action":"output","Package":"p","Output":"ok  \tp\t(cached)\n"}`, `{"Action":"pass","Package":"p"}`},
			[]string{"pass\tp\tA\t"}, "p  0.0s (cached)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var screen, record strings.Builder
			r := newReport("l", &screen, io.Discard, &record)
			for _, l := range c.lines {
				r.line(l + "\n")
			}
			want := strings.Join(append(c.record, ""), "\n")
			if record.String() != want || !strings.Contains(screen.String(), c.screen) {
				t.Errorf("got %q and %q, want %q and %q", record.String(), screen.String(), want, c.screen)
			}
		})
	}
}

// TestRun: the command fails if a test fails, or if none ran, and keeps the output.
func TestRun(t *testing.T) {
	pass, fail := `{"Action":"pass","Package":"p","Test":"A"}`, `{"Action":"fail","Package":"p","Test":"B"}`
	said := `{"Action":"output","Package":"p","Test":"A","Output":"whole\n"}`
	for in, want := range map[string]bool{"": false, pass: true, pass + "\n" + fail: false, fail + "\n" + pass: false, said + "\n" + pass: true} {
		dir := t.TempDir()
		if ok, err := run([]string{dir, "l"}, strings.NewReader(in), io.Discard); err != nil || ok != want {
			t.Errorf("%s: %t, %v, want %t", in, ok, err, want)
		}
		if log, err := os.ReadFile(filepath.Join(dir, "l.log")); err != nil || strings.Contains(in, "whole") != (string(log) == "whole\n") {
			t.Errorf("%s: the log has %q, %v", in, log, err)
		}
	}
	if _, err := run([]string{"l"}, strings.NewReader(""), io.Discard); err == nil {
		t.Error("one argument is no error")
	}
	if _, err := run([]string{filepath.Join(t.TempDir(), "none"), "l"}, strings.NewReader(pass), io.Discard); err == nil {
		t.Error("a folder that is not there is no error")
	}
}
