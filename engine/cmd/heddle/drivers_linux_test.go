package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"heddle/engine/plan/testneeds"
)

// brokenDriver compiles testdata/driver.c, once for all tests.
var brokenDriver = sync.OnceValues(func() ([]byte, error) {
	folder, err := os.MkdirTemp("", "driver")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	library := filepath.Join(folder, "driver.so")
	if said, err := exec.Command("gcc", "-shared", "-fPIC", "-o", library, driverSource).CombinedOutput(); err != nil {
		return said, err
	}
	return os.ReadFile(library)
})

// driverSource is the source of the driver, by its path from any folder.
var driverSource, _ = filepath.Abs("testdata/driver.c")

// system is a machine whose only OpenCL driver is the one of testdata/driver.c.
type system struct {
	*testing.T
	vendors, library string
	environ          []string
}

// newSystem makes a machine whose driver is broken in some way. Its commands have a cache of their
// own.
func newSystem(t *testing.T, mode string) *system {
	t.Helper()
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("the driver is written in C, and this machine has no gcc")
	}
	driver, err := brokenDriver()
	if err != nil {
		t.Fatalf("%v: %s", err, driver)
	}
	folder := t.TempDir()
	m := &system{t, filepath.Join(folder, "vendors"), filepath.Join(folder, "driver.so"), nil}
	m.environ = []string{"HEDDLE_TEST_DRIVER=" + mode, "OCL_ICD_VENDORS=" + m.vendors, "OCL_ICD_FILENAMES=", "HEDDLE_CACHE=" + filepath.Join(folder, "cache"), "HEDDLE_DEVICES_PROBE=2s"}
	if err := os.Mkdir(m.vendors, 0o755); err != nil {
		t.Fatal(err)
	}
	m.write(m.library, string(driver))
	m.write(filepath.Join(m.vendors, "broken.icd"), m.library+"\n")
	return m
}

func (m *system) write(path, text string) {
	m.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		m.Fatal(err)
	}
}

// run runs the command in a process.
func (m *system) run(args ...string) (code int, stdout, stderr string) {
	m.Helper()
	cmd := process(m.Context(), args...)
	cmd.Env = append(cmd.Env, m.environ...)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); cmd.ProcessState == nil {
		m.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), said.String()
}

// table builds a small table and returns its path.
func table(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	csv, path := filepath.Join(folder, "t.csv"), filepath.Join(folder, "t.hdb")
	if err := os.WriteFile(csv, []byte("x\n1e-310\n2e-310\n1e-320\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	must(t, "bitmap", "build", "-o", path, csv)
	return path
}

// sum is the sum of the table with subnormal numbers.
const sum = "sum(x)\n3.0000000001e-310\n"

// TestBrokenDrivers: a driver that hangs, crashes or ends the process is reported with its .icd
// file, the phase and the fault. Other commands leave it out, and answer in pure Go.
func TestBrokenDrivers(t *testing.T) {
	testneeds.Waits(t)
	testneeds.Host(t)
	path := table(t)
	for mode, want := range map[string]string{
		"hang_load":      "no answer for [0-9.]+s during the loading of the library",
		"hang_platforms": "no answer for [0-9.]+s during the search for platforms",
		"hang_devices":   "no answer for [0-9.]+s during the search for devices",
		"hang_context":   "no answer for [0-9.]+s during the creation of a context",
		"hang_build":     "no answer for [0-9.]+s during the build of the kernels",
		"crash_load":     "signal SIGSEGV during the loading of the library",
		"abort_devices":  "signal SIGABRT during the search for devices",
		"exit_load":      "exit code 7 during the loading of the library",
		"crash_build":    "signal SIGSEGV during the build of the kernels",
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			m := newSystem(t, mode)
			code, out, said := m.run("bitmap", "query", path, "--select", "sum(x)", "--backend", "all")
			if code != exitSuccess || out != sum || !strings.Contains(said, "OpenCL driver left out") || !strings.Contains(said, "broken.icd") {
				t.Errorf("backend all: exit code %d, %q, %q", code, out, said)
			}
			code, out, said = m.run("bitmap", "query", path, "--select", "sum(x)", "--backend", "opencl")
			if code != exitDevice || out != "" || !strings.Contains(said, filepath.Join(m.vendors, "broken.icd")) || !regexp.MustCompile(want).MatchString(said) {
				t.Errorf("backend opencl: exit code %d, %q, %q, want %q", code, out, said, want)
			}
		})
	}
}

// TestDriverCache: a result is kept until the driver changes, and "devices" examines it anew.
func TestDriverCache(t *testing.T) {
	testneeds.Host(t)
	path := table(t)
	m := newSystem(t, "crash_load")
	query := func() bool {
		code, out, said := m.run("bitmap", "query", path, "--select", "sum(x)", "--backend", "all")
		if code != exitSuccess || out != sum {
			t.Fatalf("exit code %d, %q, %q", code, out, said)
		}
		return strings.Contains(said, "left out")
	}
	if !query() {
		t.Error("a broken driver is not left out")
	}
	m.environ[0] = "HEDDLE_TEST_DRIVER=none" // repaired, and the cache cannot know
	if !query() {
		t.Error("the driver is examined again")
	}
	now := time.Now().Add(time.Minute)
	if err := os.Chtimes(m.library, now, now); err != nil {
		t.Fatal(err)
	}
	if query() {
		t.Error("a driver that has changed is not examined again")
	}
	m.environ[0] = "HEDDLE_TEST_DRIVER=crash_load"
	code, out, said := m.run("devices", "--json", "--backend", "auto")
	var a devicesAnswer
	if err := json.Unmarshal([]byte(out), &a); err != nil || code != exitSuccess || !strings.Contains(a.OpenCL, "broken.icd: signal SIGSEGV during the loading") {
		t.Errorf("devices: exit code %d, %q, %q", code, out, said)
	}
	if !query() {
		t.Error("the result of devices is not kept")
	}
}

