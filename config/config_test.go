package config

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestPrecedence sets one key in every combination of sources and checks the result.
func TestPrecedence(t *testing.T) {
	file := filepath.Join(t.TempDir(), "h.toml")
	if err := os.WriteFile(file, []byte("[search]\nk = 2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for set := range 8 {
		var src Sources
		k, origin := 10, "default"
		if set&1 != 0 {
			src.File, k, origin = file, 2, file+":2"
		}
		if set&2 != 0 {
			src.Environ, k, origin = []string{"PATH=/bin", "HEDDLE_SEARCH_K=3"}, 3, "environment HEDDLE_SEARCH_K"
		}
		if set&4 != 0 {
			src.Flags, k, origin = []Flag{{Name: "k", Key: "search.k", Value: "4"}}, 4, "flag --k"
		}
		c, err := Load(src)
		if err != nil {
			t.Fatal(err)
		}
		if c.Search.K != k || c.Origin("search.k").String() != origin {
			t.Errorf("sources %03b: k = %d from %s, want %d from %s", set, c.Search.K, c.Origin("search.k"), k, origin)
		}
		c.Search.K = Default().Search.K
		sameValues(t, c, Default())
	}
}

// TestEveryKeyFromEveryText gives each key, by variable and by flag, a value
// that is not its default.
func TestEveryKeyFromEveryText(t *testing.T) {
	for _, k := range Keys() {
		var text string
		var want any
		switch v := k.Get(Default()).(type) {
		case string:
			text = "some text"
			if k.Values != nil {
				text = k.Values[len(k.Values)-1]
				if text == v {
					text = k.Values[0]
				}
			}
			if k.Name == "cluster.trusted" { // takes no space
				text = "n1.internal,10.0.0.0/24,::1"
			}
			want = text
		case bool:
			text, want = "true", true
		case int:
			text, want = "16", 16
			switch k.Name {
			case "bitmap.word": // takes 32 and 64
				text, want = "32", 32
			case "cluster.control_replicas": // takes 1, 3 and 5
				text, want = "3", 3
			}
		case float64:
			text, want = "0.25", 0.25
			switch k.Name {
			case "schedule.similar", "schedule.enter": // from 1, from schedule.leave
				text, want = "2.5", 2.5
			}
		case Size:
			text, want = "3MiB", Size(3<<20)
		case time.Duration:
			text, want = "1.5s", 1500*time.Millisecond
		}
		for _, src := range []Sources{
			{Environ: []string{k.Variable() + "=" + text}},
			{Flags: []Flag{{Name: "x", Key: k.Name, Value: text}}},
		} {
			c, err := Load(src)
			if err != nil {
				t.Errorf("%s = %s: %v", k.Name, text, err)
				continue
			}
			if k.Get(c) != want {
				t.Errorf("%s = %v, want %v", k.Name, k.Get(c), want)
			}
			if c.Origin(k.Name).Kind < FromEnvironment {
				t.Errorf("%s: origin %v", k.Name, c.Origin(k.Name))
			}
		}
	}
}

func TestEnvironment(t *testing.T) {
	for _, test := range []struct{ variable, want string }{
		{"HEDDLE_DEVICES_BACKEND=gpu", `environment HEDDLE_DEVICES_BACKEND: "gpu" is not one of auto, host, opencl, all`},
		{"HEDDLE_DEVICES_BAKEND=host", `environment HEDDLE_DEVICES_BAKEND: unknown variable (nearest: HEDDLE_DEVICES_BACKEND)`},
		{"HEDDLE_SEARCHK_=1", `environment HEDDLE_SEARCHK_: unknown variable (nearest: HEDDLE_SEARCH_K)`},
		{"HEDDLE_SEARCH_KEY=1", `environment HEDDLE_SEARCH_KEY: unknown variable (nearest: HEDDLE_SEARCH_K)`},
		{"HEDDLE_SERCH_K=1", `environment HEDDLE_SERCH_K: unknown variable (nearest: HEDDLE_SEARCH_K)`},
		{"HEDDLE_SEARCH_K=ten", `environment HEDDLE_SEARCH_K: want a whole number, found "ten"`},
		{"HEDDLE_SEARCH_K=99999999999999999999", `environment HEDDLE_SEARCH_K: 99999999999999999999 is out of range`},
		{"HEDDLE_DEVICES_PROFILING=maybe", `environment HEDDLE_DEVICES_PROFILING: want true or false, found "maybe"`},
		{"HEDDLE_INDEX_EXCEPTION_RATIO=a third", `environment HEDDLE_INDEX_EXCEPTION_RATIO: want a number, found "a third"`},
		{"HEDDLE_MEMORY_DEVICE=8 gigs", `environment HEDDLE_MEMORY_DEVICE: "gigs" is not a unit of size (B, KiB, MiB, GiB, TiB, KB, MB, GB, TB)`},
		{"HEDDLE_SCHEDULE_TIMEOUT=3", `environment HEDDLE_SCHEDULE_TIMEOUT: want a duration (like "500ms" or "1m30s"), found "3"`},
		{"HEDDLE_SCHEDULE_TIMEOUT=-1s", `environment HEDDLE_SCHEDULE_TIMEOUT: -1s is not from 0s to 1h0m0s`},
		{"HEDDLE_SCHEDULE_HOLD=0s", `environment HEDDLE_SCHEDULE_HOLD: 0s is not from 1µs to 1h0m0s`},
		{"HEDDLE_SCHEDULE_LEAVE=2", `environment HEDDLE_SCHEDULE_LEAVE: schedule.leave, 2, is above schedule.enter, 0.7`},
		{"HEDDLE_SCHEDULE_ENTER=0.1", `environment HEDDLE_SCHEDULE_ENTER: schedule.leave, 0.4, is above schedule.enter, 0.1`},
		{"HEDDLE_DEVICES_DEVICE=\xff", `environment HEDDLE_DEVICES_DEVICE: "\xff" is not valid UTF-8`},
	} {
		_, err := Load(Sources{Environ: []string{test.variable}})
		if e, ok := errors.AsType[*Error](err); !ok || e.Error() != test.want {
			t.Errorf("%s\ngot  %v\nwant %s", test.variable, err, test.want)
		}
	}

	// Variables of other programs and empty variables are ignored.
	c, err := Load(Sources{Environ: []string{
		"HEDDLE_TEST_BACKEND=gpu", "HEDDLE_TEST_DEVICE=x", "HEDDLE_OPENCL_LIBRARY=/x", "HEDDLE_CONFIG=/x", "HEDDLE_SEARCH_K=",
		"HEDDLE_SERVICE_HOST=10.0.0.1", "HEDDLE_PORT=tcp://10.0.0.1:80", "HEDDLE_PORT_80_TCP_ADDR=10.0.0.1", "HEDDLE=1", "SEARCH_K=4", "broken",
		"HEDDLE_SERVER_SERVICE_HOST=10.0.0.1", "HEDDLE_SERVER_PORT=tcp://10.0.0.1:7700", "HEDDLE_SERVER_PORT_7700_TCP_ADDR=10.0.0.1",
	}})
	if err != nil {
		t.Fatal(err)
	}
	sameValues(t, c, Default())
}

func TestFlagErrors(t *testing.T) {
	for _, test := range []struct {
		flag Flag
		want string
	}{
		{Flag{"backend", "devices.backend", "openc"}, `flag --backend: "openc" is not one of auto, host, opencl, all (nearest: "opencl")`},
		{Flag{"backend", "devices.backends", "host"}, `flag --backend: unknown key "devices.backends" (nearest: "devices.backend")`},
	} {
		_, err := Load(Sources{Flags: []Flag{test.flag}})
		if e, ok := errors.AsType[*Error](err); !ok || e.Error() != test.want {
			t.Errorf("got  %v\nwant %s", err, test.want)
		}
	}
}

func TestWriteTOML(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a\nb.toml") // must not break the comment
	if err := os.WriteFile(file, []byte("[devices]\n\ndevice = 'a \"b\" \\ # c'\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Load(Sources{File: file, Environ: []string{"HEDDLE_MEMORY_DEVICE=1536MiB"}, Flags: []Flag{{"k", "search.k", "3"}}})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := c.WriteTOML(&b); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"backend = \"auto\"  # default\n",
		"b.toml:3\n",
		"device = \"1536MiB\"  # environment HEDDLE_MEMORY_DEVICE\n",
		"k = 3  # flag --k\n",
	} {
		if !strings.Contains(b.String(), line) {
			t.Errorf("no line %q in\n%s", line, b.String())
		}
	}
	again := Default()
	if err := again.readTOML("again", b.Bytes()); err != nil {
		t.Fatal(err)
	}
	sameValues(t, again, c)
	if err := c.WriteTOML(failingWriter{}); !errors.Is(err, errFull) {
		t.Errorf("error of the writer got lost: %v", err)
	}
}

var errFull = errors.New("disk full")

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errFull }

func TestSize(t *testing.T) {
	for s, want := range map[string]Size{
		"0": 0, "1B": 1, "4096": 4096, "1048576": 1 << 20, "17B": 17, "1KiB": 1024, "1kb": 1000, "512MiB": 512 << 20, "512 MiB": 512 << 20,
		"2gb": 2e9, "2GiB": 2 << 30, "3TB": 3e12, "16TiB": 16 << 40, "18446744073709551615": 1<<64 - 1,
	} {
		if got, err := ParseSize(s); err != nil || got != want {
			t.Errorf("ParseSize(%q) = %d, %v; want %d", s, got, err, want)
		}
	}
	for _, s := range []string{"", "MiB", "-1", "1", "64", "4095", "1.5GiB", "1 Mi B", "1m", "18446744073709551616", "16777216TiB", "0x10"} {
		if got, err := ParseSize(s); err == nil {
			t.Errorf("ParseSize(%q) = %d, want an error", s, got)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		n := Size(rapid.Uint64().Draw(t, "size") >> rapid.IntRange(0, 63).Draw(t, "right") << rapid.IntRange(0, 50).Draw(t, "left"))
		if got, err := ParseSize(n.String()); err != nil || got != n {
			t.Fatalf("%d becomes %q becomes %d, %v", uint64(n), n, uint64(got), err)
		}
	})
}

func TestDistance(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"abc", "", 3}, {"kitten", "sitting", 3}, {"flaw", "lawn", 2}, {"backend", "bakend", 1}, {"k", "kk", 1}} {
		if got := distance(test.a, test.b); got != test.want {
			t.Errorf("distance(%q, %q) = %d, want %d", test.a, test.b, got, test.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[abc]{0,8}`)
		a, b, c := word.Draw(t, "a"), word.Draw(t, "b"), word.Draw(t, "c")
		ab, ba := distance(a, b), distance(b, a)
		if ab != ba || (ab == 0) != (a == b) || ab > distance(a, c)+distance(c, b) {
			t.Fatalf("distance is no metric at %q, %q, %q", a, b, c)
		}
	})
}
