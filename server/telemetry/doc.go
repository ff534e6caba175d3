// Package telemetry counts and times what happens in all conversations of a
// server: metrics for Prometheus, traces for OpenTelemetry.
//
// It decides what is measured and under which name. It sees figures, phases and
// codes alone: no transcript, no argument of a tool and no secret gets into a
// metric or a span. Nothing of it blocks a conversation: spans are handed to a
// bounded queue, which drops what the collector does not take.
package telemetry
