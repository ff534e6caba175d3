// Package telnyx answers calls of Telnyx numbers. Telnyx reports a call with webhooks, takes
// commands over HTTP (Call Control), and streams the call's sound over a WebSocket (Media
// Streaming).
package telnyx
