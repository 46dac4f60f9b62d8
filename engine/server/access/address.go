package access

import (
	"context"
	"fmt"
	"net"

	"github.com/rs/zerolog"

	"heddle/config"
	"heddle/engine"
)

// Listen opens the address of a service, which must be loopback unless g knows the callers.
func Listen(ctx context.Context, v config.Server, g *Guard, log zerolog.Logger) (net.Listener, error) {
	if host, _, _ := net.SplitHostPort(v.Listen); v.Tokens != "" && v.Cert == "" && !loopback(host) {
		log.Warn().Msg("tokens cross the network in the clear: give --cert and --key")
	}
	return listenAt(ctx, "listen", v.Listen, v.Insecure || g.Closed(false), "--tokens or --client-ca")
}

// ListenAdmin opens the address of administration, under the same condition.
func ListenAdmin(ctx context.Context, v config.Server, g *Guard) (net.Listener, error) {
	return listenAt(ctx, "admin", v.Admin, v.Insecure || g.Closed(true), "--tokens or --admin-ca")
}

// listenAt opens an address, which must be loopback unless safe is set.
func listenAt(ctx context.Context, name, address string, safe bool, needs string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, invalid(fmt.Errorf("--%s: %w", name, err))
	}
	if !safe && !loopback(host) {
		return nil, invalid(fmt.Errorf("--%s: %s is not a loopback address: it needs %s; --insecure serves every caller that reaches it", name, address, needs))
	}
	return new(net.ListenConfig).Listen(ctx, "tcp", address)
}

func loopback(host string) bool { return host == "localhost" || net.ParseIP(host).IsLoopback() }

// invalid returns the error of a setting.
func invalid(err error) error { return &engine.Error{Code: engine.InvalidOption, Err: err} }
