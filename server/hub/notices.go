package hub

import (
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/session"
)

// Behind tells the person that the conversation is currently not being saved, or, if
// err is nil, that it is saved again. It is meant for [session.Checkpoints]. A client
// gets the message before those of steps that were not saved.
func (c *Conversation) Behind(err error) {
	code, level := "store.behind", conv.LevelWarning
	if err == nil {
		code, level = "store.caught_up", conv.LevelInfo
	}
	if s := c.session.Load(); s != nil {
		c.feed.publish(Message{
			Type: TypeNotification, At: c.at(time.Now()), Payload: encode(Notification{Message: s.Words(code), Code: code, Level: level}),
		})
	}
}

// transportText is the transport of conversations without sound.
const transportText = "text"

// keepsPace tells the person when the computer becomes too slow for sound, and when it
// keeps pace again.
func (c *Conversation) keepsPace(s session.Step) {
	if late := c.transport != transportText && c.hub.o.Pace.Late(); late != c.late {
		c.late = late
		if late {
			c.notify(s, "sound.late", conv.LevelWarning)
		} else {
			c.notify(s, "sound.steady", conv.LevelInfo)
		}
	}
}
