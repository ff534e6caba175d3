package api

import (
	"net/http"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/internal/explore"
	"github.com/hocketvoice/hocket/server/hub"
)

// route is one path of the API.
type route struct {
	pattern string // pattern for http.ServeMux
	serve   func(w http.ResponseWriter, r *http.Request, p who) error
	// single accepts a token for one conversation, or for the start of one.
	single bool
	kind   kind
}

// routes returns the routes that require access.
func (s *Server) routes() []route {
	const (
		bad, missing, conflict = http.StatusBadRequest, http.StatusNotFound, http.StatusConflict
		large, many, busy      = http.StatusRequestEntityTooLarge, http.StatusTooManyRequests, http.StatusServiceUnavailable
	)
	stream := []parameter{
		{"query", "from", "number of the first message; messages that are no longer available are replaced by a gap"},
		{"header", "Last-Event-ID", "number of the last message read, an alternative to from"},
	}
	list := []route{
		{"GET /v1/agents", s.listAgents, false, kind{
			summary: "The available agents.", status: http.StatusOK, gives: typeOf[AgentList](),
		}},
		{"POST /v1/conversations", s.create, true, kind{
			summary: "Begin or continue a conversation.", takes: typeOf[NewConversation](),
			status: http.StatusCreated, gives: typeOf[Created](),
			fails: []int{bad, missing, conflict, large, many, http.StatusNotImplemented, busy},
		}},
		{"GET /v1/conversations", s.listConversations, false, kind{
			summary: "The conversations, the newest first, including those that ended recently.",
			status:  http.StatusOK, gives: typeOf[ConversationList](),
		}},
		{"GET /v1/conversations/{id}", s.show, true, kind{
			summary: "One conversation: state, last transitions, timings, metrics.",
			status:  http.StatusOK, gives: typeOf[hub.Details](), fails: []int{missing},
		}},
		{"POST /v1/conversations/{id}/sdp", s.restart, true, kind{
			summary: "Renegotiate a WebRTC connection after a network change.", takes: typeOf[Description](),
			status: http.StatusOK, gives: typeOf[Description](), fails: []int{bad, missing, conflict, large},
		}},
		{"POST /v1/conversations/{id}/commands", s.command, true, kind{
			summary: "Send a command to a conversation.", takes: typeOf[hub.Command](),
			status: http.StatusAccepted, gives: typeOf[Empty](), fails: []int{bad, missing, conflict, large},
		}},
		{"GET /v1/conversations/{id}/events", s.follow, true, kind{
			summary: "Follow a conversation: server-sent events, or a WebSocket. The messages are described by /events.schema.json.",
			query:   append(stream, parameter{"query", "steps", "1: include the steps of the machine"}),
			status:  http.StatusOK, media: "text/event-stream", fails: []int{bad, missing, many},
		}},
		{"GET /v1/conversations/{id}/context", s.showContext, true, kind{
			summary: "The context of a conversation: files in use, preferences, and the work in progress.",
			status:  http.StatusOK, gives: typeOf[conv.ContextView](), fails: []int{missing, conflict},
		}},
		{"PATCH /v1/conversations/{id}/context", s.setContext, true, kind{
			summary: "Set entries of the context of a conversation, or remove those with the value null.",
			takes:   typeOf[conv.Context](),
			status:  http.StatusOK, gives: typeOf[conv.ContextView](), fails: []int{bad, missing, conflict, large, busy},
		}},
		{"GET /v1/conversations/{id}/trace", s.trace, true, kind{
			summary: "The trace so far, for hocket replay.", status: http.StatusOK, media: "application/jsonl", fails: []int{missing},
		}},
		{"GET /v1/events", s.followList, false, kind{
			summary: "Follow the list of conversations.", query: stream,
			status: http.StatusOK, media: "text/event-stream", fails: []int{bad, many},
		}},
		{"GET /v1/statechart", s.statechart, false, kind{
			summary: "The machine, or a view of it.",
			query:   []parameter{{"query", "view", "agent-voice, amplifier, easyturn or interaction; the machine itself if absent"}},
			status:  http.StatusOK, gives: typeOf[explore.Chart](), fails: []int{bad},
		}},
		{"POST /v1/client_tokens", s.clientToken, false, kind{
			summary: "A token with which a browser may begin one conversation within a minute.",
			takes:   typeOf[NewClientToken](),
			status:  http.StatusOK, gives: typeOf[ClientToken](), fails: []int{bad, many},
		}},
	}
	list = append(list, s.storedRoutes()...)
	list = append(list, s.phoneRoutes()...)
	if s.o.Metrics != nil {
		list = append(list, route{"GET /metrics", s.metrics, false, kind{
			summary: "Metrics for Prometheus.", status: http.StatusOK, media: "text/plain",
		}})
	}
	return list
}

// storedRoutes returns the routes of stored conversations.
func (s *Server) storedRoutes() []route {
	const bad, missing, conflict, busy = http.StatusBadRequest, http.StatusNotFound, http.StatusConflict, http.StatusServiceUnavailable
	caller := []parameter{{"query", "caller", "the name of the caller, as in a new conversation"}}
	return []route{
		{"GET /v1/conversations/{id}/recording", s.recording, true, kind{
			summary: "The sound of a stored conversation so far: the person left, the agent right.",
			status:  http.StatusOK, media: "audio/wav", fails: []int{missing, busy},
		}},
		{"GET /v1/stored", s.listStored, false, kind{
			summary: "The stored conversations, the last saved first.",
			query: []parameter{
				{"query", "limit", "number of conversations, at most 200; default 50"},
				{"query", "before", "only conversations saved before this time: next of the previous response"},
			},
			status: http.StatusOK, gives: typeOf[StoredList](), fails: []int{bad, missing, busy},
		}},
		{"GET /v1/stored/{id}", s.showStored, false, kind{
			summary: "A stored conversation with its words.",
			status:  http.StatusOK, gives: typeOf[StoredDetails](), fails: []int{missing, busy},
		}},
		{"GET /v1/stored/{id}/trace", s.traceStored, false, kind{
			summary: "The stored trace, for hocket replay.", status: http.StatusOK, media: "application/jsonl", fails: []int{missing, busy},
		}},
		{"GET /v1/stored/{id}/alternatives", s.alternatives, false, kind{
			summary: "The steps of a stored conversation at which another barge-in policy would have decided otherwise.",
			query:   []parameter{{"query", "barge_in", "the policy: hybrid, energy, words or none"}},
			status:  http.StatusOK, gives: typeOf[AlternativeList](), fails: []int{bad, missing, conflict, busy},
		}},
		{"DELETE /v1/stored/{id}", s.deleteStored, false, kind{
			summary: "Delete the data of a stored conversation that is not running.",
			status:  http.StatusOK, gives: typeOf[Empty](), fails: []int{missing, conflict, busy},
		}},
		{"GET /v1/callers", s.showCaller, false, kind{
			summary: "The stored data of a caller: conversations and delegated work.", query: caller,
			status: http.StatusOK, gives: typeOf[CallerData](), fails: []int{bad, busy},
		}},
		{"GET /v1/callers/export", s.exportCaller, false, kind{
			summary: "The stored data of a caller, with all words, as JSON lines. The type of the last line is end.", query: caller,
			status: http.StatusOK, media: "application/jsonl", fails: []int{bad, busy},
		}},
		{"DELETE /v1/callers", s.deleteCaller, false, kind{
			summary: "Delete the stored data of a caller, except running conversations.", query: caller,
			status: http.StatusOK, gives: typeOf[CallerDeleted](), fails: []int{bad, busy},
		}},
	}
}
