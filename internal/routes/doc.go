// Package routes finds the methods that a mux supports for a path. Servers use it to
// answer requests with an unsupported method; it does not answer requests itself.
package routes
