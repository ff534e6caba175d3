// Package errclass defines the classes of failures (seed 001, section 4.7).
// Adapters name them in port.Failure, and the machine decides how to react to each.
package errclass
