// Package seeds holds the tables of the five specifications ("seeds") that the
// machine and the dialogue are held against: their states, transitions, limits
// and numbers as data, the contradictions among them resolved. It is for tests
// alone, and safe for concurrent use.
package seeds
