package main

import (
	"github.com/rs/zerolog"

	"heddle/engine/server"
)

// otherDescriptors is the number of open files of a server beside its connections: files of indexes that are
// opened, drivers, logs, and connections to NATS and to nodes. A small limit leaves half of it for them.
const otherDescriptors = 64

// fitDescriptors lowers the limit of connections of each listener so that all connections fit the limit of open
// files of the process, and warns. A limit of 0 is unknown.
func fitDescriptors(l server.Limits, listeners int, limit uint64, log zerolog.Logger) server.Limits {
	if limit == 0 {
		return l
	}
	fit := max(1, int(limit-min(otherDescriptors, limit/2))/listeners)
	if l.Connections <= fit {
		return l
	}
	log.Warn().Uint64("open_files", limit).Int("server.max_connections", l.Connections).Int("connections", fit).
		Msgf("the limit of open files allows fewer connections than server.max_connections: raise it (ulimit -n %d), or lower the setting", l.Connections*listeners+otherDescriptors)
	l.Connections = fit
	return l
}
