// Package routes says what a mux has, for answers to requests that it has not. It
// answers none.
package routes
