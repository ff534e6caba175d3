// Package rasa turns assistants of Rasa CALM into agents of hocket.
//
// [Convert] takes the bytes of domain and flow files and gives those of one agent file,
// with a list of all that the file does not carry over. It reads no file itself and keeps
// no state.
package rasa
