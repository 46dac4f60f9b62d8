// Command soak holds heddle serve under reloads, changes, faults and slow readers for hours, on the
// host and on an OpenCL device, and checks that memory, descriptors and threads stay flat.
//
//	go run ./.ci/soak -duration 2h -out .build/soak PROGRAM
//
// Its clients are the standard library alone. The folder -out gets a CSV file with a line for each
// server and minute, and the messages of the servers. The exit status is 1 if a query failed or had
// a wrong answer, a server ended, or a figure rose after the first sixth of the time.
package main

import (
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"
)

func main() {
	duration := flag.Duration("duration", 2*time.Hour, "time of the load")
	out := flag.String("out", "", "folder of the results")
	device := flag.String("device", "Portable Computing Language", "part of the name of the OpenCL device; empty for none")
	sample := flag.Duration("sample", time.Minute, "time between two lines of a server")
	flag.Parse()
	if flag.NArg() != 1 || *out == "" {
		fmt.Fprintln(os.Stderr, "usage: soak -out DIR [-duration D] [-sample D] [-device NAME] PROGRAM")
		os.Exit(2)
	}
	if err := soak(flag.Arg(0), *out, *device, *duration, *sample); err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

func soak(program, out, device string, duration, every time.Duration) error {
	program, err := filepath.Abs(program)
	if err != nil {
		return err
	}
	backends := map[string][]string{"host": {"--backend", "host"}}
	if device != "" {
		backends["device"] = []string{"--backend", "opencl", "--device", device}
	}
	var servers []*server
	for name, flags := range backends {
		s, err := start(program, filepath.Join(out, name), name, flags)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		defer s.stop()
		servers = append(servers, s)
	}
	for _, s := range servers[1:] {
		if !slices.Equal(s.answers, servers[0].answers) {
			return fmt.Errorf("answers differ:\n%s: %q\n%s: %q", s.name, s.answers, servers[0].name, servers[0].answers)
		}
	}
	file, err := os.Create(filepath.Join(out, "soak.csv"))
	if err != nil {
		return err
	}
	defer file.Close()
	end := time.Now().Add(duration)
	var group sync.WaitGroup
	for _, s := range servers {
		s.load(&group, end)
	}
	watched := watch(servers, csv.NewWriter(file), end, every)
	group.Wait()
	for _, s := range servers {
		watched = errors.Join(watched, s.verdict(os.Stdout))
	}
	return watched
}

// watch writes a line for each server at once and every so often until the end.
func watch(servers []*server, w *csv.Writer, end time.Time, every time.Duration) error {
	header := append([]string{"server", "seconds"}, figures...)
	if err := w.Write(append(header, "queries", "refused", "failed", "wrong", "reloads", "changes", "faults")); err != nil {
		return err
	}
	begin := time.Now()
	for time.Now().Before(end) {
		for _, s := range servers {
			values, err := s.sample()
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			s.samples = append(s.samples, values)
			line := []string{s.name, strconv.Itoa(int(time.Since(begin).Seconds()))}
			for _, v := range values {
				line = append(line, strconv.FormatInt(v, 10))
			}
			for _, n := range []int64{s.queries.Load(), s.refused.Load(), s.failed.Load(), s.wrong.Load(), s.reloads.Load(), s.changes.Load(), s.faults.Load()} {
				line = append(line, strconv.FormatInt(n, 10))
			}
			if err := w.Write(line); err != nil {
				return err
			}
		}
		w.Flush()
		time.Sleep(min(every, time.Until(end)))
	}
	return w.Error()
}

// verdict prints the least, the median and the greatest value of each figure after the first sixth
// of the samples, and returns an error if the last sixth is above the second one.
func (s *server) verdict(w io.Writer) error {
	var err error
	fmt.Fprintf(w, "%s: %d queries, %d refused, %d failed, %d wrong; %d reloads, %d changes, %d faults\n",
		s.name, s.queries.Load(), s.refused.Load(), s.failed.Load(), s.wrong.Load(), s.reloads.Load(), s.changes.Load(), s.faults.Load())
	if s.failed.Load()+s.wrong.Load() > 0 {
		err = fmt.Errorf("%s: queries failed or had wrong answers", s.name)
	}
	sixth := len(s.samples) / 6
	if sixth == 0 {
		return errors.Join(err, fmt.Errorf("%s: %d samples are too few", s.name, len(s.samples)))
	}
	for i, name := range figures {
		if name == "cpu_ms" {
			continue
		}
		column := func(from, to int) []int64 {
			var values []int64
			for _, sample := range s.samples[from:to] {
				values = append(values, sample[i])
			}
			slices.Sort(values)
			return values
		}
		all := column(sixth, len(s.samples))
		early, late := column(sixth, 2*sixth), column(len(s.samples)-sixth, len(s.samples))
		first, last := early[len(early)/2], late[len(late)/2]
		fmt.Fprintf(w, "%-14s least %d, median %d, greatest %d; medians of second and last sixth %d, %d\n",
			name, all[0], all[len(all)/2], all[len(all)-1], first, last)
		if last > first+max(first/10, room[name]) {
			err = errors.Join(err, fmt.Errorf("%s: %s rose from %d to %d", s.name, name, first, last))
		}
	}
	return err
}
