package main

import (
	"context"
	"errors"

	"github.com/rs/zerolog"

	"heddle/config"
	"heddle/engine"
)

// engineOptions converts the configuration to the options of an engine.
func engineOptions(c *config.Config, log zerolog.Logger) (engine.Options, error) {
	o, err := engine.OptionsOf(c)
	o.Log = &log
	return o, err
}

// openIndex opens an engine and an index on it. Closing the engine closes the index.
func openIndex(ctx context.Context, path string, opt engine.Options) (*engine.Engine, *engine.Index, error) {
	e, err := engine.New(ctx, opt)
	if err != nil {
		return nil, nil, err
	}
	x, err := e.OpenIndex(ctx, path, engine.IndexOptions{})
	if err != nil {
		return nil, nil, errors.Join(err, e.Close())
	}
	return e, x, nil
}
