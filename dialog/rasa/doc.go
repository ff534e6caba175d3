// Package rasa converts assistants of Rasa CALM to agents of hocket.
//
// [Convert] converts the contents of domain and flow files to one agent's file, with a list of
// everything that is not carried over. The package opens no files and keeps no state.
package rasa
