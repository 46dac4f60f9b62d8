package demo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heddle/engine"
	"heddle/engine/plan"
)

const flightsDir = "../../../../" + DefaultFlights

// TestRunTable runs the second part, which fails if an answer differs from the scan, and
// compares the scan with the numbers in testdata/flights/README.txt.
func TestRunTable(t *testing.T) {
	table := filepath.Join(t.TempDir(), "sub", "flights.hdb")
	var out, log bytes.Buffer
	if err := RunTable(t.Context(), Options{Flights: flightsDir, Table: table}, &out, &log); err != nil {
		t.Fatal(err)
	}
	t.Logf("%s%s", out.String(), log.String())
	if _, err := os.Stat(table); err != nil {
		t.Error(err)
	}
	for _, want := range []string{
		"US flights of 2001: 500,000 rows, 3 columns, built in ",
		fmt.Sprintf("a  %-52s   24,832\n", "delay >= 60"),
		fmt.Sprintf("b  %-52s   33,679\n", "delay >= 15 AND 500 <= distance AND distance < 1000"),
		"\nscan of the columns ", "\nhost      auto ", "\nhost      fused ", "\nhost      iterative ", "\nhost      reduction ",
		"All strategies of all backends select the same rows as a scan of the columns.",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the report lacks %q", want)
		}
	}
}

// TestWrongRows checks that wrong rows are detected.
func TestWrongRows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "flights.hdb")
	flights, err := readFlights(flightsDir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := buildFlights(t.Context(), flightsDir, path); err != nil {
		t.Fatal(err)
	}
	e, err := engine.New(t.Context(), engine.Options{Backend: "host"})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	x, err := e.OpenTable(t.Context(), path, engine.TableOptions{})
	if err != nil {
		t.Fatal(err)
	}
	p := &tablePlace{label: "host", e: e, table: x}
	answers := make([]selected, len(predicates))
	for i, q := range predicates {
		answers[i].rows, answers[i].count = scanFlights(flights, q.holds)
	}
	if err := p.check(plan.Fused, "p", answers[0].rows, answers[0].count+1, answers[0]); err == nil || !strings.Contains(err.Error(), "24833 rows are counted, there are 24832") {
		t.Errorf("a wrong number: %v", err)
	}
	rows := answers[1].rows
	word := rows[100]
	for what, wrong := range map[string]uint64{"should not be there": 0, "is missing": ^uint64(0)} {
		rows[100] = wrong // a scan without these rows, or with all of them
		err := p.ask(t.Context(), answers)
		if start := fmt.Sprintf("host, strategy auto: %s: row 64", predicates[1].where); err == nil || !strings.HasPrefix(err.Error(), start) || !strings.HasSuffix(err.Error(), what) {
			t.Errorf("%v, want %q that %s", err, start, what)
		}
	}
	if word == 0 || word == ^uint64(0) {
		t.Errorf("rows 6400 to 6463 are %x, which shows nothing", word)
	}
}

func TestBadFlights(t *testing.T) {
	dir := t.TempDir()
	table := filepath.Join(dir, "x.hdb")
	try := func(ctx context.Context, folder string) error {
		err := RunTable(ctx, Options{Flights: folder, Table: table}, &bytes.Buffer{}, &bytes.Buffer{})
		if _, stat := os.Stat(table); stat == nil {
			t.Errorf("after %v a table was left behind", err)
		}
		return err
	}
	if err := try(t.Context(), filepath.Join(dir, "absent")); err == nil || !strings.Contains(err.Error(), "delay_min.i16.gz: no such file") {
		t.Errorf("no folder: %v", err)
	}
	gz(t, filepath.Join(dir, "delay_min.i16.gz"), "\x01\x00\x02\x00")
	gz(t, filepath.Join(dir, "distance_miles.i16.gz"), "\x01\x00")
	if err := try(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "distance_miles.i16.gz has 2 bytes, want 2 rows of 2") {
		t.Errorf("uneven columns: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := try(ctx, flightsDir); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
