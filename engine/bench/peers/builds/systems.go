package builds

import (
	"bufio"
	"context"
	_ "embed"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// heddles calls f for each version of heddle.
func (b *bench) heddles(f func(name, program string)) {
	for i, program := range b.opt.Heddle {
		name := "heddle"
		if i+1 < len(b.opt.Heddle) {
			name = "heddle before"
		}
		f(name, program)
	}
}

// outFile is the path of an output.
func (b *bench) outFile(name string) string {
	return filepath.Join(b.opt.Work, strings.ReplaceAll(name, " ", "-"))
}

func one(name string, builds bool, args ...string) step {
	return step{name: name, builds: builds, commands: []command{{args: args}}}
}

// texts indexes documents, and counts the documents of a word in a process of its own.
func (b *bench) texts(ctx context.Context, inputs []string) (all []system) {
	word := "memory"
	if strings.HasSuffix(inputs[0], ".jsonl") {
		var w strings.Builder
		appendWord(&w, 1000)
		word = w.String()
	}
	b.heddles(func(name, program string) {
		x := b.outFile(name + ".hdl")
		all = append(all, system{name: name, outputs: []string{x}, steps: []step{
			one("build", true, program, "index", "build", "--no-progress", "-o", x, inputs[0]),
			one("first answer", false, program, "search", x, "--backend", "host", "--query", word, "--count"),
		}})
	})
	plain := inputs[1]
	if sqlite, err := exec.LookPath("sqlite3"); err == nil {
		x := b.outFile("fts5.db")
		script := fmt.Sprintf("create virtual table t using fts5(name unindexed, text, content='', detail=none);\n"+
			".mode ascii\n.separator \"\\t\" \"\\n\"\n.import %s t\ninsert into t(t) values('optimize');\nvacuum;\n", plain)
		all = append(all, system{name: "SQLite FTS5", outputs: []string{x}, steps: []step{
			{name: "build", builds: true, commands: []command{{args: []string{sqlite, x}, stdin: script}}},
			one("first answer", false, sqlite, x, fmt.Sprintf("select count(*) from t where t match '%s'", word)),
		}})
	} else {
		fmt.Fprintf(b.log, "SQLite FTS5 is left out: %v\n", err)
	}
	if b.jobs != "" {
		x := b.outFile("bleve.index")
		all = append(all, system{name: "bleve", outputs: []string{x}, steps: []step{
			one("build", true, b.jobs, "bleve", "build", x, plain),
			one("first answer", false, b.jobs, "bleve", "count", x, word),
		}})
	}
	if x, err := b.xapian(plain, word); err == nil {
		all = append(all, x)
	} else {
		fmt.Fprintf(b.log, "Xapian is left out: %v\n", err)
	}
	if classes, err := b.lucene(ctx); err == nil {
		x := b.outFile("lucene.index")
		path := classes + ":" + filepath.Join(b.opt.Lucene, "*")
		all = append(all, system{name: "Lucene", outputs: []string{x}, steps: []step{
			one("build", true, "java", "-Xmx2g", "-cp", path, "Peer", "build", x, plain),
			one("first answer", false, "java", "-cp", path, "Peer", "count", x, word),
		}})
	} else {
		fmt.Fprintf(b.log, "Lucene is left out: %v\n", err)
	}
	return all
}

// xapian is Xapian with scriptindex of Omega, without positions and stems. Its input has a line
// for each field of a document, and an empty line after it.
func (b *bench) xapian(plain, word string) (s system, err error) {
	for _, program := range []string{"scriptindex", "quest"} {
		if _, err := exec.LookPath(program); err != nil {
			return s, err
		}
	}
	script := b.outFile("xapian.script")
	if err := os.WriteFile(script, []byte("name : field\ntext : indexnopos\n"), 0o666); err != nil {
		return s, err
	}
	records, err := b.input(filepath.Base(plain)+".records", func(w *bufio.Writer) error {
		f, err := os.Open(plain)
		if err != nil {
			return err
		}
		defer f.Close()
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 1<<26)
		for lines.Scan() {
			name, text, _ := strings.Cut(lines.Text(), "\t")
			fmt.Fprintf(w, "name=%s\ntext=%s\n\n", name, text)
		}
		return lines.Err()
	})
	x := b.outFile("xapian.db")
	return system{name: "Xapian", outputs: []string{x}, steps: []step{
		one("build", true, "scriptindex", "--stemmer=none", x, script, records),
		one("first answer", false, "quest", "--stemmer=none", "--msize=1", "--check-at-least=1000000000", "--db="+x, word),
	}}, err
}

