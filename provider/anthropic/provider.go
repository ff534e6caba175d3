package anthropic

import (
	"net/http"

	"github.com/hocketvoice/hocket/internal/llm"
)

// Model is a language model of Anthropic: see [llm.Model].
type Model = llm.Model

// New returns a model. It reads the key and does not contact the server.
func New(o Options) (*Model, error) {
	o = o.withDefaults()
	if err := o.Validate(); err != nil {
		return nil, err
	}
	c, err := o.Open(service(), sign, endpoints)
	if err != nil {
		return nil, err
	}
	extra, err := llm.Extra("anthropic", o.Extra, service().Members)
	if err != nil {
		return nil, err
	}
	c.Wire = &wire{o, extra}
	return llm.New(c), nil
}

func sign(h http.Header, key string) {
	if key != "" {
		h.Set(headerKey, key)
	}
	if h.Get(headerVersion) == "" {
		h.Set(headerVersion, version)
	}
}
