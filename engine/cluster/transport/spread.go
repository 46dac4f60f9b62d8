package transport

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
)

// spread dials the addresses of a host in random order until one accepts. Resolvers return them in the
// same order each time, and so all connections would go to the first one.
type spread struct {
	net.Dialer
	lookup func(ctx context.Context, host string) ([]string, error)
}

// dial is a DialContext of http.Transport.
func (s *spread) dial(ctx context.Context, network, at string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(at)
	if err != nil {
		return nil, err
	}
	all, err := s.lookup(ctx, host)
	if err != nil {
		return nil, err
	}
	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	var failed []error
	for _, address := range all {
		c, err := s.DialContext(ctx, network, net.JoinHostPort(address, port))
		if err == nil {
			return c, nil
		}
		if failed = append(failed, err); ctx.Err() != nil {
			break
		}
	}
	return nil, errors.Join(failed...)
}
