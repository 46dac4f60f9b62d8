package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReadTOML(t *testing.T) {
	c := Default()
	if err := c.readTOML("x.toml", []byte(`
devices.backend = "host" # dotted
memory = { device = "8GiB", tables = 4096 }

[search]
k = 3
[index]
exception_ratio = 0
stopwords = '/etc/stop words'
build_memory = "1 MB"
[batching]
`)); err != nil {
		t.Fatal(err)
	}
	want := Default()
	want.Devices.Backend = "host"
	want.Memory = Memory{Device: 8 << 30, Tables: 4096}
	want.Search.K = 3
	want.Index.ExceptionRatio, want.Index.Stopwords, want.Index.BuildMemory = 0, "/etc/stop words", 1e6
	sameValues(t, c, want)
	for key, line := range map[string]int{
		"devices.backend": 2, "memory.device": 3, "memory.tables": 3, "search.k": 6,
		"index.exception_ratio": 8, "index.stopwords": 9, "index.build_memory": 10,
	} {
		if o := c.Origin(key); o.Kind != FromFile || o.Name != "x.toml" || o.Line != line {
			t.Errorf("origin of %s is %+v, want line %d", key, o, line)
		}
	}
	if o := c.Origin("search.mode"); o != (Origin{}) || o.String() != "default" {
		t.Errorf("origin of an unset key is %v", o)
	}
}

func sameValues(t *testing.T, got, want *Config) {
	t.Helper()
	for _, k := range Keys() {
		if k.Get(got) != k.Get(want) {
			t.Errorf("%s = %v, want %v", k.Name, k.Get(got), k.Get(want))
		}
	}
}

func TestTOMLErrors(t *testing.T) {
	for _, test := range []struct{ name, file, want string }{
		{"unknown key", "[devices]\nbakend = \"host\"", `x.toml:2:1: unknown key "devices.bakend" (nearest: "devices.backend")`},
		{"indented", "[devices]\n\t bakend = \"host\"", `x.toml:2:3: unknown key "devices.bakend" (nearest: "devices.backend")`},
		{"wrong section", "[devices]\n\ncodec = \"raw\"", `x.toml:3:1: unknown key "devices.codec" (nearest: "index.codec")`},
		{"case", "[search]\nK = 10", `x.toml:2:1: unknown key "search.K" (nearest: "search.k")`},
		{"dotted", `search.kk = 1`, `x.toml:1:8: unknown key "search.kk" (nearest: "search.k")`},
		{"inline", `search = { k = 1, kk = 1 }`, `x.toml:1:19: unknown key "search.kk" (nearest: "search.k")`},
		{"long value", "[log]\nlevels = \"\"\"\nx\n\"\"\"\n", `x.toml:2:1: unknown key "log.levels" (nearest: "log.level")`},
		{"unknown section", "[serach]\nk = 1", `x.toml:1:2: unknown section [serach] (nearest: [search])`},
		{"empty unknown section", "\n[indexes]\n", `x.toml:2:2: unknown section [indexes] (nearest: [index])`},
		{"key outside a section", "k = 1", `x.toml:1:1: unknown section [k]`},
		{"quoted key", `"devices.backend" = "host"`, `x.toml:1:2: unknown section [devices.backend]`},
		{"section as value", "search = 3", `x.toml:1:1: [search] is a section, found 3`},
		{"section as tables", "[[search]]\nk = 1", `x.toml:1:3: [search] is a section, found an array`},
		{"section as array", "search = [{k = 1}]", `x.toml:1:1: [search] is a section, found an array`},
		{"key as section", "[search.k]\nx = 1", `x.toml:1:1: want a whole number, found a table`},
		{"below a key", "[search.k.x]\n", `x.toml:1:11: unknown key "search.k.x" (nearest: "search.k")`},
		{"enumeration", "[devices]\nbackend = \"hots\"", `x.toml:2:12: "hots" is not one of auto, host, opencl, all (nearest: "host")`},
		{"string wanted", "[devices]\nbackend = 1", `x.toml:2:11: want a string, found 1`},
		{"bool wanted", "[devices]\nprofiling = \"yes\"", `x.toml:2:14: want true or false, found the string "yes"`},
		{"int wanted", "[search]\nk = 1.5", `x.toml:2:5: want a whole number, found 1.5`},
		{"int wanted, text", "[search]\nk = \"5\"", `x.toml:2:6: want a whole number, found the string "5"`},
		{"date", "[search]\nk = 1979-05-27", `x.toml:2:5: want a whole number, found a date or time`},
		{"range", "[search]\nk = -1", `x.toml:2:5: -1 is not from 0 to 10000`},
		{"ratio", "[index]\nexception_ratio = 0.61", `x.toml:2:19: 0.61 is not from 0 to 0.6`},
		{"k1", "[ranking]\nk1 = -0.1", `x.toml:2:6: -0.1 is not from 0 to 255`},
		{"b", "[ranking]\nb = 1.5", `x.toml:2:5: 1.5 is not from 0 to 1`},
		{"variant", "[ranking]\nvariant = \"okapi\"", `x.toml:2:12: "okapi" is not one of lucene, robertson, atire, pisa`},
		{"mode", "[search]\nmode = \"and_or\"", `x.toml:2:9: "and_or" is not one of or, and, and-or (nearest: "and-or")`},
		{"bits", "[index]\nimpacts = 12", `x.toml:2:11: 12 is not one of 0, 8, 16`},
		{"nan", "[index]\nexception_ratio = nan", `x.toml:2:19: NaN is not from 0 to 0.6`},
		{"size", "[memory]\ndevice = \"lots\"", `x.toml:2:11: "lots" is not a size (like 1048576, "512MiB" or "2GB")`},
		{"size without unit", "[memory]\ndevice = 64", `x.toml:2:10: size "64" needs a unit: write 64MiB, or 64B for bytes`},
		{"negative size", "[memory]\ndevice = -1", `x.toml:2:10: size -1 is negative`},
		{"size of wrong type", "[memory]\ndevice = true", `x.toml:2:10: want a size (like 1048576, "512MiB" or "2GB"), found true`},
		{"syntax", "[search]\nk = = 1", `x.toml:2:5: expected value but found '=' instead`},
		{"twice", "[search]\nk = 1\nk = 2", `x.toml:3:7: Key 'search.k' has already been defined.`},
		{"open string", "[devices]\ndevice = \"H200", `x.toml:2:14: unexpected EOF; expected '"'`},
		{"not UTF-8", "[devices]\ndevice = \"\xff\"", `x.toml:2:10: invalid UTF-8 byte: 0xff`},
		{"a binary", "HDL\x00\x01\x02", `x.toml:1:1: files cannot contain NULL bytes; probably using UTF-16; TOML files must be UTF-8`},
		{"first of two", "[search]\nk = -1\nkk = 1", `x.toml:2:5: -1 is not from 0 to 10000`},
		{"too long", strings.Repeat("#\n", maxFile), `x.toml: longer than 64KiB: not a configuration`},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := Default().readTOML("x.toml", []byte(test.file))
			e, ok := errors.AsType[*Error](err)
			if !ok {
				t.Fatalf("error %v of type %T, want an *Error", err, err)
			}
			if err.Error() != test.want {
				t.Errorf("got  %s\nwant %s", err, test.want)
			}
			if e.Origin.Kind != FromFile || e.Origin.Name != "x.toml" {
				t.Errorf("origin %+v", e.Origin)
			}
		})
	}
}

