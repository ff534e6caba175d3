package turn_test

import (
	"fmt"
	"log"
	"time"

	"github.com/hocketvoice/hocket/turn"
)

// The controller hears a voice for a second and then silence: it decides when the turn
// is over.
func ExampleEasyTurn() {
	controller, err := turn.NewEasyTurn(turn.EasyTurnOptions{})
	if err != nil {
		log.Fatal(err)
	}
	words := turn.Linguistic{Text: "two tickets to Denver", Confidence: 0.9, Stability: 0.95}
	const frame = 20 * time.Millisecond
	for at := frame; at <= 3*time.Second; at += frame {
		sound := turn.Acoustic{At: at, Energy: 0.1, VAD: 0.9}
		if at > time.Second {
			sound = turn.Acoustic{At: at, Energy: 0.001, VAD: 0.05, Silence: at - time.Second}
		}
		if d := controller.Update(sound, words); d.State == turn.Speak {
			fmt.Println(d.State, "after a silence of", sound.Silence)
			return
		}
	}
	// Output:
	// SPEAK after a silence of 600ms
}

// What is heard while the agent speaks is judged by its words.
func ExampleClassify() {
	words, err := turn.Lookup("en")
	if err != nil {
		log.Fatal(err)
	}
	const playing = "The next flight to Denver leaves at nine."
	for _, heard := range []string{"mhm", "flight to Denver", "stop", "no I meant Dallas"} {
		v := turn.Classify(heard, playing, words, turn.FilterOptions{})
		fmt.Printf("%s: %s\n", heard, v.Kind)
	}
	// Output:
	// mhm: backchannel
	// flight to Denver: echo
	// stop: always_interrupt
	// no I meant Dallas: speech
}
