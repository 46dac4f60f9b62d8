//go:build !otlp && !core

package main

import (
	"context"
	"errors"

	"github.com/rs/zerolog"
	"go.opentelemetry.io/otel/trace"
)

// traces returns the provider of tracers of a program without an exporter.
func traces(context.Context, string, zerolog.Logger) (trace.TracerProvider, func() error, error) {
	return nil, nil, usageError{errors.New("server.traces: this program has no exporter of traces: build it with -tags otlp")}
}
