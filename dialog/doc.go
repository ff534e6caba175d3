// Package dialog runs dialogue flows.
package dialog
