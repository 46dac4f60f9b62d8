package server

import (
	"context"
	"errors"

	"connectrpc.com/connect/v2"

	"heddle/engine"
)

// Services are several services as one.
type Services []Service

// Register implements Service.
func (all Services) Register(s *connect.Server) {
	for _, x := range all {
		x.Register(s)
	}
}

// Load implements Service.
func (all Services) Load(ctx context.Context, e *engine.Engine) (err error) {
	for _, x := range all {
		err = errors.Join(err, x.Load(ctx, e))
	}
	return err
}

// Ready implements Service.
func (all Services) Ready() error {
	for _, x := range all {
		if err := x.Ready(); err != nil {
			return err
		}
	}
	return nil
}
