package fake

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Commands returns how many commands were sent to the API.
func (f *Twilio) Commands() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.commands
}

// Calls returns the calls that the server has placed, those that are over too.
func (f *Twilio) Calls() []*TwilioCall {
	f.mu.Lock()
	defer f.mu.Unlock()
	var list []*TwilioCall
	for _, c := range f.calls {
		if c.form.Get("Direction") == "outbound-api" {
			list = append(list, c)
		}
	}
	return list
}

// ServeHTTP implements [http.Handler] for POST .../Accounts/AC/Calls.json and
// .../Accounts/AC/Calls/CA.json.
func (f *Twilio) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	f.commands++
	f.mu.Unlock()
	account, secret, _ := r.BasicAuth()
	_, path, ok := strings.Cut(r.URL.Path, "/Accounts/"+TwilioAccount+"/Calls")
	switch {
	case account != TwilioAccount || secret != f.o.Secret:
		f.refuse(w, http.StatusUnauthorized, 20003, "Authenticate")
	case !ok || r.Method != http.MethodPost || r.ParseForm() != nil:
		f.refuse(w, http.StatusNotFound, 20404, "The requested resource was not found")
	case path == ".json":
		f.create(w, r.PostForm) //nolint:contextcheck // webhooks outlive the request
	default:
		f.update(w, strings.TrimSuffix(strings.TrimPrefix(path, "/"), ".json"), r.PostForm)
	}
}

// refuse answers with an error.
func (*Twilio) refuse(w http.ResponseWriter, status, code int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"code": code, "message": text + ": +15551234567", "status": status}) // Twilio's words may contain numbers
}

func (*Twilio) answer(w http.ResponseWriter, status int, c *TwilioCall, state string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"sid": c.id, "status": state, "account_sid": TwilioAccount})
}

// create places a call.
func (f *Twilio) create(w http.ResponseWriter, form url.Values) {
	limit, err := strconv.Atoi(form.Get("Timeout"))
	detects := []string{"", "Enable", "DetectMessageEnd"}
	events := []string{"initiated", "ringing", "answered", "completed"}
	switch {
	case !isNumber(form.Get("To")):
		f.refuse(w, http.StatusBadRequest, 21211, "Invalid 'To' Phone Number")
		return
	case !isNumber(form.Get("From")):
		f.refuse(w, http.StatusBadRequest, 21212, "Invalid 'From' Phone Number")
		return
	case err != nil, limit < 1, limit > 600, !strings.HasPrefix(form.Get("Url"), "https://"), !slices.Contains(detects, form.Get("MachineDetection")),
		slices.ContainsFunc(form["StatusCallbackEvent"], func(e string) bool { return !slices.Contains(events, e) }):
		f.rule("the call %v", form)
		f.refuse(w, http.StatusBadRequest, 21200, "Invalid parameter")
		return
	}
	c := f.newCall(form.Get("From"), form.Get("To"), "outbound-api")
	if f.o.Parties != nil {
		c.party = f.o.Parties(form.Get("To"))
	}
	f.done.Go(func() { f.place(c, form, time.Duration(limit)*time.Second) })
	f.answer(w, http.StatusCreated, c, "queued")
}

// place lives through a call that the server places.
func (f *Twilio) place(c *TwilioCall, form url.Values, limit time.Duration) {
	tell := func(event, status string) {
		if slices.Contains(form["StatusCallbackEvent"], event) && form.Get("StatusCallback") != "" {
			_, _ = c.post(form.Get("StatusCallback"), url.Values{"CallStatus": {status}}) // Twilio does not mind
		}
	}
	tell("ringing", "ringing")
	p := c.party
	if p.How == "no_answer" || p.After > limit {
		p.How, p.After = "no_answer", limit
	}
	if on := c.pause(p.After); !on || !p.answers() {
		how := map[string]string{"busy": "busy", "no_answer": "no-answer", "reject": "busy", "unreachable": "failed"}[p.How]
		if !on {
			how = "canceled"
		}
		c.end(how)
		close(c.over)
		tell("completed", how)
		return
	}
	tell("answered", "in-progress") // before the stream
	if form.Get("MachineDetection") != "" && p.Detected != "" {
		f.done.Go(func() {
			if c.pause(p.DetectedAfter) {
				_, _ = c.post(form.Get("AsyncAmdStatusCallback"), url.Values{"AnsweredBy": {p.Detected}})
			}
		})
	}
	c.live(form.Get("Url"), "in-progress")
	tell("completed", "completed")
}

// update changes a call.
func (f *Twilio) update(w http.ResponseWriter, id string, form url.Values) {
	f.mu.Lock()
	c := f.calls[id]
	ended := c == nil || c.ended
	f.mu.Unlock()
	if ended {
		f.refuse(w, http.StatusNotFound, 20404, "The requested resource was not found")
		return
	}
	switch address := form.Get("Url"); {
	case form.Get("Status") == "completed" || form.Get("Status") == "canceled":
		c.HangUp()
	case strings.HasPrefix(address, "https://"):
		c.moved <- address
		c.f.mu.Lock()
		stream := c.stream
		c.f.mu.Unlock()
		if stream != nil {
			stream.HangUp()
		}
	default:
		f.rule("the update %v", form)
	}
	f.answer(w, http.StatusOK, c, "in-progress")
}
