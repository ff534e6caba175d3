package hub

import (
	"slices"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/journal"
	"github.com/hocketvoice/hocket/session"
)

// TaskState says where delegated work stands.
type TaskState string

// The states of delegated work. All but the first are ends.
const (
	TaskRunning   TaskState = "running"
	TaskDone      TaskState = "done"
	TaskFailed    TaskState = "failed"
	TaskCancelled TaskState = "cancelled"
	// TaskLeft: the conversation has ended without it; its result, if there is one,
	// is for another conversation.
	TaskLeft TaskState = "left"
)

// TaskStates are the states there are.
func TaskStates() []string {
	return []string{string(TaskRunning), string(TaskDone), string(TaskFailed), string(TaskCancelled), string(TaskLeft)}
}

// Task is delegated work (seed 001, WAITING_AMPLIFIER): a call of a long tool, as
// it stands.
type Task struct {
	ID    string    `json:"id"`
	Name  string    `json:"name"` // of the tool
	State TaskState `json:"state"`
	// Text is what it said last of itself; of one that failed, why, with Code for
	// programs.
	Text  string    `json:"text,omitempty"`
	Code  string    `json:"code,omitempty"`
	Since time.Time `json:"since"` // when it began
	// DurationMS is how long it has run, or ran, in milliseconds.
	DurationMS float64 `json:"durationMs"`
	Turn       int     `json:"turn,omitempty"` // the agent's, that asked for it
	// Background: the conversation went on without it; its result is told later.
	Background bool `json:"background,omitempty"`
	// Told is the agent's turn that tells what came of it, where it is a turn of its
	// own: of one in the background, and of one whose failure a model tells behind the
	// fault.
	Told int `json:"told,omitempty"`
	// Adopted: an earlier conversation of the same caller's has begun it.
	Adopted bool `json:"adopted,omitempty"`
}

// codeTaskTimeout is the code of a task whose time was up.
const codeTaskTimeout = "TASK_TIMEOUT"

// untoldKept bounds the tasks whose telling is waited for.
const untoldKept = 16

// tasks follows delegated work. It belongs to the goroutine of the loop.
type tasks struct {
	running []Task // the oldest first
	// untold have ended, and are told in a turn of their own, which has not ended yet:
	// those in the background, and those whose failure broke a model's reply off.
	untold []Task
}

// step returns the tasks that a step changes, as they are now.
func (t *tasks) step(s session.Step) (list []Task) {
	if s.Output.Late {
		return nil
	}
	if e, ok := s.Event.(conv.TaskProgress); ok && e.Text != "" {
		list = t.progress(list, s, e)
	}
	list = t.ended(list, s)
	list = t.begun(list, s)
	return t.told(list, s)
}

// progress notes what a task says of itself. Without an id it is the oldest.
func (t *tasks) progress(list []Task, s session.Step, e conv.TaskProgress) []Task {
	i := slices.IndexFunc(t.running, func(k Task) bool { return e.ID == "" || k.ID == e.ID })
	if i < 0 || t.running[i].Text == e.Text {
		return list
	}
	t.running[i].Text = e.Text
	return append(list, t.running[i].at(s.Now))
}

// ended finds the tasks that the conversation does not wait for any more.
func (t *tasks) ended(list []Task, s session.Step) []Task {
	kept := t.running[:0]
	for _, k := range t.running {
		if slices.ContainsFunc(s.State.Calls, func(call conv.Call) bool { return call.ID == k.ID }) {
			kept = append(kept, k)
			continue
		}
		k.end(s)
		k = k.at(s.Now)
		list = append(list, k)
		if (k.State == TaskDone || k.State == TaskFailed) && (k.Background || slices.Contains(s.State.Pending.News, k.ID)) {
			t.untold = append(t.untold, k)
			t.untold = t.untold[max(0, len(t.untold)-untoldKept):]
		}
	}
	t.running = kept
	return list
}

// end says how a task ended.
func (k *Task) end(s session.Step) {
	cut := slices.Contains(s.Output.Effects, conv.Effect(conv.CancelTool{ID: k.ID}))
	switch e := s.Event.(type) {
	case conv.TaskDone:
		k.State, k.Text = TaskDone, ""
	case conv.TaskFailed:
		k.State, k.Text, k.Code = TaskFailed, e.Message, e.Code
	default:
		_, deadline := s.Event.(conv.DeadlinePassed)
		switch {
		case cut && deadline:
			k.State, k.Text, k.Code = TaskFailed, "", codeTaskTimeout
		case cut:
			k.State, k.Text = TaskCancelled, ""
		default:
			k.State, k.Text = TaskLeft, ""
		}
	}
}

// begun finds the tasks that run: new ones, those of a conversation that was taken
// up again, and those that no reply waits for any more.
func (t *tasks) begun(list []Task, s session.Step) []Task {
	for i := range s.State.Calls {
		call := &s.State.Calls[i]
		if !call.Long || call.State != conv.CallRunning {
			continue
		}
		at := slices.IndexFunc(t.running, func(k Task) bool { return k.ID == call.ID })
		if at < 0 {
			at = len(t.running)
			t.running = append(t.running, Task{ID: call.ID, Name: call.Name, State: TaskRunning, Since: call.Started, Turn: call.Turn, Adopted: call.Adopted()})
		} else if t.running[at].Background == call.Background() {
			continue
		}
		t.running[at].Background = call.Background()
		list = append(list, t.running[at].at(s.Now))
	}
	return list
}

// told notes in which turn the results are told that have one of their own.
func (t *tasks) told(list []Task, s session.Step) []Task {
	for i := range s.Output.Turns {
		switch e := &s.Output.Turns[i]; {
		case e.Role != conv.RoleAgent || len(t.untold) == 0:
		case e.Type == conv.TurnStarted && e.Kind == conv.ReplyNews:
			for j := range t.untold {
				t.untold[j].Told = e.Turn
				list = append(list, t.untold[j])
			}
		case e.Type != conv.TurnStarted:
			kept := t.untold[:0]
			for _, k := range t.untold {
				switch {
				case k.Told != e.Turn:
					kept = append(kept, k)
				case slices.Contains(s.State.Pending.News, k.ID): // cut off before it was heard
					k.Told = 0
					kept, list = append(kept, k), append(list, k)
				}
			}
			t.untold = kept
		}
	}
	return list
}

// at is a task with its duration at a time.
func (k Task) at(now time.Time) Task {
	k.DurationMS = max(0, journal.Millis(now.Sub(k.Since)))
	return k
}
