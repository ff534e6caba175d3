package api

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/hocketvoice/hocket/server/hub"
)

// bench is a workbench of the key office.
type bench struct {
	call func(agent, transport string) (hub.Call, error)
	got  []Changes
}

func (b *bench) May(owner string) bool { return owner == "office" }
func (b *bench) Settings(string) AgentSettings {
	return AgentSettings{Instructions: "Be kind.", Voices: []string{"slt"}}
}

func (b *bench) Call(agent, transport string, c Changes) (hub.Call, error) {
	if c.Voice == "none" {
		return hub.Call{}, errors.New("there is no such voice")
	}
	b.got = append(b.got, c)
	return b.call(agent, transport)
}

// TestWorkbench checks that only developers can change an agent and see its instructions.
func TestWorkbench(t *testing.T) {
	b := &bench{}
	h := newHouse(t, hub.Options{}, func(o *Options) {
		b.call = o.Call
		o.Workbench, o.Keys = b, mustKeys(t, "office "+keyOne+"\nphone "+keyTwo)
	})
	const change = `{"transport":"text","changes":{"instructions":"","voice":"slt"}}`
	h.key = keyTwo
	h.refused(http.StatusForbidden, "not_developer", "POST", "/v1/conversations", change)
	if _, list := h.do("GET", "/v1/agents", ""); strings.Contains(string(list), "Be kind.") {
		t.Errorf("everybody sees %s", list)
	}
	h.key = keyOne
	if list := ask[AgentList](h, http.StatusOK, "GET", "/v1/agents", ""); list.Agents[0].Settings == nil || list.Agents[0].Settings.Instructions != "Be kind." {
		t.Errorf("a developer sees %+v", list)
	}
	made := ask[Created](h, http.StatusCreated, "POST", "/v1/conversations", change)
	if len(b.got) != 1 || b.got[0].Instructions == nil || *b.got[0].Instructions != "" || b.got[0].Voice != "slt" {
		t.Errorf("the changes are %+v", b.got)
	}
	h.refused(http.StatusBadRequest, "bad_request", "POST", "/v1/conversations", `{"resume":"`+made.ResumeToken+`","changes":{"voice":"slt"}}`)
	h.refused(http.StatusForbidden, "forbidden", "POST", "/v1/conversations", change, "Authorization", "Bearer "+made.AccessToken)
	h.refused(http.StatusBadRequest, "bad_request", "POST", "/v1/conversations", `{"transport":"text","changes":{"voice":"none"}}`)
	h.refused(http.StatusBadRequest, "bad_request", "POST", "/v1/conversations", `{"transport":"text","changes":{"instructions":"`+strings.Repeat("x", maxInstructions+1)+`"}}`)
	ask[Created](h, http.StatusCreated, "POST", "/v1/conversations", `{"transport":"text"}`)
	if len(b.got) != 1 {
		t.Errorf("without changes it was asked for %+v", b.got)
	}
}
