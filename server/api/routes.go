package api

import (
	"net/http"

	"github.com/hocketvoice/hocket/internal/explore"
	"github.com/hocketvoice/hocket/server/hub"
)

// route is one path of the API.
type route struct {
	pattern string // of http.ServeMux
	serve   func(w http.ResponseWriter, r *http.Request, p who) error
	// single: a token for one conversation, or for the start of one, may do.
	single bool
	kind   kind
}

// routes are the paths that want access.
func (s *Server) routes() []route {
	const (
		bad, missing, conflict = http.StatusBadRequest, http.StatusNotFound, http.StatusConflict
		large, many, busy      = http.StatusRequestEntityTooLarge, http.StatusTooManyRequests, http.StatusServiceUnavailable
	)
	stream := []parameter{
		{"query", "from", "number of the first message that is wanted; what is older than remembered is told as a gap"},
		{"header", "Last-Event-ID", "number of the last message that was read, in place of from"},
	}
	list := []route{
		{"GET /v1/agents", s.listAgents, false, kind{
			summary: "The agents that may be talked to.", status: http.StatusOK, gives: typeOf[AgentList](),
		}},
		{"POST /v1/conversations", s.create, true, kind{
			summary: "Begin a conversation, or go on with one.", takes: typeOf[NewConversation](),
			status: http.StatusCreated, gives: typeOf[Created](),
			fails: []int{bad, missing, conflict, large, many, http.StatusNotImplemented, busy},
		}},
		{"GET /v1/conversations", s.listConversations, false, kind{
			summary: "The conversations, the newest first; those that ended a short while ago too.",
			status:  http.StatusOK, gives: typeOf[ConversationList](),
		}},
		{"GET /v1/conversations/{id}", s.show, true, kind{
			summary: "One conversation: state, last transitions, timings, figures.",
			status:  http.StatusOK, gives: typeOf[hub.Details](), fails: []int{missing},
		}},
		{"POST /v1/conversations/{id}/sdp", s.restart, true, kind{
			summary: "Negotiate a WebRTC connection anew, after a change of network.", takes: typeOf[Description](),
			status: http.StatusOK, gives: typeOf[Description](), fails: []int{bad, missing, conflict, large},
		}},
		{"POST /v1/conversations/{id}/commands", s.command, true, kind{
			summary: "Tell a conversation what to do.", takes: typeOf[hub.Command](),
			status: http.StatusAccepted, gives: typeOf[Empty](), fails: []int{bad, missing, conflict, large},
		}},
		{"GET /v1/conversations/{id}/events", s.follow, true, kind{
			summary: "Follow a conversation: server-sent events, or a WebSocket. The messages are described by /events.schema.json.",
			query:   append(stream, parameter{"query", "steps", "1: the steps of the machine too"}),
			status:  http.StatusOK, media: "text/event-stream", fails: []int{bad, missing, many},
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
			query:   []parameter{{"query", "view", "agent-voice, amplifier, easyturn or interaction; without it the machine itself"}},
			status:  http.StatusOK, gives: typeOf[explore.Chart](), fails: []int{bad},
		}},
		{"POST /v1/client_tokens", s.clientToken, false, kind{
			summary: "A token with which a browser may begin one conversation within a minute.",
			takes:   typeOf[NewClientToken](),
			status:  http.StatusOK, gives: typeOf[ClientToken](), fails: []int{bad, many},
		}},
	}
	list = append(list, s.storedRoutes()...)
	if s.o.Metrics != nil {
		list = append(list, route{"GET /metrics", s.metrics, false, kind{
			summary: "Figures for Prometheus.", status: http.StatusOK, media: "text/plain",
		}})
	}
	return list
}

// storedRoutes are the paths of the conversations that are kept.
func (s *Server) storedRoutes() []route {
	const bad, missing, conflict, busy = http.StatusBadRequest, http.StatusNotFound, http.StatusConflict, http.StatusServiceUnavailable
	return []route{
		{"GET /v1/stored", s.listStored, false, kind{
			summary: "The conversations that are kept, those that were saved last first.",
			query: []parameter{
				{"query", "limit", "how many, at most 200; 50 without it"},
				{"query", "before", "those that were saved before this time: next, of the answer before"},
			},
			status: http.StatusOK, gives: typeOf[StoredList](), fails: []int{bad, missing, busy},
		}},
		{"GET /v1/stored/{id}", s.showStored, false, kind{
			summary: "A conversation that is kept, with what was said.",
			status:  http.StatusOK, gives: typeOf[StoredDetails](), fails: []int{missing, busy},
		}},
		{"GET /v1/stored/{id}/trace", s.traceStored, false, kind{
			summary: "The trace that is kept, for hocket replay.", status: http.StatusOK, media: "application/jsonl", fails: []int{missing, busy},
		}},
		{"DELETE /v1/stored/{id}", s.deleteStored, false, kind{
			summary: "Delete all that is kept of a conversation that has ended or that nobody holds.",
			status:  http.StatusOK, gives: typeOf[Empty](), fails: []int{missing, conflict, busy},
		}},
	}
}
