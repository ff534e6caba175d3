// Package view has the words that each seed has for the state of a conversation. A
// conversation computes its views (conv.State.Views); they decide nothing.
package view
