package app

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/internal/config"
	"github.com/hocketvoice/hocket/internal/editor"
	"github.com/hocketvoice/hocket/internal/settings"
	"github.com/hocketvoice/hocket/internal/timezone"
	"github.com/hocketvoice/hocket/leg/text"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/server/api"
	"github.com/hocketvoice/hocket/server/hub"
)

// Within is what a server gets from the program whose engine it is. It is created by
// [OpenEditor].
type Within struct {
	// Model answers for the agent; nil: that of the config.
	Model port.Model
	// Tools may be called by the model.
	Tools port.Tool

	agent *settings.Agent
	keys  *api.Keys
}

// withinName is the name of the agent, and of the key and the caller of its conversations.
const withinName = "editor"

// withinModel is the name of the model in the log. No request is made with it.
const withinModel = "copilot"

// config returns a config without what serves others: only the program that starts this one
// may reach it.
func (w *Within) config(c *config.Config) *config.Config {
	own := *c
	own.Server = config.Server{
		Addr: "127.0.0.1:0", OnePerCaller: true, Origins: c.Server.Origins, TrustedProxies: c.Server.TrustedProxies, WebRTC: c.Server.WebRTC,
		Keys: config.KeyFiles{Env: "HOCKET_EDITOR_KEYS_UNUSED"},
	}
	own.Store, own.Recording = config.Store{}, config.Recording{}
	if w.Model != nil {
		own.Model, own.Models = config.Model{Name: withinModel}, nil
	}
	return &own
}

// OpenEditor opens a server as the engine of an editor. It listens on the loopback interface, on
// a port that the system chooses, and stores nothing.
func OpenEditor(o ServeOptions, e editor.Setup) (editor.Engine, error) {
	def, err := settings.Compile([]agent.File{{Name: "the settings", Data: e.Agent}})
	if err != nil {
		return nil, inputError{err}
	}
	var key [24]byte
	rand.Read(key[:]) // never fails
	keys, err := api.ParseKeys(withinName + " " + hex.EncodeToString(key[:]))
	if err != nil {
		return nil, err
	}
	o.Config, o.Note, o.Store = e.Config, e.Note, NoStore
	o.Within = &Within{Model: e.Model, Tools: e.Tools, agent: def, keys: keys}
	s, err := NewServer(o)
	if err != nil {
		return nil, err
	}
	return engineOf{s}, nil
}

// setModel sets the model of an agent.
func (s *Server) setModel(a *served) error {
	if w := s.o.Within; w != nil && w.Model != nil {
		a.model = w.Model
		return nil
	}
	model, err := s.models.get(a.opts.Model)
	a.model = model.port()
	return err
}

// engineOf is a server as the engine of an editor.
type engineOf struct{ *Server }

var _ editor.Engine = engineOf{}

// Hub returns the conversations.
func (e engineOf) Hub() *hub.Hub { return e.hub }

func (e engineOf) agent() *served { return e.roster.named(withinName) }

// Speech reports whether there are engines for the agent's language.
func (e engineOf) Speech() bool { return e.agent().speech != nil }

// Language returns the agent's language.
func (e engineOf) Language() string { return e.agent().agent.Language() }

// Text begins a conversation by text.
func (e engineOf) Text(zone string) (*hub.Conversation, error) {
	a := e.agent()
	call := a.call("text")
	call.Owner, call.Caller = withinName, api.CallerOf(withinName, withinName)
	call.Leg = text.New(text.Options{Linger: a.resume})
	if zone != "" {
		location, err := timezone.Load(zone)
		if err != nil {
			return nil, fmt.Errorf("timezone: %w", err)
		}
		call.Location = location
	}
	return e.hub.Start(call)
}

// Page returns the address of the page with the microphone. Its token is in the fragment, which
// browsers do not send.
func (e engineOf) Page(ctx context.Context) (string, error) {
	token, err := e.api.NewClientToken(ctx, withinName, withinName)
	if err != nil {
		return "", err
	}
	return e.URL() + "/microphone.html#" + token, nil
}
