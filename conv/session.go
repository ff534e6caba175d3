package conv

import "time"

// session is the session with the services. The package documentation describes its states.
type session struct {
	ID      string // the service's id for the session; may be empty
	Life    sessionLife
	Audio   bool // microphone and playout are ready
	Started time.Time
}

// sessionLife is the state of a [session].
type sessionLife uint8

// The values of [sessionLife].
const (
	sessionNone    sessionLife = iota // this conversation has had no session
	sessionLives                      // the session is in use
	sessionExpires                    // the session is in use and will end soon
	sessionOver                       // the session has ended
)

// Alive reports whether the session is in use, whether or not it will end soon.
func (s *session) Alive() bool { return s.Life == sessionLives || s.Life == sessionExpires }

// begins notes that a session has begun. An empty id keeps the id of the session before.
func (s *session) begins(id string, now time.Time) {
	if id != "" {
		s.ID = id
	}
	s.Life, s.Started = sessionLives, now
}

// ends notes that the session has ended, if one is in use.
func (s *session) ends() {
	if s.Alive() {
		s.Life = sessionOver
	}
}
