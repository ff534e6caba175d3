package fake

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/hocketvoice/hocket/internal/fakes"
	"github.com/hocketvoice/hocket/port"
)

// requestID is that of all connections.
const requestID = "550e8400-e29b-41d4-a716-446655440000"

// rules are those of an endpoint's handshake.
type rules struct {
	key        string
	parameters fakes.Parameters
	required   []string
	// also returns what else is wrong with the parameters, or "".
	also func(get func(string) string) string
}

// closing is how a connection is closed because of a broken rule.
type closing struct {
	code    int
	reason  string
	message map[string]any // precedes it, if not nil
}

// The close codes that the documents name.
var (
	idleTooLong = &closing{1011, "NET-0001", nil}
	unknownKind = &closing{1003, "MESSAGE-0000", nil}
	badMessage  = &closing{1008, "DATA-0000", nil}
	broken      = &closing{1011, "NET-0000", nil}
)

// serve serves a WebSocket whose handshake keeps the rules. A closing that talk returns is a
// broken rule.
func serve(s *fakes.Server, w http.ResponseWriter, r *http.Request, a rules, talk func(c *fakes.Conn) *closing) {
	q := r.URL.Query()
	if key, _ := fakes.Key(r, "Authorization", "token", "Token ", "token ", "Bearer "); key != a.key {
		refuse(s, w, http.StatusUnauthorized, "INVALID_AUTH", "Invalid credentials.")
		return
	}
	if err := a.parameters.Check(q, a.required...); err != nil {
		refuse(s, w, http.StatusBadRequest, "INVALID_QUERY_PARAMETER", err.Error())
		return
	}
	if no := a.also(q.Get); no != "" {
		refuse(s, w, http.StatusBadRequest, "INVALID_QUERY_PARAMETER", no)
		return
	}
	s.Serve(w, r, []string{"token"}, func(c *fakes.Conn) {
		if end := talk(c); end != nil {
			s.Break("%s", end.reason)
			if end.message != nil {
				c.SendJSON(end.message)
			}
			c.Close(end.code, end.reason)
		}
	})
}

// refuse responds with an error in place of a WebSocket.
func refuse(s *fakes.Server, w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Dg-Request-Id", requestID)
	body, err := json.Marshal(map[string]string{"err_code": code, "err_msg": message, "request_id": requestID})
	if err != nil {
		panic(err) // cannot happen: they are texts
	}
	s.Refuse(w, status, "%s", body)
}

// typed is a message of a client, with its type.
type typed struct {
	Type     string           `json:"type"`
	Text     *string          `json:"text"`
	Channel  *int             `json:"channel"`
	Keyterms []string         `json:"keyterms"`
	Features map[string]bool  `json:"features"`
	Limits   *json.RawMessage `json:"thresholds"`
	Hints    []string         `json:"language_hints"`
	Numerals *bool            `json:"numerals"`
}

// read decodes a message of a client.
func read(data []byte) (typed, bool) {
	var m typed
	if fakes.Strict(data, &m) != nil || m.Type == "" {
		return typed{}, false
	}
	return m, true
}

// hearer is a recognizer's side of a connection.
type hearer interface {
	begin(ear *fakes.Ear)
	hear(words []fakes.Words)
	// obey obeys a message; sound without bytes is a nil one.
	obey(data []byte) verdict
}

// verdict is what follows from a message.
type verdict struct {
	alive bool     // the client has shown that it is there
	over  bool     // the connection was closed
	end   *closing // the message has broken a rule
}

// listen serves a connection of a recognizer until the client has gone, or returns how to close
// it. A client that shows for as long as idle that it is there neither with sound nor otherwise
// is not waited for.
func listen(s *fakes.Server, c *fakes.Conn, engine port.Recognizer, q url.Values, idle time.Duration, h hearer) *closing {
	rate, err := strconv.Atoi(q.Get("sample_rate"))
	if err != nil {
		return badMessage
	}
	ear, err := fakes.NewEar(c.Context(), engine, rate, q.Get("language"))
	if err != nil {
		return broken
	}
	defer ear.Close()
	ear.Expect(q["keyterm"])
	h.begin(ear)
	alive := time.Now()
	for {
		data, binary, err := c.Read(time.Until(alive.Add(idle)))
		switch {
		case errors.Is(err, fakes.ErrIdle):
			return idleTooLong
		case err != nil:
			return nil
		case binary && len(data) > 0:
			alive = time.Now()
			words, err := ear.Hear(fakes.Decode(q.Get("encoding"), data))
			if err != nil {
				return broken
			}
			h.hear(words)
		default:
			v := h.obey(data)
			switch {
			case v.over:
				s.End()
				return nil
			case v.end != nil:
				return v.end
			case v.alive:
				alive = time.Now()
			}
		}
	}
}

// rates accepts the sampling rates of raw sound.
var rates = fakes.Between(8000, 48000)

// encodings accepts the encodings that the fake knows.
var encodings = fakes.OneOf("linear16", "mulaw", "alaw")

// raw returns what is wrong with the parameters of raw sound.
func raw(get func(string) string) string {
	if (get("encoding") == "") != (get("sample_rate") == "") {
		return "encoding and sample_rate must be given together"
	}
	return ""
}
