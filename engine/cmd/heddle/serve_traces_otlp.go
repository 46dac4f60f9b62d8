//go:build otlp && !core

package main

import (
	"context"

	"github.com/rs/zerolog"
	"go.opentelemetry.io/otel/trace"

	"heddle/engine/observe/otlp"
)

// traces returns the provider of tracers that sends spans to the collector at a URL.
func traces(ctx context.Context, url string, log zerolog.Logger) (trace.TracerProvider, func() error, error) {
	return otlp.New(ctx, url, func(err error) { log.Warn().Err(err).Msg("traces lost") })
}
