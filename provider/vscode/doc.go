// Package vscode implements port.Model and port.Tool with an editor at the other end of a
// connection: the language model that its user has (vscode.lm, GitHub Copilot), and its tools.
//
// The package converts a history to the messages that vscode.LanguageModelChat takes, and the
// editor's errors to classes of failure (seed 001, section 4.7). It does not retry (the
// conversation does) and does not run tools. The connection is an [Editor], which package
// internal/editor provides.
//
// Cancelling is cooperative in the editor: a provider there that does not look at its token goes
// on. A [Model] therefore does not wait for it: when the context ends, Reply tells the editor and
// returns, and what arrives later is dropped.
//
// Source: seed 000, EXT-002, INT-005 and "Copilot Integration Contract". The interface of the
// editor is described at https://code.visualstudio.com/api/extension-guides/ai/language-model.
package vscode
