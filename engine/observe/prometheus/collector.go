// Package prometheus hands the numbers of package meter to Prometheus. Only who imports it
// depends on Prometheus's library:
//
//	memory := meter.NewMemory()
//	registry.MustRegister(heddleprometheus.New(memory))
//	… meter.New(memory) … // the observer that the engine is given
//
// Metrics begin with "heddle_". Where a service has several engines,
// prometheus.WrapRegistererWith gives each a label of its own.
package prometheus

import (
	"github.com/prometheus/client_golang/prometheus"

	"heddle/engine/observe/meter"
)

// Namespace is what names of metrics begin with.
const Namespace = "heddle"

// Collector is a prometheus.Collector. It is safe for concurrent use.
type Collector struct {
	memory *meter.Memory
	descs  map[*meter.Desc]*prometheus.Desc
}

// New returns a collector of the snapshots of m.
func New(m *meter.Memory) *Collector {
	c := &Collector{m, make(map[*meter.Desc]*prometheus.Desc)}
	for _, d := range meter.Descs() {
		c.descs[d] = prometheus.NewDesc(prometheus.BuildFQName(Namespace, "", d.Name), d.Help, d.Labels, nil)
	}
	return c
}

// Describe implements prometheus.Collector.
func (c *Collector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range c.descs {
		out <- d
	}
}

// Collect implements prometheus.Collector. A series that Prometheus refuses, such as one
// with a label that is not UTF-8, is reported in its place.
func (c *Collector) Collect(out chan<- prometheus.Metric) {
	for _, s := range c.memory.Snapshot() {
		d := c.descs[s.Desc]
		m, err := metric(d, &s)
		if err != nil {
			m = prometheus.NewInvalidMetric(d, err)
		}
		out <- m
	}
}

func metric(d *prometheus.Desc, s *meter.Series) (prometheus.Metric, error) {
	switch s.Desc.Kind {
	case meter.KindHistogram:
		below, n := make(map[float64]uint64, len(s.Desc.Bounds)), uint64(0)
		for i, bound := range s.Desc.Bounds {
			n += s.Buckets[i]
			below[bound] = n
		}
		return prometheus.NewConstHistogram(d, s.Count(), s.Value, below, s.Labels...)
	case meter.KindCounter:
		return prometheus.NewConstMetric(d, prometheus.CounterValue, s.Value, s.Labels...)
	}
	return prometheus.NewConstMetric(d, prometheus.GaugeValue, s.Value, s.Labels...)
}
