package conv

import "time"

// Session is the session with the services. The package documentation has its life.
type Session struct {
	ID      string
	Life    SessionLife
	Audio   bool // microphone and playout are primed
	Started time.Time
}

// SessionLife says where a session stands.
type SessionLife uint8

// The values of [SessionLife].
const (
	SessionNone    SessionLife = iota // there has been none in this conversation
	SessionLives                      // there is one
	SessionExpires                    // there is one, and it will end soon
	SessionOver                       // there was one
)

// Alive reports whether there is a session.
func (s *Session) Alive() bool { return s.Life == SessionLives || s.Life == SessionExpires }

// begins makes it a session that has just begun. An empty id keeps that of before.
func (s *Session) begins(id string, now time.Time) {
	if id != "" {
		s.ID = id
	}
	s.Life, s.Started = SessionLives, now
}

// ends notes that there is no session any more.
func (s *Session) ends() {
	if s.Alive() {
		s.Life = SessionOver
	}
}
