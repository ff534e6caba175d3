package google

import (
	"net/http"

	"github.com/hocketvoice/hocket/internal/llm"
)

// Model is a language model of Google: see [llm.Model].
type Model = llm.Model

// New returns a model. It reads the key and does not contact the server.
func New(o Options) (*Model, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	c, err := o.Open(service(), sign, o.endpoints)
	if err != nil {
		return nil, err
	}
	extra, err := llm.Extra("google", o.Extra, service().Members)
	if err != nil {
		return nil, err
	}
	c.Wire = &wire{o: o, extra: extra}
	return llm.New(c), nil
}

func sign(h http.Header, key string) {
	if key != "" {
		h.Set(headerKey, key)
	}
}
