// Package store contains what the stores in its subpackages have in common: the limits
// on their input, how long they remember dead nodes, and how messages name a
// conversation. It stores nothing itself.
package store
