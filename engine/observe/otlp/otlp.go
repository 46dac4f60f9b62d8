// Package otlp sends spans to an OpenTelemetry collector by OTLP over HTTP. Only programs that
// import it contain the exporter and its dependencies.
package otlp

import (
	"context"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// New returns a provider of tracers that sends spans to the collector at a URL, such as
// "http://localhost:4318/v1/traces". The variables OTEL_… of the OpenTelemetry SDK choose the part
// of the traces, attributes and headers. Flush sends the last spans and ends the provider. Failed
// receives the errors of lost spans; it serves the whole process.
func New(ctx context.Context, url string, failed func(error)) (p trace.TracerProvider, flush func() error, err error) {
	otel.SetErrorHandler(otel.ErrorHandlerFunc(failed))
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(url))
	if err != nil {
		return nil, nil, err
	}
	about, err := resource.New(ctx, resource.WithFromEnv(), resource.WithTelemetrySDK(), resource.WithHost())
	if err != nil {
		return nil, nil, err
	}
	sdk := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(about))
	return sdk, func() error {
		last, done := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer done()
		return sdk.Shutdown(last)
	}, nil
}