//go:embed Peer.java
var peerJava string

// lucene compiles the program of Lucene, and returns the folder of its classes.
func (b *bench) lucene(ctx context.Context) (classes string, err error) {
	classes = b.outFile("lucene.classes")
	if err := os.MkdirAll(classes, 0o777); err != nil {
		return "", err
	}
	source := filepath.Join(classes, "Peer.java")
	if err := os.WriteFile(source, []byte(peerJava), 0o666); err != nil {
		return "", err
	}
	out, err := exec.CommandContext(ctx, "javac", "-cp", filepath.Join(b.opt.Lucene, "*"), "-d", classes, source).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return classes, nil
}

// lists makes indexes of inverted lists. PISA needs data for WAND beside its lists.
func (b *bench) lists(_ context.Context, inputs []string) (all []system) {
	b.heddles(func(name, program string) {
		x := b.outFile(name + ".hdl")
		all = append(all, system{name: name, outputs: []string{x}, steps: []step{
			one("build", true, program, "index", "build", "--no-progress", "-o", x, inputs[0]),
			one("first answer", false, program, "search", x, "--backend", "host", "--query", "t00099", "--count"),
		}})
	})
	if b.opt.PISA == "" {
		fmt.Fprintln(b.log, "PISA is left out: --pisa names no folder")
		return all
	}
	x, wand, base := b.outFile("pisa.lists"), b.outFile("pisa.wand"), strings.TrimSuffix(inputs[0], ".docs")
	return append(all, system{name: "PISA", outputs: []string{x, wand}, steps: []step{{name: "build", builds: true, commands: []command{
		{args: []string{filepath.Join(b.opt.PISA, "compress_inverted_index"), "-c", base, "-o", x, "-e", "block_simdbp"}},
		{args: []string{filepath.Join(b.opt.PISA, "create_wand_data"), "-c", base, "-o", wand, "-b", "64", "-s", "bm25"}},
	}}}})
}

// tables builds tables, and counts or prints the rows of predicates in a process each.
func (b *bench) tables(_ context.Context, inputs []string) (all []system) {
	half := time.Date(2024, 1, 1, 0, 0, b.opt.Rows/4, 0, time.UTC).Format("2006-01-02 15:04:05")
	type query struct {
		name, where string
		rows        bool
	}
	queries := []query{
		{"first answer", "id = 77777", false},
		{"rows, sorted", "moment < '" + half + "'", true},
		{"rows, clustered", "region = 77", true},
	}
	r := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{10, 100, 1000, 5000} {
		values := make([]string, n)
		for i := range values {
			values[i] = fmt.Sprint(r.IntN(1_000_000))
		}
		queries = append(queries, query{fmt.Sprintf("IN %d", n), "id IN (" + strings.Join(values, ",") + ")", false})
	}
	b.heddles(func(name, program string) {
		x := b.outFile(name + ".hdb")
		s := system{name: name, outputs: []string{x}, steps: []step{one("build", true, program, "bitmap", "build", "--no-progress", "-o", x, inputs[0])}}
		for _, q := range queries {
			args := []string{program, "bitmap", "query", x, "--backend", "host", "--where", q.where}
			if q.rows {
				args = append(args, "--rows")
			}
			s.steps = append(s.steps, one(q.name, false, args...))
		}
		s.steps = append(s.steps, one("ranges, sorted", false, program, "bitmap", "query", x, "--backend", "host", "--where", queries[1].where, "--rows=ranges"))
		all = append(all, s)
	})
	if b.jobs == "" {
		return all
	}
	x := b.outFile("duckdb.db")
	s := system{name: "DuckDB", outputs: []string{x}, steps: []step{
		one("build", true, b.jobs, "duckdb", x, "CREATE TABLE t AS SELECT * FROM read_csv('"+inputs[0]+"')"),
	}}
	for _, q := range queries {
		text := "SELECT count(*) FROM t WHERE " + q.where
		if q.rows {
			text = "COPY (SELECT rowid FROM t WHERE " + q.where + ") TO '/dev/stdout' (FORMAT csv)"
		}
		s.steps = append(s.steps, one(q.name, false, b.jobs, "duckdb", x, text))
	}
	return append(all, s)
}
