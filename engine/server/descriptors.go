package server

import "github.com/rs/zerolog"

// otherDescriptors is the number of open files of a server beside its connections: files of indexes that are
// opened, drivers, logs, and connections to NATS and to nodes. A small limit leaves half of it for them.
const otherDescriptors = 64

// Fit lowers the limit of connections of each of some listeners to the open files of the process, and warns.
func (l Limits) Fit(listeners int, log zerolog.Logger) Limits {
	return fit(l, listeners, descriptors(), log)
}

// fit lowers the limit of connections of each listener so that all connections fit the limit of open
// files of the process, and warns. A limit of 0 is unknown.
func fit(l Limits, listeners int, limit uint64, log zerolog.Logger) Limits {
	if limit == 0 {
		return l
	}
	most := max(1, int(limit-min(otherDescriptors, limit/2))/listeners)
	if l.Connections <= most {
		return l
	}
	log.Warn().Uint64("open_files", limit).Int("server.max_connections", l.Connections).Int("connections", most).
		Msgf("the limit of open files allows fewer connections than server.max_connections: raise it (ulimit -n %d), or lower the setting", l.Connections*listeners+otherDescriptors)
	l.Connections = most
	return l
}
