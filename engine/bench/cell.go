package bench

import (
	"fmt"
	"io"
	"text/tabwriter"

	"heddle/engine/plan"
)

// cell is one layout and algorithm on one backend, and what was measured of it.
type cell struct {
	layout    Layout
	algorithm plan.Algorithm
	info      plan.Info
	queries   int    // a run
	threshold uint64 // candidates a batch

	rate     summary    // queries a second, terms in, docIDs on the host
	peer     summary    // the same of the peer, in turns with it
	response summary    // of a batch alone, in milliseconds
	stats    plan.Stats // of one run, with device times; zero on the host
	moved    uint64     // bytes that kernels ask for in one run, 0 if not counted
	peak     float64    // copy bandwidth of the device, bytes a second, 0 if not known
}

// name is the row of the cell.
func (c *cell) name() string { return c.layout.String() + "/" + c.algorithm.String() }

// peakFraction is the share of the copy bandwidth that the kernels used.
func (c *cell) peakFraction() float64 {
	seconds := c.stats.Kernel().Seconds()
	if seconds == 0 || c.peak == 0 {
		return 0
	}
	return float64(c.moved) / seconds / c.peak
}

// ratio compares with the peer, 0 without one.
func (c *cell) ratio() float64 {
	if c.peer.Median == 0 {
		return 0
	}
	return c.rate.Median / c.peer.Median
}

// thresholdRow names a row of figures that depend on the threshold.
func thresholdRow(name string, threshold uint64) string {
	return fmt.Sprintf("%s threshold %d K", name, threshold>>10)
}

// rows gives the figures of the cell.
func (c *cell) rows(workload string) []Row {
	base := Row{Bench: "lists", Workload: workload, Row: c.name(), Backend: c.info.Kind, Device: c.info.Device, Unit: "ms"}
	row := func(metric string, s summary) Row {
		r := s.into(base)
		r.Metric = metric
		return r
	}
	once := func(v float64) summary { return summary{v, v, v, 1} }

	rate := row("throughput", c.rate)
	rate.Unit = "queries/s"
	if c.peer.Runs > 0 {
		rate.Baseline, rate.Ratio = peerName, c.ratio()
	}
	wait := row("response", c.response)
	wait.Row = thresholdRow(c.name(), c.threshold)
	rows := []Row{rate, wait}
	if c.peer.Runs > 0 {
		p := c.peer.into(Row{Bench: "lists", Workload: workload, Row: peerName + " beside " + c.name(), Metric: "throughput", Unit: "queries/s"})
		rows = append(rows, p)
	}
	if k := c.stats.Kernel(); k > 0 {
		kernel := row("kernel", once(k.Seconds()*1e3))
		kernel.Bytes, kernel.PeakFraction = c.moved, c.peakFraction()
		up := row("upload", once(c.stats.Upload.Seconds()*1e3))
		up.Bytes = c.stats.BytesUp
		down := row("download", once(c.stats.Download.Seconds()*1e3))
		down.Bytes = c.stats.BytesDown
		rows = append(rows, kernel, up, down)
	}
	return rows
}

// writeCells prints cells as a table, a line each. Times of kernels and transfers
// are for all queries of a run; what is not known is a dash.
func writeCells(out io.Writer, cells []cell) {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	var last *cell
	fmt.Fprintln(t, "backend\tlayout/algorithm\tqueries\tq/s\tmin\tmax\tbatch ms\tkernel q/s\tkernel ms\tup ms\tdown ms\tmoved MB\tof peak\tx "+peerName+"\t")
	for i := range cells {
		c := &cells[i]
		k := c.stats.Kernel().Seconds()
		if c.peer.Runs > 0 && (last == nil || last.layout != c.layout || last.info.Kind != c.info.Kind) {
			fmt.Fprintf(t, "-\t%s\t%d\t%.0f\t%.0f\t%.0f\t-\t-\t-\t-\t-\t-\t-\t1.00\t\n", peerName, c.queries, c.peer.Median, c.peer.Min, c.peer.Max)
		}
		last = c
		fmt.Fprintf(t, "%s\t%s\t%d\t%.0f\t%.0f\t%.0f\t%.2f\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t\n",
			c.info.Kind, c.name(), c.queries, c.rate.Median, c.rate.Min, c.rate.Max, c.response.Median,
			known("%.0f", float64(c.queries)/k, k > 0), known("%.2f", k*1e3, k > 0),
			known("%.2f", c.stats.Upload.Seconds()*1e3, k > 0), known("%.2f", c.stats.Download.Seconds()*1e3, k > 0),
			known("%.0f", float64(c.moved)/1e6, c.moved > 0), known("%.1f %%", 100*c.peakFraction(), c.peakFraction() > 0),
			known("%.2f", c.ratio(), c.ratio() > 0))
	}
	t.Flush()
}

// known formats a figure, or gives a dash.
func known(format string, v float64, ok bool) string {
	if !ok {
		return "-"
	}
	return fmt.Sprintf(format, v)
}
