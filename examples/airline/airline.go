package airline

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Limits of the airline.
const (
	maxBody     = 64 << 10
	maxBookings = 10_000
	maxKey      = 200
)

// Counts is the number of operations carried out.
type Counts struct {
	Bookings      int `json:"bookings"`
	Changes       int `json:"changes"`
	Cancellations int `json:"cancellations"`
	Repeated      int `json:"repeated"` // requests that were answered from an earlier one
	Searches      int `json:"searches"`
}

// booking is one booking.
type booking struct {
	Flight, Origin, Destination, Date, Time string
	Cancelled                               bool
}

// answer is the response for an idempotency key.
type answer struct {
	request string // method, path and body
	status  int
	body    []byte
}

// Airline is the HTTP service. It is safe for concurrent use.
type Airline struct {
	mux *http.ServeMux

	mu       sync.Mutex // guards the fields below
	bookings map[string]*booking
	answers  map[string]answer
	counts   Counts
}

// New returns an airline with two bookings, BK-98765 and BK-12345.
func New() *Airline {
	a := &Airline{mux: http.NewServeMux(), answers: make(map[string]answer)}
	a.bookings = map[string]*booking{
		"BK-98765": {Flight: "Hocket 314", Origin: "New York", Destination: "Los Angeles", Date: "2027-12-10", Time: "9:30 in the morning"},
		"BK-12345": {Flight: "Hocket 271", Origin: "Boston", Destination: "Denver", Date: "2027-11-26", Time: "2:15 in the afternoon"},
	}
	a.mux.HandleFunc("POST /flights/search", a.once(a.search))
	a.mux.HandleFunc("POST /bookings", a.once(a.book))
	a.mux.HandleFunc("GET /bookings/{ref}", a.once(a.show))
	a.mux.HandleFunc("GET /bookings/{ref}/check", a.once(a.check))
	a.mux.HandleFunc("POST /bookings/{ref}/change", a.once(a.change))
	a.mux.HandleFunc("POST /bookings/{ref}/cancel", a.once(a.cancel))
	a.mux.HandleFunc("GET /counts", func(w http.ResponseWriter, _ *http.Request) { reply(w, http.StatusOK, a.Counts()) })
	return a
}

// Counts returns the number of operations so far.
func (a *Airline) Counts() Counts {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.counts
}

// ServeHTTP handles a request.
func (a *Airline) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.mux.ServeHTTP(w, r) }

// refusal is an error with an HTTP status.
type refusal struct {
	status int
	text   string
}

// Error returns the message.
func (r *refusal) Error() string { return r.text }

func refuse(status int, text string) error { return &refusal{status, text} }

// once carries out a request, or repeats the response if its idempotency key is
// known. It refuses a key that was used for another request.
func (a *Airline) once(do func(r *http.Request, body []byte) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
		if err != nil || len(body) > maxBody {
			reply(w, http.StatusBadRequest, map[string]string{"error": fmt.Sprintf("expected a body of at most %d bytes", maxBody)})
			return
		}
		key := r.Header.Get("Idempotency-Key")
		if r.Method == http.MethodGet || len(key) > maxKey {
			key = ""
		}
		request := r.Method + " " + r.URL.Path + "\n" + string(body)
		a.mu.Lock()
		defer a.mu.Unlock()
		if before, known := a.answers[key]; known && key != "" {
			if before.request != request {
				reply(w, http.StatusUnprocessableEntity, map[string]string{"error": "the key belongs to another request"})
				return
			}
			a.counts.Repeated++
			write(w, before.status, before.body)
			return
		}
		result, err := do(r, body)
		status := http.StatusOK
		if refused, ok := errors.AsType[*refusal](err); ok {
			status, result = refused.status, map[string]string{"error": refused.text}
		}
		b, err := json.Marshal(result)
		if err != nil {
			status, b = http.StatusInternalServerError, []byte(`{"error":"no answer"}`)
		}
		if key != "" && len(a.answers) < 4*maxBookings {
			a.answers[key] = answer{request, status, b}
		}
		write(w, status, b)
	}
}

// reply sends a JSON response.
func reply(w http.ResponseWriter, status int, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		status, b = http.StatusInternalServerError, []byte(`{"error":"no answer"}`)
	}
	write(w, status, b)
}

func write(w http.ResponseWriter, status int, b []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(b) // the client may have disconnected
}

// trip is a request for flights.
type trip struct {
	Flight      string `json:"flight_number"`
	Origin      string `json:"origin"`
	Destination string `json:"destination"`
	Date        string `json:"departure_date"`
}

func (t trip) check() error {
	switch {
	case t.Origin == "" || t.Destination == "":
		return refuse(http.StatusBadRequest, "expected origin and destination")
	case len(t.Origin) > 100 || len(t.Destination) > 100 || len(t.Flight) > 100:
		return refuse(http.StatusBadRequest, "a name has more than 100 bytes")
	}
	return checkDate(t.Date)
}

