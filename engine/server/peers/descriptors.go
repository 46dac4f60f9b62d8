package peers

import "github.com/rs/zerolog"

// otherDescriptors is the number of open files of a server beside its connections: files of indexes that are
// opened, drivers, logs, and connections to NATS and to nodes. A small limit leaves half of it for them.
const otherDescriptors = 64

// Fit returns the limit of connections of each listener, lowered so that all connections fit the limit of
// open files of the process, and warns.
func Fit(connections, listeners int, log zerolog.Logger) int {
	return fit(connections, listeners, descriptors(), log)
}

// fit is Fit for a limit of open files. A limit of 0 is unknown.
func fit(connections, listeners int, limit uint64, log zerolog.Logger) int {
	if limit == 0 {
		return connections
	}
	most := max(1, int(limit-min(otherDescriptors, limit/2))/listeners)
	if connections <= most {
		return connections
	}
	log.Warn().Uint64("open_files", limit).Int("server.max_connections", connections).Int("connections", most).
		Msgf("the limit of open files allows fewer connections than server.max_connections: raise it (ulimit -n %d), or lower the setting", connections*listeners+otherDescriptors)
	return most
}
