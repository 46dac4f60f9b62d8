package server

import (
	"net"
	"slices"
	"strings"

	"github.com/rs/zerolog"

	"heddle/config"
)

// OptionsOf returns the options that section [server] of a configuration asks for, without files.
func OptionsOf(v *config.Server, log zerolog.Logger) Options {
	return Options{
		Indexes: map[string]string{}, Tables: map[string]string{},
		Timeout: v.Timeout, Stall: v.Stall, DrainDelay: v.DrainDelay, Root: v.Root, Hosts: hostsOf(v), AccessLog: v.AccessLog, Log: &log, Limits: LimitsOf(v),
	}
}

// hostsOf returns the names of the server: server.hosts, and the names of its addresses.
func hostsOf(v *config.Server) (names []string) {
	for name := range strings.SplitSeq(v.Hosts, ",") {
		names = append(names, strings.TrimSpace(name))
	}
	for _, address := range []string{v.Listen, v.Admin} {
		if host, _, err := net.SplitHostPort(address); err == nil {
			names = append(names, host)
		}
	}
	return slices.DeleteFunc(names, func(name string) bool { return name == "" })
}

// LimitsOf returns the limits that section [server] of a configuration asks for.
func LimitsOf(v *config.Server) Limits {
	return Limits{
		Memory: int64(v.Memory), Body: int64(v.MaxBody), Batch: v.MaxBatch, K: v.MaxK, Terms: v.MaxTerms, Documents: v.MaxDocuments,
		Concurrency: v.MaxConcurrency, Connections: v.MaxConnections,
		CallerConcurrency: v.MaxCallerConcurrency, CallerRate: v.MaxCallerRate,
		AddressConnections: v.MaxAddressConnections, Unauthenticated: v.MaxUnauthenticated,
	}
}
