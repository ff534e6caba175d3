// Package edits counts the differences between what was said and what a recognizer
// understood, in words. It compares spellings only: words that sound alike differ.
package edits