func checkDate(date string) error {
	if _, err := time.Parse(time.DateOnly, date); err != nil {
		return refuse(http.StatusBadRequest, "expected departure_date as 2027-12-10")
	}
	return nil
}

// draw returns a number derived from a trip.
func (t trip) draw(what string) int {
	h := fnv.New32a()
	_, _ = io.WriteString(h, what+"\n"+strings.ToLower(t.Origin)+"\n"+strings.ToLower(t.Destination)+"\n"+t.Date) // a hash never fails
	return int(h.Sum32() >> 1)
}

var departures = []string{"6:45 in the morning", "8:20 in the morning", "10:05 in the morning", "1:30 in the afternoon", "4:50 in the afternoon", "7:15 in the evening"}

// search finds flights. It finds none if origin and destination are equal.
func (a *Airline) search(_ *http.Request, body []byte) (any, error) {
	var t trip
	if err := json.Unmarshal(body, &t); err != nil {
		return nil, refuse(http.StatusBadRequest, "expected a JSON object")
	}
	if err := t.check(); err != nil {
		return nil, err
	}
	a.counts.Searches++
	if strings.EqualFold(t.Origin, t.Destination) {
		return map[string]any{"flights_found": 0, "flight_number": "", "departure_time": "", "price": 0}, nil
	}
	return map[string]any{
		"flights_found":  1 + t.draw("found")%4,
		"flight_number":  fmt.Sprintf("Hocket %d", 100+t.draw("number")%800),
		"departure_time": departures[t.draw("time")%len(departures)],
		"price":          89 + t.draw("price")%400,
	}, nil
}

func (a *Airline) book(_ *http.Request, body []byte) (any, error) {
	var t trip
	if err := json.Unmarshal(body, &t); err != nil {
		return nil, refuse(http.StatusBadRequest, "expected a JSON object")
	}
	if err := t.check(); err != nil {
		return nil, err
	}
	if t.Flight == "" {
		return nil, refuse(http.StatusBadRequest, "expected flight_number")
	}
	if len(a.bookings) >= maxBookings {
		return nil, refuse(http.StatusServiceUnavailable, "there are no seats left")
	}
	a.counts.Bookings++
	ref := fmt.Sprintf("BK-%05d", 40000+a.counts.Bookings)
	a.bookings[ref] = &booking{
		Flight: t.Flight, Origin: t.Origin, Destination: t.Destination, Date: t.Date,
		Time: departures[t.draw("time")%len(departures)],
	}
	return map[string]any{"booking_ref": ref, "itinerary": a.bookings[ref].itinerary()}, nil
}

// itinerary describes a booking in words.
func (b *booking) itinerary() string {
	day, err := time.Parse(time.DateOnly, b.Date)
	when := b.Date
	if err == nil {
		when = day.Format("January 2")
	}
	return fmt.Sprintf("flight %s from %s to %s on %s at %s", b.Flight, b.Origin, b.Destination, when, b.Time)
}

// find returns the booking of a request. The dash in the reference may be missing.
func (a *Airline) find(r *http.Request) (string, *booking, error) {
	ref := strings.ToUpper(r.PathValue("ref"))
	if len(ref) > 2 && ref[2] != '-' {
		ref = ref[:2] + "-" + ref[2:]
	}
	if b := a.bookings[ref]; b != nil {
		return ref, b, nil
	}
	return "", nil, refuse(http.StatusNotFound, "there is no such booking")
}

func (a *Airline) show(r *http.Request, _ []byte) (any, error) {
	ref, b, err := a.find(r)
	if err != nil {
		return nil, err
	}
	status := "confirmed"
	if b.Cancelled {
		status = "cancelled"
	}
	return map[string]any{"booking_ref": ref, "itinerary": b.itinerary(), "status": status}, nil
}

// check validates a slot.
func (a *Airline) check(r *http.Request, _ []byte) (any, error) {
	if ref, _, err := a.find(r); err == nil {
		return map[string]any{"valid": true, "value": ref}, nil
	}
	return map[string]any{"valid": false, "message": "I cannot find a booking with that reference."}, nil
}

func (a *Airline) change(r *http.Request, body []byte) (any, error) {
	var in struct {
		Date string `json:"new_date"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, refuse(http.StatusBadRequest, "expected a JSON object")
	}
	if err := checkDate(in.Date); err != nil {
		return nil, err
	}
	ref, b, err := a.find(r)
	if err != nil {
		return nil, err
	}
	if b.Cancelled {
		return nil, refuse(http.StatusConflict, "the booking is cancelled")
	}
	b.Date = in.Date
	a.counts.Changes++
	return map[string]any{"booking_ref": ref, "itinerary": b.itinerary()}, nil
}

func (a *Airline) cancel(r *http.Request, _ []byte) (any, error) {
	ref, b, err := a.find(r)
	if err != nil {
		return nil, err
	}
	if b.Cancelled {
		return nil, refuse(http.StatusConflict, "the booking is cancelled already")
	}
	b.Cancelled = true
	a.counts.Cancellations++
	return map[string]any{"booking_ref": ref, "status": "cancelled"}, nil
}
