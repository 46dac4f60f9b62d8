package rank

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"heddle/engine/bench/workload"
	"heddle/engine/index/bm25"
)

// programs are the programs of PISA that a pisaIndex runs.
var programs = []string{"compress_inverted_index", "create_wand_data", "lexicon", "evaluate_queries", "queries"}

// checkPrograms reports the programs of PISA that folder lacks.
func checkPrograms(folder string) error {
	var missing []string
	for _, name := range programs {
		if _, err := exec.LookPath(filepath.Join(folder, name)); err != nil {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("--pisa %s: the folder has no program %s: build PISA and name its folder bin", folder, strings.Join(missing, ", "))
	}
	return nil
}

// pisaCollection is the data of a pisaIndex.
type pisaCollection struct {
	Lengths []uint32 // length of each document, in tokens
	Lists   int      // number of lists, none of them empty
	// List returns the ascending docIDs of a list and its term frequencies. They are valid
	// until the next call.
	List    func(list int) (docs, freqs []uint32, err error)
	Queries [][]uint32  // lists of each query
	Params  bm25.Params // k1 and b; PISA has its own weight of a term, bm25.PISA
}

// encoding is the codec of the lists: blocks of 128 gaps with one bit width (SIMD-BP128).
const encoding = "block_simdbp"

// blockLen is the number of postings for each entry of the block maxima.
const blockLen = "40"

// pisaIndex is an index of PISA in files.
type pisaIndex struct {
	programs string // folder
	base     string // common part of the names of the files
	scorer   []string
	queries  int
}

// buildPISA writes a collection to folder and indexes it with the programs of PISA.
func buildPISA(ctx context.Context, programs, folder string, c *pisaCollection) (*pisaIndex, error) {
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	x := &pisaIndex{programs: programs, base: filepath.Join(folder, "pisa"), queries: len(c.Queries),
		scorer: []string{"--scorer", "bm25", "--bm25-k1", number(c.Params.K1), "--bm25-b", number(c.Params.B)}}
	if err := x.write(c); err != nil {
		return nil, err
	}
	for _, args := range [][]string{
		{"compress_inverted_index", "--collection", x.base, "--output", x.base + ".index", "--encoding", encoding},
		append([]string{"create_wand_data", "--collection", x.base, "--output", x.base + ".wand", "--block-size", blockLen}, x.scorer...),
		{"lexicon", "build", x.base + ".names", x.base + ".lexicon"},
	} {
		if _, err := x.run(ctx, args...); err != nil {
			return nil, err
		}
	}
	return x, nil
}

// write writes the files that the programs read: .docs, .freqs, .sizes, .names, .queries.
func (x *pisaIndex) write(c *pisaCollection) error {
	files := make(map[string]*bufio.Writer)
	var errs []error
	var closers []func() error
	for _, suffix := range []string{".docs", ".freqs", ".sizes", ".names", ".queries"} {
		f, err := os.Create(x.base + suffix)
		if err != nil {
			errs = append(errs, err)
			break
		}
		w := bufio.NewWriterSize(f, 1<<20)
		files[suffix] = w
		closers = append(closers, func() error { return errors.Join(w.Flush(), f.Close()) })
	}
	if len(errs) == 0 {
		workload.WriteSequence(files[".docs"], []uint32{uint32(len(c.Lengths))})
		for list := range c.Lists {
			docs, freqs, err := c.List(list)
			if err != nil {
				errs = append(errs, err)
				break
			}
			workload.WriteSequence(files[".docs"], docs)
			workload.WriteSequence(files[".freqs"], freqs)
		}
		workload.WriteSequence(files[".sizes"], c.Lengths)
		for doc := range c.Lengths {
			fmt.Fprintln(files[".names"], doc)
		}
		for i, q := range c.Queries {
			fmt.Fprintln(files[".queries"], strconv.Itoa(i)+":"+strings.Trim(fmt.Sprint(q), "[]"))
		}
	}
	for _, f := range closers {
		errs = append(errs, f())
	}
	return errors.Join(errs...)
}

// run runs a program of PISA and returns its output.
func (x *pisaIndex) run(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, filepath.Join(x.programs, args[0]), args[1:]...)
	var notes strings.Builder
	cmd.Stderr = &notes
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("pisa: %s: %w: %s", args[0], err, strings.TrimSpace(notes.String()))
	}
	return out, err
}

// Bytes is the size of the files that PISA answers from: lists and block maxima.
func (x *pisaIndex) Bytes() (n int64, err error) {
	for _, suffix := range []string{".index", ".wand"} {
		info, err := os.Stat(x.base + suffix)
		if err != nil {
			return 0, err
		}
		n += info.Size()
	}
	return n, nil
}

// ask returns the arguments of a program that answers the queries.
func (x *pisaIndex) ask(program, algorithm string, k int, more ...string) []string {
	args := []string{program, "--encoding", encoding, "--index", x.base + ".index", "--wand", x.base + ".wand",
		"--queries", x.base + ".queries", "--algorithm", algorithm, "-k", strconv.Itoa(k)}
	return append(append(args, x.scorer...), more...)
}

// Rank returns the best k documents of each query by an algorithm of PISA.
func (x *pisaIndex) Rank(ctx context.Context, algorithm string, k int) ([]pisaRanking, error) {
	out, err := x.run(ctx, x.ask("evaluate_queries", algorithm, k, "--documents", x.base+".lexicon", "--threads", "1")...)
	if err != nil {
		return nil, err
	}
	return parseRankings(string(out), x.queries)
}

// Time runs the queries one after another on one core, after a run to warm up, and returns
// the time of each query in microseconds.
func (x *pisaIndex) Time(ctx context.Context, algorithm string, k int) ([]float64, error) {
	path := x.base + ".times"
	if _, err := x.run(ctx, x.ask("queries", algorithm, k, "--runs", "1", "--output", path)...); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return parseTimes(string(text), x.queries)
}
