package explore

import (
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/internal/timers"
	"github.com/hocketvoice/hocket/turn"
)

// Shipped returns the configurations to explore: the machine with each end-of-turn
// policy that it distinguishes and each barge-in policy, with low limits for counters,
// so that the states are finite and few.
func Shipped() []Config {
	small := func(endpoint turn.Policy, barge turn.BargeInPolicy) conv.Options {
		return conv.Options{
			Endpoint: endpoint,
			BargeIn:  turn.Profiles{Reply: turn.BargeInOptions{Policy: barge}},
			Limits: conv.Limits{
				BreakerFaults: 2, Calls: 2, Queue: 1,
				Feedback: []conv.Feedback{{After: 0, Code: "working.0"}, {After: 5 * time.Second, Code: "working.1"}},
			},
			Retry: conv.Retry{
				Max: 1, Backoff: []time.Duration{time.Second}, Recover: 2,
				Reconnect: []time.Duration{time.Second, 3 * time.Second},
			},
			DeadAir: turn.DeadAirOptions{Steps: []turn.DeadAirStep{
				{After: 10 * time.Second, Code: "checkin.1"},
				{After: 10 * time.Second, Code: "goodbye", End: true},
			}},
		}
	}
	// without removes what other configurations explore.
	without := func(o conv.Options) conv.Options {
		o.Retry.Recover, o.Retry.Max = -1, -1
		o.DeadAir = turn.DeadAirOptions{Off: true}
		o.Limits.Feedback = o.Limits.Feedback[:1]
		return o
	}
	retrying := func(o conv.Options) conv.Options {
		o = without(o)
		o.Retry.Max = 1
		return o
	}
	resuming := func(o conv.Options) conv.Options {
		o = without(o)
		o.ResumeAfterFalseInterruption = true
		return o
	}
	outliving := without(small("recognizer", turn.BargeInEnergy))
	outliving.TasksOutlive = true
	recovering := without(small("recognizer", turn.BargeInEnergy))
	recovering.Retry.Recover, recovering.Limits.Calls = 1, 1
	session := []timers.Timer{timers.Warning, timers.Session}
	configs := []Config{
		{
			Name: "floor: recognizer, hybrid", Options: retrying(small("recognizer", turn.BargeInHybrid)),
			Events: any_(beginning, floor), Still: session,
		},
		{
			Name: "floor: easyturn, energy", Options: resuming(small("easyturn", turn.BargeInEnergy)),
			Events: any_(beginning, floor), Still: session,
		},
		{
			Name: "floor: manual, words", Options: without(small("manual", turn.BargeInWords)),
			Events: any_(beginning, floor), Still: session,
		},
		{
			Name: "tools", Options: without(small("recognizer", turn.BargeInEnergy)),
			Events: any_(beginning, talk, tools), Still: session,
		},
		{
			Name: "rules", Options: without(small("recognizer", turn.BargeInEnergy)),
			Events: any_(beginning, talk, rules), Still: session,
		},
		{
			Name: "disturbances", Options: without(small("recognizer", turn.BargeInEnergy)),
			Events: any_(beginning, talk, disturbances),
		},
		{
			Name: "tools and disturbances", Options: without(small("recognizer", turn.BargeInEnergy)),
			Events: any_(beginning, typed, tools, blows), Still: session,
		},
		{
			Name: "tasks that outlive the conversation", Options: outliving,
			Events: any_(beginning, typed, tasks, blows), Still: session,
		},
		{
			Name: "tools that fail", Options: recovering,
			Events: any_(beginning, typed, failures), Still: session,
		},
		{
			Name: "faults and silence", Options: small("recognizer", turn.BargeInEnergy),
			Events: any_(beginning, faults),
		},
	}
	flows := without(small("recognizer", turn.BargeInEnergy))
	configs = append(configs, flowConfigs(flows, session)...)
	configs = append(configs, goingConfigs(flows, session)...)
	return append(configs, confirmConfigs(flows, session)...)
}
