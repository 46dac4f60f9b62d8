package member

import (
	"context"

	"connectrpc.com/connect/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"heddle/engine/api"
	"heddle/engine/cluster/store"
	heddleprometheus "heddle/engine/observe/prometheus"
)

// nodeMetrics returns the metrics of a node, and a function that logs and counts damaged files.
func nodeMetrics(log zerolog.Logger) (*prometheus.Registry, func(store.Damage)) {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Namespace: heddleprometheus.Namespace, Name: name, Help: help})
	}
	damaged := counter("node_files_damaged_total", "Files of shards that had other bytes than their checksums say, or were lost.")
	healed := counter("node_files_healed_total", "Damaged files of shards that were fetched again.")
	r := prometheus.NewRegistry()
	r.MustRegister(damaged, healed)
	return r, func(d store.Damage) {
		if d.Healed {
			healed.Inc()
			log.Warn().Str("file", d.File).Msg("a damaged file is healed")
			return
		}
		damaged.Inc()
		log.Error().Str("file", d.File).Str("error", d.Error).Msg("a file is damaged: it moves to the folder damaged, and is fetched again")
	}
}

// doubting tells a keeper of shards whose files a call has found damaged.
func doubting(k *store.Keeper) connect.ServerInterceptor {
	return func(next connect.ServerFunc) connect.ServerFunc {
		return func(ctx context.Context, spec connect.Spec, stream connect.ServerStream) error {
			s := &targeted{ServerStream: stream}
			err := next(ctx, spec, s)
			if t := s.target; t != nil && connect.CodeOf(err) == connect.CodeDataLoss {
				k.Doubt(store.Part{Name: t.GetCollection(), Epoch: t.GetEpoch(), Shard: int(t.GetShard())})
			}
			return err
		}
	}
}

// targeted remembers the shard of a request.
type targeted struct {
	connect.ServerStream
	target *api.ShardTarget
}

// Receive implements connect.ServerStream.
func (t *targeted) Receive(msg any) error {
	err := t.ServerStream.Receive(msg)
	if r, ok := msg.(interface{ GetTarget() *api.ShardTarget }); ok {
		t.target = r.GetTarget()
	}
	return err
}
