package builds

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// input makes a file of the folder once.
func (b *bench) input(name string, write func(w *bufio.Writer) error) (path string, err error) {
	path = filepath.Join(b.opt.Work, name)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	fmt.Fprintf(b.log, "writing %s\n", name)
	f, err := os.Create(path + ".partial")
	if err != nil {
		return "", err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	if err := errors.Join(write(w), w.Flush(), f.Close()); err != nil {
		return "", err
	}
	return path, os.Rename(path+".partial", path)
}

// commits is the collection as lines: name TAB text.
func (b *bench) commits(context.Context) ([]string, error) {
	const name = "commit-messages.tsv"
	path, err := b.input(name, func(w *bufio.Writer) error {
		found, err := filepath.Glob(filepath.Join(b.opt.Real, name+".gz"))
		if below, err2 := filepath.Glob(filepath.Join(b.opt.Real, "*", name+".gz")); err == nil && err2 == nil {
			found = append(found, below...)
		}
		if len(found) == 0 {
			return fmt.Errorf("--real: no %s.gz in %q or one folder below", name, b.opt.Real)
		}
		f, err := os.Open(found[0])
		if err != nil {
			return err
		}
		defer f.Close()
		z, err := gzip.NewReader(f)
		if err != nil {
			return err
		}
		_, err = io.Copy(w, z)
		return err
	})
	return []string{path, path}, err
}

// lines is JSON lines, and the same documents as lines name TAB text for systems that read no JSON.
// The words follow Zipf's law: word i comes in proportion to 1/i.
func (b *bench) lines(context.Context) ([]string, error) {
	name := fmt.Sprintf("lines-%d-%d", b.opt.Lines, b.opt.Words)
	write := func(line func(w *bufio.Writer, id int, text string) (int, error)) func(w *bufio.Writer) error {
		return func(w *bufio.Writer) error {
			r := rand.New(rand.NewPCG(1, 2))
			scale := math.Log(float64(b.opt.Words) + 1)
			var text strings.Builder
			total := int64(0) // as JSON: both files have the same documents
			for id := 0; total < b.opt.Lines; id++ {
				text.Reset()
				for range 80 + r.IntN(160) {
					appendWord(&text, min(int(math.Exp(r.Float64()*scale))-1, b.opt.Words-1))
					text.WriteByte(' ')
				}
				if _, err := line(w, id, text.String()); err != nil {
					return err
				}
				total += int64(text.Len() + len(`{"id":"d","text":""}`) + 9)
			}
			return nil
		}
	}
	asJSON, err := b.input(name+".jsonl", write(func(w *bufio.Writer, id int, text string) (int, error) {
		return fmt.Fprintf(w, "{\"id\":\"d%08d\",\"text\":\"%s\"}\n", id, text)
	}))
	if err != nil {
		return nil, err
	}
	plain, err := b.input(name+".tsv", write(func(w *bufio.Writer, id int, text string) (int, error) {
		return fmt.Fprintf(w, "d%08d\t%s\n", id, text)
	}))
	return []string{asJSON, plain}, err
}

// appendWord appends word i: syllables of two letters, more for rarer words.
func appendWord(b *strings.Builder, i int) {
	const consonants, vowels = "tnshrdlcmfpgbvkw", "aeiou"
	for i++; i > 0; i /= len(consonants) * len(vowels) {
		s := i % (len(consonants) * len(vowels))
		b.WriteByte(consonants[s/len(vowels)])
		b.WriteByte(vowels[s%len(vowels)])
	}
}

// gov is the export of the GOV-like workload by heddle, as a PISA collection.
func (b *bench) gov(ctx context.Context) ([]string, error) {
	base := filepath.Join(b.opt.Work, "gov", "gov-uniform")
	paths := []string{base + ".docs", base + ".freqs"}
	if _, err := os.Stat(base + ".queries"); err == nil {
		return paths, nil
	}
	cmd := exec.CommandContext(ctx, b.opt.Heddle[0], "bench", "export", "--orders", "uniform", filepath.Dir(base))
	cmd.Stdout, cmd.Stderr = b.log, b.log
	return paths, cmd.Run()
}

// csv is a table of six columns: sorted times, integers in runs, random integers, texts of 20
// values, prices, random floats.
func (b *bench) csv(context.Context) ([]string, error) {
	path, err := b.input(fmt.Sprintf("table-%d.csv", b.opt.Rows), func(w *bufio.Writer) error {
		r := rand.New(rand.NewPCG(3, 4))
		carriers := strings.Fields("AA DL WN UA B6 AS NK F9 HA G4 OO YX MQ OH 9E EV QX PT ZW CP")
		at := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
		fmt.Fprintln(w, "moment,region,id,carrier,price,score")
		region, left := 0, 0
		for range b.opt.Rows {
			if at = at.Add(time.Duration(r.IntN(1000)) * time.Millisecond); left == 0 {
				region, left = r.IntN(500), 1+r.IntN(200)
			}
			left--
			_, err := fmt.Fprintf(w, "%s,%d,%d,%s,%.2f,%.12f\n", at.Format("2006-01-02 15:04:05.000"), region, r.IntN(1_000_000),
				carriers[r.IntN(len(carriers))], float64(r.IntN(100_000))/100, r.Float64())
			if err != nil {
				return err
			}
		}
		return nil
	})
	return []string{path}, err
}
