//go:build !noopencl && linux && (amd64 || arm64 || loong64 || ppc64le || riscv64)

package cl

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/ebitengine/purego"
)

// TestEntries reports the three entries in its environment to its parent process.
func TestEntries(t *testing.T) {
	if !inChild() {
		t.Skip("runs as a child of the tests of broken installations")
	}
	platforms, err := GetPlatforms()
	t.Logf("platforms: %d %v", len(platforms), err)
	t.Logf("unsupported: %v", errors.Is(err, ErrUnsupported))
	if _, err := GetDevices(nil, DeviceTypeAll); err == nil {
		t.Error("GetDevices found a device")
	}
	if _, err := CreateContext([]*Device{{id: 0}}); err == nil {
		t.Error("CreateContext took no device")
	}
}

func TestBrokenLibrary(t *testing.T) {
	dir := t.TempDir()
	file := func(name, contents string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(contents), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, c := range map[string]struct{ path, want string }{
		"absent":    {filepath.Join(dir, "absent.so"), "cannot open shared object file"},
		"empty":     {file("empty.so", ""), "file too short"},
		"corrupt":   {file("corrupt.so", strings.Repeat("corrupt ", 1000)), "invalid ELF header"},
		"directory": {dir, "cannot read file data"},
		"other":     {"libc.so.6", "older than 1.2"},
	} {
		t.Run(name, func(t *testing.T) {
			out := child(t, "^TestEntries$", "HEDDLE_OPENCL_LIBRARY="+c.path)
			for _, want := range []string{"platforms: 0 cl: unsupported", "unsupported: true", filepath.Base(c.path), c.want} {
				if !strings.Contains(out, want) {
					t.Errorf("no %q in:\n%s", want, out)
				}
			}
		})
	}
}

func TestBrokenDriver(t *testing.T) {
	if err := load(); err != nil {
		t.Skipf("no OpenCL here: %v", err)
	}
	for name, c := range map[string]struct{ icd, library string }{
		"none":    {"", ""},
		"absent":  {"a.icd", ""},
		"corrupt": {"a.icd", strings.Repeat("corrupt ", 1000)},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			library := filepath.Join(dir, "driver.so")
			if c.library != "" {
				if err := os.WriteFile(library, []byte(c.library), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if c.icd != "" {
				if err := os.WriteFile(filepath.Join(dir, c.icd), []byte(library+"\n"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			out := child(t, "^TestEntries$", "OCL_ICD_VENDORS="+dir, "OCL_ICD_FILENAMES=")
			if !strings.Contains(out, "platforms: 0 ") || !strings.Contains(out, "unsupported: false") {
				t.Errorf("unexpected output:\n%s", out)
			}
		})
	}
}

// TestOneThread checks, in serial mode, that calls from many threads run on one.
func TestOneThread(t *testing.T) {
	if !inChild() {
		if err := load(); err != nil {
			t.Skipf("no OpenCL here: %v", err)
		}
		child(t, "^TestOneThread$", "HEDDLE_OPENCL_SERIAL=1")
		return
	}
	if err := load(); err != nil {
		t.Fatal(err)
	}
	libc, err := purego.Dlopen("libc.so.6", purego.RTLD_NOW)
	if err != nil {
		t.Fatal(err)
	}
	addr, err := purego.Dlsym(libc, "syscall")
	if err != nil {
		t.Fatal(err)
	}
	call := &function{name: "syscall", addr: addr}
	threads := make([]uintptr, 16)
	var wg sync.WaitGroup
	for i := range threads {
		wg.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			threads[i] = call.call(syscall.SYS_GETTID)
			if threads[i] == uintptr(syscall.Gettid()) {
				t.Error("the call ran on the thread of its caller")
			}
		})
	}
	wg.Wait()
	for _, thread := range threads {
		if thread == 0 || thread != threads[0] {
			t.Fatalf("calls ran on threads %v", threads)
		}
	}
}

// TestSerial runs the tests of the devices again with every call on one thread.
func TestSerial(t *testing.T) {
	testDevice(t)
	out := child(t, "^Test(Concurrent|Transfers|Map|Profiling|BuildLog)$", "HEDDLE_OPENCL_SERIAL=1")
	if n := strings.Count(out, "--- PASS"); n != 5 {
		t.Errorf("%d of 5 tests passed:\n%s", n, out)
	}
}

// TestOclgrind runs a concurrent program on Oclgrind, which aborts when two threads
// call it at once.
func TestOclgrind(t *testing.T) {
	const driver = "/usr/lib/oclgrind/liboclgrind-rt-icd.so"
	if _, err := os.Stat(driver); err != nil {
		t.Skipf("no Oclgrind here: %v", err)
	}
	if err := load(); err != nil {
		t.Skipf("no OpenCL here: %v", err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "oclgrind.icd"), []byte(driver+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(dir, "log")
	out := child(t, "^TestConcurrent$", "HEDDLE_OPENCL_SERIAL=1", "OCL_ICD_VENDORS="+dir, "HEDDLE_TEST_DEVICE=Oclgrind",
		"OCLGRIND_CHECK_API=1", "OCLGRIND_DATA_RACES=1", "OCLGRIND_UNINITIALIZED=1", "OCLGRIND_LOG="+log)
	if !strings.Contains(out, "--- PASS: TestConcurrent") {
		t.Errorf("unexpected output:\n%s", out)
	}
	if findings, err := os.ReadFile(log); err != nil || len(findings) > 0 {
		t.Errorf("findings of Oclgrind (%v):\n%s", err, findings)
	}
}
