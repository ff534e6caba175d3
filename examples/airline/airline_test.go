package airline

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// client talks to an airline.
type client struct {
	t   *testing.T
	url string
}

func opened(t *testing.T) (client, *Local) {
	t.Helper()
	l, err := Listen(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return client{t, l.URL()}, l
}

func (c client) ask(method, path, key, body string) (int, map[string]any) {
	c.t.Helper()
	req, err := http.NewRequestWithContext(c.t.Context(), method, c.url+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	var v map[string]any
	if err := json.Unmarshal(b, &v); err != nil {
		c.t.Fatalf("%s %s: %s", method, path, b)
	}
	return resp.StatusCode, v
}

// TestBooking books, looks, changes and cancels.
func TestBooking(t *testing.T) {
	c, l := opened(t)
	const trip = `{"flight_number":"Hocket 7","origin":"Boston","destination":"Denver","departure_date":"2026-11-27"}`
	_, found := c.ask("POST", "/flights/search", "", trip)
	if _, again := c.ask("POST", "/flights/search", "", trip); found["flights_found"] == 0.0 || found["price"] != again["price"] {
		t.Errorf("found %v, then %v", found, again)
	}
	_, b := c.ask("POST", "/bookings", "k1", trip)
	ref, _ := b["booking_ref"].(string)
	if ref != "BK-40001" || !strings.Contains(b["itinerary"].(string), "flight Hocket 7 from Boston to Denver on November 27 at ") {
		t.Fatalf("booked %v", b)
	}
	if _, v := c.ask("GET", "/bookings/bk40001/check", "", ""); v["valid"] != true || v["value"] != ref {
		t.Errorf("check %v", v)
	}
	if _, v := c.ask("GET", "/bookings/BK-1/check", "", ""); v["valid"] != false {
		t.Errorf("check %v", v)
	}
	if _, v := c.ask("POST", "/bookings/"+ref+"/change", "k2", `{"new_date":"2026-12-01"}`); !strings.Contains(v["itinerary"].(string), "December 1") {
		t.Errorf("change %v", v)
	}
	if status, _ := c.ask("POST", "/bookings/"+ref+"/cancel", "k3", ""); status != 200 {
		t.Errorf("cancel: %d", status)
	}
	if _, v := c.ask("GET", "/bookings/"+ref, "", ""); v["status"] != "cancelled" {
		t.Errorf("status %v", v)
	}
	if got, want := l.Counts(), (Counts{Bookings: 1, Changes: 1, Cancellations: 1, Searches: 2}); got != want {
		t.Errorf("%+v, expected %+v", got, want)
	}
}

// TestOnce: what was done is not done again under its key, and a key belongs to one
// request.
func TestOnce(t *testing.T) {
	c, l := opened(t)
	const trip = `{"flight_number":"Hocket 7","origin":"Boston","destination":"Denver","departure_date":"2026-11-27"}`
	_, first := c.ask("POST", "/bookings", "k1", trip)
	status, second := c.ask("POST", "/bookings", "k1", trip)
	if status != 200 || first["booking_ref"] != second["booking_ref"] || l.Counts().Bookings != 1 || l.Counts().Repeated != 1 {
		t.Errorf("%d %v after %v; %+v", status, second, first, l.Counts())
	}
	if status, v := c.ask("POST", "/bookings", "k1", strings.Replace(trip, "Denver", "Austin", 1)); status != 422 {
		t.Errorf("%d %v", status, v)
	}
	if _, third := c.ask("POST", "/bookings", "k2", trip); third["booking_ref"] == first["booking_ref"] || l.Counts().Bookings != 2 {
		t.Errorf("%v; %+v", third, l.Counts())
	}
}

// TestRefusals: what makes no sense is refused, and changes nothing.
func TestRefusals(t *testing.T) {
	c, l := opened(t)
	for _, r := range []struct {
		method, path, body string
		status             int
	}{
		{"POST", "/bookings", `{`, 400},
		{"POST", "/bookings", `{}`, 400},
		{"POST", "/bookings", `{"origin":"a","destination":"b","departure_date":"2026-11-27"}`, 400},
		{"POST", "/flights/search", `{"origin":"a","destination":"b","departure_date":"soon"}`, 400},
		{"POST", "/bookings/BK-1/cancel", "", 404},
		{"POST", "/bookings/BK-12345/change", `{"new_date":"x"}`, 400},
		{"POST", "/bookings", strings.Repeat("x", maxBody+1), 400},
	} {
		if status, v := c.ask(r.method, r.path, "k", r.body); status != r.status || v["error"] == "" {
			t.Errorf("%s %s %.40s: %d %v, expected %d", r.method, r.path, r.body, status, v, r.status)
		}
		l.mu.Lock()
		clear(l.answers)
		l.mu.Unlock()
	}
	if got := l.Counts(); got != (Counts{}) {
		t.Errorf("%+v", got)
	}
}
