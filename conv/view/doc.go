// Package view defines the states of a conversation as each of the seeds names them. Package
// conv derives them from its own state (conv.State.Views); no decision depends on them.
package view
