// Package waittest contains what tests use to wait for a condition that has no event.
// Every wait has an end, after which the test fails. Only tests may import it.
package waittest
