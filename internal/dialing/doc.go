// Package dialing decides whom an agent may call: which numbers a list allows, which are refused
// because they are those of emergency services or cost more than others, and how many calls may be
// placed. It also tells a person from a machine who answers. It starts nothing and has no clock.
package dialing
