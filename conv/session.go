package conv

import "time"

// Session is the session with the services. The package documentation describes its states.
type Session struct {
	ID      string // the service's id for the session; may be empty
	Life    SessionLife
	Audio   bool // microphone and playout are ready
	Started time.Time
}

// SessionLife is the state of a [Session].
type SessionLife uint8

// The values of [SessionLife].
const (
	SessionNone    SessionLife = iota // this conversation has had no session
	SessionLives                      // the session is in use
	SessionExpires                    // the session is in use and will end soon
	SessionOver                       // the session has ended
)

// Alive reports whether the session is in use, whether or not it will end soon.
func (s *Session) Alive() bool { return s.Life == SessionLives || s.Life == SessionExpires }

// begins notes that a session has begun. An empty id keeps the id of the session before.
func (s *Session) begins(id string, now time.Time) {
	if id != "" {
		s.ID = id
	}
	s.Life, s.Started = SessionLives, now
}

// ends notes that the session has ended, if one is in use.
func (s *Session) ends() {
	if s.Alive() {
		s.Life = SessionOver
	}
}
