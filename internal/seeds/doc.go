// Package seeds contains the tables of the five specifications ("seeds") against
// which the machine and the dialogue are tested: their states, transitions, limits
// and numbers as data, with contradictions resolved. It is for tests only and safe
// for concurrent use.
package seeds