// TestFileSize: a file of the greatest size is read to its end, and a longer one is refused,
// not cut.
func TestFileSize(t *testing.T) {
	const last = "\n[search]\nk = 7\n"
	for _, test := range []struct {
		size int
		ok   bool
	}{{maxFile, true}, {maxFile + 1, false}, {maxFile + 2, false}, {2 * maxFile, false}} {
		path := filepath.Join(t.TempDir(), "x.toml")
		text := "#" + strings.Repeat("-", test.size-len(last)-1) + last
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := Load(Sources{File: path})
		if test.ok && (err != nil || c.Search.K != 7) || !test.ok && (err == nil || !strings.Contains(err.Error(), "longer than 64KiB")) {
			t.Errorf("a file of %d bytes: %v", test.size, err)
		}
	}
}

// TestBounds: each whole number takes its least and greatest value, and no further one.
func TestBounds(t *testing.T) {
	for key, bounds := range map[string][2]int64{
		"devices.threads": {0, 4096}, "batching.candidates": {0, math.MaxInt32}, "batching.postings": {0, math.MaxInt32},
		"batching.queries": {1, math.MaxInt32}, "batching.workers": {0, 4096}, "search.k": {0, 10000},
	} {
		section, name, _ := strings.Cut(key, ".")
		for value, ok := range map[int64]bool{bounds[0] - 1: false, bounds[0]: true, bounds[1]: true, bounds[1] + 1: false} {
			err := Default().readTOML("x.toml", fmt.Appendf(nil, "[%s]\n%s = %d\n", section, name, value))
			if ok != (err == nil) {
				t.Errorf("%s = %d: %v", key, value, err)
			}
		}
	}
}

func TestMissingFile(t *testing.T) {
	_, err := Load(Sources{File: filepath.Join(t.TempDir(), "none.toml")})
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "none.toml") {
		t.Errorf("error %v, want fs.ErrNotExist with the name", err)
	}
	if _, err := Load(Sources{File: t.TempDir()}); err == nil {
		t.Error("a directory was read as a configuration")
	}
}

// FuzzReadTOML checks that any bytes give a configuration or an Error with a position
// inside the file, and that printing and reading preserves the configuration.
func FuzzReadTOML(f *testing.F) {
	f.Add(example())
	for _, s := range []string{"", "[devices]\nbackend = 'opencl'\ndevice = \"\\u0007 #\"", "search.k = 3", "search = {k = 0x10}",
		"[memory]\ndevice = '1TiB'\ntables = 17", "[[search]]", "[a.b.c]\nd = [1, {e = 2}]", "k = '''\n'''", "\"\" = 1", "[devices]\r\nthreads = 4_0\r\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c := Default()
		if err := c.readTOML("x.toml", data); err != nil {
			e, ok := errors.AsType[*Error](err)
			if !ok {
				t.Fatalf("error %v of type %T", err, err)
			}
			if e.Origin.Line > bytes.Count(data, []byte("\n"))+1 || e.Origin.Line > 0 && e.Origin.Column < 1 {
				t.Fatalf("error outside the file: %v", err)
			}
			return
		}
		var printed bytes.Buffer
		if err := c.WriteTOML(&printed); err != nil {
			t.Fatal(err)
		}
		again := Default()
		if err := again.readTOML("again.toml", printed.Bytes()); err != nil {
			t.Fatalf("%v\n%s", err, printed.Bytes())
		}
		sameValues(t, again, c)
	})
}

func TestLoadReadsFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "h.toml")
	if err := os.WriteFile(file, []byte("[search]\nk = 7\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Load(Sources{File: file})
	if err != nil || c.Search.K != 7 {
		t.Fatalf("k = %v, error %v", c, err)
	}
	if got, want := c.Origin("search.k").String(), file+":2"; got != want {
		t.Errorf("origin %q, want %q", got, want)
	}
}