// TestFloatDriver: a driver that changes the rounding and the treatment of subnormal numbers while it loads
// changes no answer. Nor does one that prints.
func TestFloatDriver(t *testing.T) {
	testneeds.Host(t)
	path := table(t)
	for mode, printed := range map[string]string{"float": "", "print": "banner of the driver\n"} {
		m := newSystem(t, mode)
		code, out, said := m.run("bitmap", "query", path, "--select", "sum(x)", "--backend", "all")
		if code != exitSuccess || out != sum || said != printed {
			t.Errorf("%s: exit code %d, %q, %q", mode, code, out, said)
		}
	}
}

// TestDoctorJudges names drivers that are no libraries, quotes .icd files, lists a driver with
// several of them once, and escapes control characters.
func TestDoctorJudges(t *testing.T) {
	testneeds.Host(t)
	m := newSystem(t, "names")
	garbage := filepath.Join(t.TempDir(), "garbage.so")
	m.write(garbage, strings.Repeat("garbage ", 640))
	m.write(filepath.Join(m.vendors, "garbage.icd"), garbage)
	m.write(filepath.Join(m.vendors, "binary.icd"), "\x7fELF\x1b[31m"+strings.Repeat("\x00\xff", 4000))
	m.write(filepath.Join(m.vendors, "second.icd"), m.library)
	m.write(filepath.Join(m.vendors, "third.icd"), m.library)
	code, out, said := m.run("devices", "--doctor")
	for _, want := range []string{
		"garbage.icd: no library that this process can load: " + garbage + ": invalid ELF header during the loading of the library",
		`binary.icd names "\x7fELF\x1b[31m\x00\xff`,
		"broken.icd, " + filepath.Join(m.vendors, "second.icd") + ", " + filepath.Join(m.vendors, "third.icd") + ": ",
		`\x1b]0;owned\a GPU\xff\nline`,
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q", want)
		}
	}
	if code != exitDevice || strings.ContainsAny(out, "\x1b\x07\x00") || strings.Count(out, m.library) != 1 {
		t.Errorf("exit code %d, %q, %q", code, out, said)
	}
	for line := range strings.Lines(out) {
		if len(line) > 600 {
			t.Errorf("a line of %d bytes", len(line))
		}
	}
	code, out, said = m.run("devices", "--backend", "auto")
	if code != exitSuccess || strings.ContainsAny(out, "\x1b\x07\x00") || !strings.Contains(out, `\x1b]0;owned\a GPU`) || !strings.Contains(out, "this compiler compiles nothing") {
		t.Errorf("devices: exit code %d, %q, %q", code, out, said)
	}
}

// TestClosedPipe: the command ends by SIGPIPE when the reader of its answers has gone.
func TestClosedPipe(t *testing.T) {
	self, err := filepath.Abs(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-c", `"$0" config print | sleep 0; echo "${PIPESTATUS[0]}"`, self)
	cmd.Env = append(os.Environ(), processEnv()...)
	out, err := cmd.Output()
	if codes := string(out); err != nil || codes != "141\n" && codes != "0\n" { // the writer may have ended before
		t.Errorf("%v, exit codes %q", err, codes)
	}
}

// TestAddressSpace: a driver that does not fit in the address space is reported with the limit and the need.
func TestAddressSpace(t *testing.T) {
	testneeds.Host(t)
	if testneeds.Race {
		t.Skip("the race detector itself needs more address space")
	}
	m := newSystem(t, "")
	m.write(m.library+".c", "char large[8ULL << 30];\n")
	if said, err := exec.Command("gcc", "-shared", "-fPIC", "-o", m.library, m.library+".c").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	for _, args := range [][]string{{"devices", "--doctor"}, {"bitmap", "query", table(t), "--select", "sum(x)", "--backend", "opencl"}} {
		cmd := exec.CommandContext(t.Context(), "bash", append([]string{"-c", `ulimit -v 4000000; exec "$0" "$@"`, os.Args[0]}, args...)...)
		cmd.Env = append(append(os.Environ(), processEnv()...), m.environ...)
		said, err := cmd.CombinedOutput()
		if cmd.ProcessState == nil {
			t.Fatal(err)
		}
		const want = "too little memory: the limit of the address space is 3906 MiB (ulimit -v), drivers need about 4096 MiB"
		if cmd.ProcessState.ExitCode() != exitDevice || !strings.Contains(string(said), want) || strings.Contains(string(said), "goroutine") {
			t.Errorf("%s: exit code %d, %s", args[0], cmd.ProcessState.ExitCode(), said)
		}
	}
}
