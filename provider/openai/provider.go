package openai

import (
	"net/http"
	"strings"

	"github.com/hocketvoice/hocket/internal/llm"
)

// Model is a language model of an OpenAI-compatible server: see [llm.Model].
type Model = llm.Model

// Report describes a finished request, Usage its tokens.
type (
	Report = llm.Report
	Usage  = llm.Usage
)

// New returns a model. It reads the key and does not contact the server.
func New(o Options) (*Model, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	o = o.withDefaults()
	key, err := llm.Key("openai", o.KeyEnv, o.Getenv)
	if err != nil {
		return nil, err
	}
	endpoint, err := o.endpoint()
	if err != nil {
		return nil, err
	}
	extra, err := llm.Extra("openai", o.Extra, o.members())
	if err != nil {
		return nil, err
	}
	c := llm.Config{
		Vendor: "openai", Model: o.Model, URL: endpoint.String(), Header: headers(o, key), Secrets: llm.Secrets(key, o.Headers),
		Wire: &chat{o, extra}, Window: o.Window, MaxTokens: o.MaxTokens, Report: o.Report, Transport: o.Transport,
		Limits: o.limits(),
	}
	if o.API == llm.Responses {
		c.Wire = &responses{o, extra}
	}
	if o.APIVersion == "" { // Azure's deployments have no list
		c.List = strings.TrimSuffix(strings.TrimSuffix(c.URL, "/chat/completions"), "/responses") + "/models"
	}
	return llm.New(c), nil
}

// headers returns the headers of every request.
func headers(o Options, key string) http.Header {
	h := llm.Header(o.Headers)
	switch {
	case key == "":
	case o.APIVersion != "":
		h.Set(headerAPIKey, key)
	default:
		h.Set(headerAuth, "Bearer "+key)
	}
	if o.Organization != "" {
		h.Set(headerOrg, o.Organization)
	}
	if o.Project != "" {
		h.Set(headerProj, o.Project)
	}
	return h
}
