package cl

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// constant is a kernel that writes a number.
func constant(number string) string {
	return "kernel void f(global uint *out) { out[get_global_id(0)] = " + number + "; }"
}

// answer builds a source with options and returns the number that its kernel f writes.
func (r *rig) answer(options string, sources ...string) uint32 {
	r.t.Helper()
	p, err := r.ctx.CreateProgramWithSource(sources)
	r.must(err)
	defer p.Release()
	r.must(p.BuildProgram(nil, options))
	return r.run(p)
}

// run returns the number that the kernel f of a program writes.
func (r *rig) run(p *Program) uint32 {
	r.t.Helper()
	k, err := p.CreateKernel("f")
	r.must(err)
	defer k.Release()
	b := r.buffer(4)
	r.must(k.SetArgs(b))
	r.done(r.queue.EnqueueNDRangeKernel(k, nil, []int{1}, nil, nil))
	return words(r.read(b, 4))[0]
}

// cacheFolder makes an empty cache and returns the names of its binaries.
func cacheFolder(t *testing.T) (kept func() []string) {
	folder := filepath.Join(t.TempDir(), "cache")
	t.Setenv("HEDDLE_CACHE", folder)
	return func() []string {
		names, err := filepath.Glob(filepath.Join(folder, "programs", "*"))
		if err != nil {
			t.Fatal(err)
		}
		return names
	}
}

// TestBinaryUsed replaces a kept binary by the one of another program: a build then gives that
// program, so it does not compile.
func TestBinaryUsed(t *testing.T) {
	r := newRig(t, 0)
	kept := cacheFolder(t)
	if got := r.answer("", constant("11")); got != 11 {
		t.Fatalf("the kernel gave %d", got)
	}
	if len(kept()) != 1 {
		t.Skipf("the driver has no binaries: %v", kept())
	}
	one := kept()[0]
	if got := r.answer("", constant("22")); got != 22 || len(kept()) != 2 {
		t.Fatalf("the kernel gave %d, files %v", got, kept())
	}
	other := kept()[0]
	if other == one {
		other = kept()[1]
	}
	data, err := os.ReadFile(other)
	r.must(err)
	binary, ok := unseal(keyOf(other), data)
	if !ok {
		t.Fatalf("%s is damaged", other)
	}
	r.must(os.WriteFile(one, seal(keyOf(one), binary), 0o600))
	if got := r.answer("", constant("11")); got != 22 {
		t.Errorf("the kernel gave %d, want 22 of the kept binary", got)
	}
	info, err := os.Stat(filepath.Dir(one))
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder has mode %v, %v", info.Mode(), err)
	}
}

func keyOf(path string) string { return strings.TrimSuffix(filepath.Base(path), ".bin") }

// TestBinaryDamaged: whatever the file holds, the program is the right one, and the file is
// replaced.
func TestBinaryDamaged(t *testing.T) {
	r := newRig(t, 0)
	kept := cacheFolder(t)
	r.answer("", constant("7"))
	if len(kept()) != 1 {
		t.Skipf("the driver has no binaries: %v", kept())
	}
	path := kept()[0]
	whole, err := os.ReadFile(path)
	r.must(err)
	key := keyOf(path)
	flipped := bytes.Clone(whole)
	flipped[len(flipped)/2] ^= 1
	for name, data := range map[string][]byte{
		"empty": nil, "head": whole[:len(binaryMagic)+20], "cut": whole[:len(whole)-1], "longer": append(bytes.Clone(whole), 0), "flipped": flipped,
		"of another key": seal(strings.Repeat("0", 64), []byte("binary")), "no binary": seal(key, []byte("this is not a binary of any driver")),
	} {
		r.must(os.WriteFile(path, data, 0o600))
		if got := r.answer("", constant("7")); got != 7 {
			t.Errorf("%s: the kernel gave %d", name, got)
		}
		if data, err := os.ReadFile(path); err != nil {
			t.Errorf("%s: %v", name, err)
		} else if _, ok := unseal(key, data); !ok {
			t.Errorf("%s: the file stays damaged", name)
		}
	}
}

