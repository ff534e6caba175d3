package session

import (
	"context"
	"math"
	"time"
)

// A model hears in the pauses of a turn whether the user has finished (port.EndOfTurn).

const (
	// patience is how long a pause waits for the computations of other calls.
	patience = 150 * time.Millisecond
	// inference is how long a computation takes in virtual time.
	inference = 120 * time.Millisecond
)

// pause is a pause that the model must hear, with the sound of the turn.
type pause struct {
	number int
	pcm    []int16
}

// askModel asks the model about a pause. It never waits: if the model still hears an earlier
// pause, it does not hear this one.
func (a *sound) askModel(number int, pcm []int16) {
	a.s.busy(1)
	select {
	case a.pauses <- pause{number, pcm}:
	default:
		a.s.busy(-1)
	}
}

// hearPauses passes the pauses to the model and its scores to the uplink until ctx ends. A pause
// that waits for longer than the patience, if there is one, gets no score, and neither does one
// at which the model fails: the turn then ends without it.
func (a *sound) hearPauses(ctx context.Context, patience time.Duration) {
	for {
		select {
		case <-ctx.Done():
			return
		case p := <-a.pauses:
			if score := a.finished(ctx, p, patience); !math.IsNaN(score) {
				a.up.Score(p.number, score)
			}
			a.s.busy(-1)
		}
	}
}

func (a *sound) finished(ctx context.Context, p pause, patience time.Duration) float64 {
	if patience > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, patience)
		defer cancel()
	}
	score, err := a.s.o.EndOfTurn.Finished(ctx, p.pcm)
	if err != nil {
		return math.NaN()
	}
	return score
}
