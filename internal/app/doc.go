// Package app is the composition root: it creates and connects the parts that a
// configuration asks for, and closes them in reverse order.
//
// It maps the configuration to the options of the other packages and contains no
// behavior of its own.
package app
