package webrtc

import (
	"log/slog"

	"github.com/hocketvoice/hocket/internal/rtpsound"
)

func newReceiver(rate int) (*rtpsound.Receiver, error) {
	decoder, err := rtpsound.Opus(rate)
	if err != nil {
		return nil, err
	}
	return rtpsound.NewReceiver(decoder)
}

// Stats counts how the person's packets arrived.
type Stats = rtpsound.Stats

// Stats returns the counts so far over all connections of the leg.
func (l *Leg) Stats() Stats { return l.in.Stats() }

// LogValue returns the statistics for a log.
func (l *Leg) LogValue() slog.Value { return l.Stats().LogValue() }
