// Package errclass has the classes of failures (seed 001, 4.7). Adapters name them in
// port.Failure, and the machine knows what follows from each.
package errclass
