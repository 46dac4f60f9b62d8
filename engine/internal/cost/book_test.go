package cost

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"heddle/engine/file/container"
)

// saved returns a book with a calibrated model, a model that has learnt and a new one, and
// its file.
func saved(t *testing.T, index uint64) (*Book, string) {
	t.Helper()
	m := newMachine(true)
	b := NewBook(index, Best)
	if _, err := b.Model(Host, And).Fit(m.samples(60, 20)); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		f := m.query()
		f.Missing = f.Sum
		b.Model(Host, And).Learn(&f, m.took(2*m.alone(&f)), true)
		b.Model("H200, 570.86", RankOr).Learn(&f, m.took(m.alone(&f)), true)
		b.Model("H200, 570.86", RankOr).LearnBatch(m.took(m.added(&f)), m.took(m.alone(&f)))
	}
	b.Model(Host, Count)
	path := filepath.Join(t.TempDir(), "x.hdl.cost")
	if err := b.Save(path); err != nil {
		t.Fatal(err)
	}
	return b, path
}

// TestBook loads a saved book: its models give the same estimates under every metric, and
// learn.
func TestBook(t *testing.T) {
	const index = 0xfd14cc5c3a3c6c1f
	b, path := saved(t, index)
	m := newMachine(true)
	for _, metric := range append(Metrics(), Best) {
		got, err := Load(path, index, metric)
		if err != nil {
			t.Fatal(err)
		}
		if got.Changed() {
			t.Errorf("%v: changed by loading", metric)
		}
		for range 100 {
			f := m.query()
			f.Missing = f.Sum / 3
			for at, want := range b.models {
				have := got.Model(at.backend, at.kind)
				if metric == Best && !near(float64(have.Alone(&f)), float64(want.Alone(&f)), 1e-9) ||
					!near(float64(have.Added(&f)), float64(want.Added(&f)), 1e-9) || have.Start() != want.Start() {
					t.Fatalf("%v, %v: %v alone, %v added, %v to start with; want %v, %v, %v", metric, at,
						have.Alone(&f), have.Added(&f), have.Start(), want.Alone(&f), want.Added(&f), want.Start())
				}
			}
		}
		have := got.Model(Host, And).state.Load().alone.metric
		if want := b.Model(Host, And).calibration.fit(metric).Metric; have != want {
			t.Errorf("estimates by %v, not %v", have, want)
		}
		f := m.query()
		got.Model(Host, And).Learn(&f, time.Second, true)
		if !got.Changed() {
			t.Errorf("%v: not changed by learning", metric)
		}
		again := path + "2"
		if err := got.Save(again); err != nil || got.Changed() {
			t.Errorf("%v: changed after saving, %v", metric, err)
		}
		if _, err := Load(again, index, metric); err != nil {
			t.Error(err)
		}
	}
	if names, _ := filepath.Glob(path + "*"); len(names) != 2 {
		t.Errorf("there is more than what was saved: %v", names)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// TestBookErrors checks that each error names the file and the fault.
func TestBookErrors(t *testing.T) {
	_, path := saved(t, 7)
	_, err := Load(path, 8, Best)
	if other, ok := errors.AsType[*OtherIndexError](err); !ok || other.Index != 7 || other.Want != 8 || !strings.Contains(err.Error(), path) {
		t.Errorf("the book of another index: %v", err)
	}
	if _, err := Load(path+".none", 7, Best); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, with, says string }{
		{string(good), "", "cut off"},
		{string(good), "{}", "version 0"},
		{`"version":1`, `"version":2`, "version 2, where 1 is known"},
		{`"index":"`, `"index":"x`, "is no checksum"},
		{`"backend":"host"`, `"backend":"hast"`, "the models have checksum"},
	} {
		if err := load(t, path, strings.Replace(string(good), c.old, c.with, 1)); !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v, want %q", err, c.says)
		}
	}
	// Changes with a correct checksum.
	for _, c := range []struct{ old, with, says string }{
		{`"kind":"and"`, `"kind":"xor"`, `model of xor on "host": unknown kind of query "xor"`},
		{`"metric":"los"`, `"metric":"best"`, `model of and on "host": metric best: there is no such one`},
		{`"batch_ns":`, `"batch_ns":-1`, "ns a missing byte"},
		{`"batch_error":`, `"batch_error":-1`, "ns a missing byte"},
		{`"linear_error":`, `"linear_error":-1`, "metric los: errors -1"},
		{`"coefficients_ms":[`, `"coefficients_ms":[1,`, "2 coefficients"},
		{`"ns":{"`, `"ns":{"no `, "ns for a no "},
		{`"all":[`, `"all":[-`, "of all"},
		{`"shortest":[`, `"shortest":[0,`, "factor 0 of shortest"},
		{`"shortest":[`, `"shortest":[` + strings.Repeat("1,", octaves), "there are 66"},
		{`"shortest":[`, `"longest":[`, `of "longest", there are 0`},
	} {
		var b Book
		b.models, b.index = map[key]*Model{}, 7
		text := strings.Replace(string(good), c.old, c.with, 1)
		if text == string(good) {
			t.Errorf("there is no %s", c.old)
		}
		if err := load(t, path, resum(t, text)); !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", c.with, err, c.says)
		}
	}
}

// load returns the error of a damaged book.
func load(t *testing.T, path, text string) error {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	_, err := Load(path, 7, Best)
	if _, ok := errors.AsType[*CorruptError](err); !ok || !errors.Is(err, container.ErrCorrupt) || !strings.Contains(err.Error(), path) {
		t.Fatalf("a damaged book: %v", err)
	}
	return err
}

// resum corrects the checksum of a book.
func resum(t *testing.T, text string) string {
	t.Helper()
	_, sum, _ := strings.Cut(text, `"checksum":"`)
	_, models, found := strings.Cut(text, `"models":`)
	if !found {
		t.Fatal("no models")
	}
	return strings.Replace(text, sum[:16], checksum([]byte(strings.TrimSuffix(strings.TrimSpace(models), "}"))), 1)
}

// TestBookDamage changes each byte and cuts the file: Load fails, or the meaning is the
// same.
func TestBookDamage(t *testing.T) {
	_, path := saved(t, 7)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(good)-1; i += 1 + i/10 {
		bad := bytes.Clone(good)
		bad[i] ^= 1
		for _, data := range [][]byte{bad, good[:i]} {
			b := NewBook(7, Best)
			if err := b.read(data); err == nil {
				t.Errorf("byte %d of %d: %.40q is as good as %.40q", i, len(good), data[i:], good[i:])
			}
		}
	}
}

// TestSaveFails has a file that cannot be written: the former file stays, and no other.
func TestSaveFails(t *testing.T) {
	b, path := saved(t, 7)
	if err := b.Save(filepath.Join(path, "x")); err == nil {
		t.Error("a file is a folder")
	}
	folder := filepath.Join(filepath.Dir(path), "folder")
	if err := os.MkdirAll(folder+"/x", 0o777); err != nil {
		t.Fatal(err)
	}
	if err := b.Save(folder); err == nil {
		t.Error("a folder was replaced")
	}
	if names, _ := os.ReadDir(filepath.Dir(path)); len(names) != 2 {
		t.Errorf("left behind: %v", names)
	}
}
