package lists

import (
	"bufio"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"heddle/engine/bench/workload"
)

//go:embed driver/driver.c
var driver []byte

// operations are the operations that the driver runs, in its order: AND of successive pairs
// and OR of all lists, with docIDs or only their number.
var operations = []string{"and", "and-count", "or", "or-count"}

// roaringAnswer is the result of one operation.
type roaringAnswer struct {
	Micros  float64 // least CPU time of a round
	Matches uint64  // number of docIDs
	Digest  uint64  // see driverDigest; 0 for a number
}

// driverDigest is the checksum of docIDs in a roaringAnswer.
func driverDigest(docs []uint32) (d uint64) {
	for _, x := range docs {
		d = (d ^ uint64(x)) * 0x100000001b3
	}
	return d
}

// roaringDriver is a compiled driver.
type roaringDriver struct{ path string }

// buildDriver compiles the driver in folder against the library in prefix, which has the folders
// include and lib. CC names the C compiler; the default is cc.
func buildDriver(ctx context.Context, prefix, folder string) (*roaringDriver, error) {
	library := ""
	for _, name := range []string{"libroaring.a", "libroaring.so"} {
		path := filepath.Join(prefix, "lib", name)
		if _, err := os.Stat(path); err == nil {
			library = path
			break
		}
	}
	if library == "" {
		return nil, fmt.Errorf("--croaring %s: the folder has no lib/libroaring.a: install CRoaring and name its prefix", prefix)
	}
	source := filepath.Join(folder, "driver.c")
	if err := os.WriteFile(source, driver, 0o666); err != nil {
		return nil, err
	}
	compiler := os.Getenv("CC")
	if compiler == "" {
		compiler = "cc"
	}
	d := &roaringDriver{filepath.Join(folder, "driver")}
	_, err := run(ctx, compiler, "-std=c11", "-D_POSIX_C_SOURCE=200809L", "-O3", "-I", filepath.Join(prefix, "include"), source, library,
		"-Wl,-rpath,"+filepath.Dir(library), "-lm", "-o", d.path)
	return d, err
}

// run runs a program and returns its output.
func run(ctx context.Context, program string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	var notes strings.Builder
	cmd.Stderr = &notes
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("croaring: %s: %w: %s", filepath.Base(program), err, strings.TrimSpace(notes.String()))
	}
	return out, err
}

// writeLists writes lists to a file for Run.
func writeLists(path string, lists [][]uint32) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	for _, l := range lists {
		workload.WriteSequence(w, l)
	}
	return errors.Join(w.Flush(), f.Close())
}

// Run runs every operation on the lists of a file, the given number of rounds each.
func (d *roaringDriver) Run(ctx context.Context, path string, rounds int) (map[string]roaringAnswer, error) {
	out, err := run(ctx, d.path, path, strconv.Itoa(rounds))
	if err != nil {
		return nil, err
	}
	return parseAnswers(string(out))
}

// parseAnswers reads the output of the driver.
func parseAnswers(text string) (map[string]roaringAnswer, error) {
	answers := make(map[string]roaringAnswer)
	n := 0
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if n == len(operations) || len(fields) != 4 || fields[0] != operations[n] {
			return nil, fmt.Errorf("croaring: line %d: %q, not the answer of operation %d of %v", n+1, line, n+1, operations)
		}
		micros, err := strconv.ParseFloat(fields[1], 64)
		matches, err2 := strconv.ParseUint(fields[2], 10, 64)
		digest, err3 := strconv.ParseUint(fields[3], 10, 64)
		if err := errors.Join(err, err2, err3); err != nil {
			return nil, fmt.Errorf("croaring: line %d: %w", n+1, err)
		}
		answers[fields[0]] = roaringAnswer{micros, matches, digest}
		n++
	}
	if n < len(operations) {
		return nil, fmt.Errorf("croaring: answers of %d operations, not %d", n, len(operations))
	}
	return answers, nil
}
