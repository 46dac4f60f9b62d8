package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"heddle/cl"
	"heddle/engine/plan/testneeds"
)

// TestExamples runs every example of every help text as written.
func TestExamples(t *testing.T) {
	testneeds.Long(t)
	if runtime.GOOS == "windows" {
		t.Skip("examples are for a POSIX shell")
	}
	table := former(t)
	inTempDir(t)
	writeFile(t, "books.tsv", "a\theaven and earth\nb\tthe earth\nc\tthe loom of heaven over earth\n")
	writeFile(t, "stop.txt", "the\nof\n")
	writeFile(t, "queries.tsv", "7\theaven\n8\tearth loom\n")
	writeFile(t, "log.tsv", strings.Repeat("7\theaven\n8\tearth loom\n9\tthe\n", 10))
	writeFile(t, "run.txt", "7 Q0 a 1 0.5 tag\n8 Q0 c 1 0.5 tag\n")
	for _, name := range []string{"bm25.txt", "splade.txt"} {
		writeFile(t, name, "7 Q0 a 1 0.5 tag\n7 Q0 c 2 0.4 tag\n8 Q0 c 1 0.5 tag\n")
	}
	writeFile(t, "qrels.txt", "7 0 a 1\n8 0 c 1\n")
	writeFile(t, "tuning.toml", tuningRow)
	writeFile(t, "flights.csv", "delay,distance,carrier\n61,500,AA\n2,4100,DL\n1200,800,AA\n")
	writeFile(t, "flights.csv.gz", zipped(t, "delay,distance,carrier\n61,500,AA\n2,4100,DL\n"))
	writeFile(t, "delay.gz", zipped(t, "\x3d\x00\x02\x00\xb0\x04"))
	writeFile(t, "distance.gz", zipped(t, "\xf4\x01\x04\x10\x20\x03"))
	writeFile(t, "books.csv", "price,pages\n12,300\n8,120\n30,900\n")
	must(t, "index", "build", "-o", "books.hdl", "books.tsv")
	must(t, "index", "build", "-o", "docs.hdl", "books.tsv")
	must(t, "bitmap", "build", "-o", "books.hdb", "books.csv")
	writeFile(t, "docs.csv", "year,lang\n1950,de\n1890,en\n2001,de\n")
	must(t, "bitmap", "build", "-o", "docs.hdb", "docs.csv")
	must(t, "bitmap", "query", "docs.hdb", "--where", "year > 1900", "--roaring", "docs.roaring")
	must(t, "collection", "create", "news")
	must(t, "bitmap", "build", "-o", "2025-11-29.hdb", "flights.csv")
	if err := os.Mkdir("flights", 0o755); err != nil {
		t.Fatal(err)
	}
	must(t, "bitmap", "build", "-o", "flights/2025-11-28.hdb", "flights.csv")
	writeFile(t, "old.hdb", table)
	writeFile(t, "day1.jsonl", `{"id":"monday","text":"the red loom"}`+"\n"+`{"id":"tuesday","text":"heaven"}`+"\n")
	must(t, "collection", "create", "stories", "--store", "source", "--attribute", "year=int")
	must(t, "collection", "add", "stories", "day1.jsonl")
	writeFile(t, "old.txt", "monday\n")
	self, err := filepath.Abs(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, "heddle"); err != nil {
		t.Fatal(err)
	}
	examples := 0
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			walk(sub)
		}
		if c.HasSubCommands() || c.Hidden || c.Name() == "help" || c.Name() == "demo" || c.Name() == "serve" || c.Name() == "dev" || c.Name() == "load" || c.Parent().Name() == "completion" || c.Parent().Name() == "bench" {
			return // no examples; the benchmarks, serve and load have separate tests
		}
		if c.IsAdditionalHelpTopicCommand() {
			return // a page of text
		}
		if c.Flags().Lookup("cluster") != nil {
			return // TestClusterChanges runs these commands with a cluster
		}
		if c.Example == "" {
			t.Errorf("%s has no example", c.CommandPath())
		}
		for example := range strings.Lines(c.Example) {
			examples++
			example = strings.TrimSpace(example)
			if strings.HasPrefix(example, "heddle calibrate") {
				example += " --time 10ms"
			}
			if !strings.HasPrefix(example, "heddle tune") {
				runExample(t, example)
				continue
			}
			t.Run(example, func(t *testing.T) {
				needsTuning(t)
				runExample(t, example+" --short --device "+testneeds.Device(t))
				if _, err := cl.ReadTunings("tuning.toml"); err != nil { // the first example writes it
					t.Error(err)
				}
			})
		}
	}
	walk(newRoot(&App{}, ""))
	if examples < 12 {
		t.Errorf("only %d examples were found", examples)
	}
}

