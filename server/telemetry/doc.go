// Package telemetry counts and times the events of all conversations of a server:
// metrics for Prometheus, traces for OpenTelemetry.
//
// It defines what is measured and the names of the metrics. Metrics and spans
// contain numbers, phases and codes only, never transcripts, tool arguments or
// secrets. It does not block conversations: spans go to a bounded queue, which
// drops those that the collector does not accept in time.
package telemetry