// TestBinaryKeys: different programs have different files, and a second build of a program object
// takes its own options.
func TestBinaryKeys(t *testing.T) {
	r := newRig(t, 0)
	kept := cacheFolder(t)
	source := constant("N")
	p, err := r.ctx.CreateProgramWithSource([]string{source})
	r.must(err)
	defer p.Release()
	for range 2 {
		for _, c := range []struct {
			options string
			want    uint32
		}{{"-DN=3", 3}, {"-DN=4", 4}, {"-DN=5", 5}} {
			r.must(p.BuildProgram(nil, c.options))
			if got := r.run(p); got != c.want {
				t.Errorf("%s: the kernel gave %d", c.options, got)
			}
		}
	}
	if err := p.BuildProgram(nil, "-DN=wrong"); err == nil {
		t.Error("a wrong program was built")
	}
	if n := len(kept()); n != 3 && n != 0 {
		t.Errorf("%d files, want one for each program that compiles", n)
	}
	keys := map[string]string{}
	for name, make := range map[string]func() (string, bool){
		"first":   func() (string, bool) { return binaryKey([]string{"a", "b"}, "", r.device) },
		"joined":  func() (string, bool) { return binaryKey([]string{"ab"}, "", r.device) },
		"options": func() (string, bool) { return binaryKey([]string{"a", "b"}, "-w", r.device) },
		"variable": func() (string, bool) {
			t.Setenv("POCL_EXTRA_BUILD_FLAGS", "-cl-opt-disable")
			return binaryKey([]string{"a", "b"}, "", r.device)
		},
	} {
		os.Unsetenv("POCL_EXTRA_BUILD_FLAGS")
		key, ok := make()
		if other := keys[key]; other != "" || !ok {
			t.Errorf("%s has the key of %s", name, other)
		}
		keys[key] = name
	}
	for source, want := range map[string]bool{
		"#include \"file\"": false, " # /* a */ include <file>": false, "#\\\ninclude \"file\"": false, "#in": true, "// bounds included\n#define A 1\n": true,
	} {
		if _, ok := binaryKey([]string{source}, "", r.device); ok != want {
			t.Errorf("%q has a key: %v", source, ok)
		}
	}
	if _, ok := binaryKey([]string{"#in", "clude \"file\""}, "", r.device); ok {
		t.Error("an include in two texts is not found")
	}
}

// TestBinaryOff: nothing is kept without a folder that belongs to the caller alone.
func TestBinaryOff(t *testing.T) {
	r := newRig(t, 0)
	kept := cacheFolder(t)
	r.must(os.MkdirAll(filepath.Join(os.Getenv("HEDDLE_CACHE"), "programs"), 0o755))
	if got := r.answer("", constant("8")); got != 8 || len(kept()) != 0 {
		t.Errorf("a shared folder: %d, files %v", got, kept())
	}
	t.Chdir(t.TempDir())
	t.Setenv("HEDDLE_CACHE", "off")
	if got := r.answer("", constant("8")); got != 8 {
		t.Errorf("without cache: %d", got)
	}
	if left, err := os.ReadDir("."); err != nil || len(left) != 0 {
		t.Errorf("files %v, %v", left, err)
	}
}

// TestBinaryTrim: binaries that were used longest ago make room, and files of writers that have
// gone are removed.
func TestBinaryTrim(t *testing.T) {
	b := binaries{t.TempDir()}
	at := time.Now()
	put := func(name string, size int, age time.Duration) {
		path := filepath.Join(b.folder, name)
		if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	put("oldest.bin", 400, 3*time.Hour)
	put("old.bin", 400, 2*time.Hour)
	put("recent.bin", 400, time.Minute)
	put("new-1", 1000, 2*time.Hour)
	put("new-2", 1000, time.Minute)
	put("file of the user", 5000, 9*time.Hour)
	for _, c := range []struct {
		limit int64
		want  string
	}{
		{1200, "file of the user new-2 old.bin oldest.bin recent.bin"},
		{1199, "file of the user new-2 old.bin recent.bin"},
		{400, "file of the user new-2 recent.bin"},
		{0, "file of the user new-2"},
	} {
		b.trim(c.limit)
		entries, err := os.ReadDir(b.folder)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("%d bytes: %q stay, want %q", c.limit, got, c.want)
		}
	}
}

// FuzzUnseal: only a sealed binary is read back.
func FuzzUnseal(f *testing.F) {
	f.Add("key", []byte("binary"))
	f.Add("", seal("", []byte{0}))
	f.Fuzz(func(t *testing.T, key string, data []byte) {
		if binary, ok := unseal(key, data); ok && (len(binary) == 0 || !bytes.Equal(seal(key, binary), data)) {
			t.Errorf("%q is read as %q", data, binary)
		}
		if len(data) > 0 {
			if binary, ok := unseal(key, seal(key, data)); !ok || !bytes.Equal(binary, data) {
				t.Errorf("%q is read back as %q", data, binary)
			}
		}
	})
}