func runExample(t *testing.T, example string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "/bin/sh", "-ec", example)
	cmd.Env = append(os.Environ(), append(processEnv(), "PATH=.:/usr/bin:/bin")...)
	out, err := cmd.Output()
	if err != nil || len(out) == 0 && !strings.Contains(example, ">") && !strings.Contains(example, " -o ") && !strings.Contains(example, "--roaring") && !strings.Contains(example, "collection create") {
		t.Errorf("%s: %v, output %q", example, err, out)
	}
}

// TestFirstAnswer checks that a process starts and answers in less than 0.3 s of CPU time. Other
// processes lengthen the wall time.
func TestFirstAnswer(t *testing.T) {
	buildCollection(t)
	best := time.Hour
	for range 5 {
		cmd := process(t.Context(), "search", "c.hdl", "--query", "w3 w0", "--backend", "host", "--device", "")
		out, err := cmd.Output()
		if err != nil || len(out) == 0 {
			t.Fatalf("%v, output %q", err, out)
		}
		best = min(best, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
	}
	if best > 300*time.Millisecond {
		t.Errorf("the first answer took %v of CPU time", best)
	}
}

// interrupt starts a command that waits for standard input, interrupts it, and returns
// its exit code and output.
func interrupt(t *testing.T, stdin string, args ...string) (code int, stderr string) {
	t.Helper()
	cmd := process(t.Context(), args...)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Write([]byte(stdin)); err != nil {
		t.Fatal(err)
	}
	// A search runs once the first answer has arrived. A build runs because it has read
	// everything except for the content of the pipe.
	if args[1] != "build" {
		if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	err = cmd.Wait() // up to the time-out of the test: its input stays open
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		t.Fatalf("ended with %v, want an exit code", err)
	}
	if ws, ok := exit.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		t.Errorf("ended by signal %v: it did not tidy up", ws.Signal())
	}
	return exit.ExitCode(), said.String()
}

func TestInterruptedSearch(t *testing.T) {
	buildCollection(t)
	if code, said := interrupt(t, "w0\n", "search", "c.hdl", "--queries", "-", "--count"); code != exitFailure || said != "heddle search: interrupted\n" {
		t.Errorf("exit code %d, %q", code, said)
	}
}

func TestInterruptedBuild(t *testing.T) {
	buildCollection(t)
	var documents strings.Builder // far more than a pipe holds
	for i := range 100_000 {
		fmt.Fprintf(&documents, "%d\tword%d\n", i, i)
	}
	code, said := interrupt(t, documents.String(), "index", "build", "-o", "new.hdl", "--format", "text", "--build-memory", "256MiB", "-")
	if code != exitFailure || said != "heddle index build: interrupted\n" {
		t.Errorf("exit code %d, %q", code, said)
	}
	if f := files(t); f != "c.hdl c.tsv" {
		t.Errorf("left behind: %s", f)
	}
}

// TestNoOpenCL checks that everything works on the host without an OpenCL library.
func TestNoOpenCL(t *testing.T) {
	buildCollection(t)
	run := func(args ...string) (string, int) {
		cmd := process(t.Context(), args...)
		cmd.Env = append(cmd.Env, "HEDDLE_OPENCL_LIBRARY="+filepath.Join(t.TempDir(), "none.so"), "HEDDLE_DEVICES_BACKEND=auto", "HEDDLE_DEVICES_DEVICE=")
		out, err := cmd.CombinedOutput()
		if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
			t.Fatal(err)
		}
		return string(out), cmd.ProcessState.ExitCode()
	}
	if out, code := run("search", "c.hdl", "--query", "w0", "--count"); code != 0 || !strings.HasPrefix(out, "1\t") {
		t.Errorf("search: exit code %d, %s", code, out)
	}
	if out, code := run("devices"); code != 0 || !strings.HasPrefix(out, "* host: ") || !strings.Contains(out, "opencl: ") {
		t.Errorf("devices: exit code %d, %s", code, out)
	}
	for _, args := range [][]string{{"devices", "--backend", "opencl"}, {"search", "c.hdl", "--query", "w0", "--backend", "opencl"}} {
		if out, code := run(args...); code != exitDevice || !strings.Contains(out, "no such device") {
			t.Errorf("%q: exit code %d, %s", args, code, out)
		}
	}
}

// TestEmptyEnvironment opens a device without PATH, in which PoCL looks for a linker. An empty
// cache makes PoCL build and link all kernels, as they are written: it links optimized ones alike.
func TestEmptyEnvironment(t *testing.T) {
	testneeds.OneCaller(t)
	device := useDevice(t)
	buildCollection(t)
	cmd := process(t.Context(), "search", "c.hdl", "--query", "w0", "--count", "--backend", "opencl", "--device", device)
	cmd.Env = []string{asCommand + "=1", "POCL_CACHE_DIR=" + t.TempDir(), "POCL_EXTRA_BUILD_FLAGS=-cl-opt-disable"}
	for _, name := range []string{"OCL_ICD_VENDORS", "HEDDLE_OPENCL_LIBRARY", "LD_LIBRARY_PATH"} {
		if value, ok := os.LookupEnv(name); ok {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
