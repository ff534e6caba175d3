// Package provider is the folder of the speech services, models and actions, one
// package for each vendor or protocol. It holds no code, and nothing imports it:
// internal/app chooses and builds a provider, and owns it. Its tests hold the
// providers to the rules of the ports they serve.
package provider
