package hub

import (
	"slices"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/journal"
	"github.com/hocketvoice/hocket/session"
)

// TaskState is the state of delegated work.
type TaskState string

// The states of delegated work. All except the first are final.
const (
	TaskRunning   TaskState = "running"
	TaskDone      TaskState = "done"
	TaskFailed    TaskState = "failed"
	TaskCancelled TaskState = "cancelled"
	// TaskLeft means that the conversation has ended before the task. The result,
	// if any, goes to another conversation.
	TaskLeft TaskState = "left"
)

// TaskStates returns all states.
func TaskStates() []string {
	return []string{string(TaskRunning), string(TaskDone), string(TaskFailed), string(TaskCancelled), string(TaskLeft)}
}

// Task is the current state of delegated work (seed 001, WAITING_AMPLIFIER): a call
// of a long tool.
type Task struct {
	ID    string    `json:"id"`
	Name  string    `json:"name"` // name of the tool
	State TaskState `json:"state"`
	// Text is the last progress, or the reason of a failure. Code identifies the
	// failure for programs.
	Text  string    `json:"text,omitempty"`
	Code  string    `json:"code,omitempty"`
	Since time.Time `json:"since"` // when the task began
	// DurationMS is the running time so far, in milliseconds.
	DurationMS float64 `json:"durationMs"`
	Turn       int     `json:"turn,omitempty"` // turn of the agent that started the task
	// Background reports that the conversation continued without the task; its
	// result is told later.
	Background bool `json:"background,omitempty"`
	// Told is the agent's turn that tells the result, if it is a separate turn: for
	// a task in the background, or one whose failure a model tells after the fault.
	Told int `json:"told,omitempty"`
	// Adopted reports that an earlier conversation of the same caller started the
	// task.
	Adopted bool `json:"adopted,omitempty"`
}

// codeTaskTimeout is the code of a task that timed out.
const codeTaskTimeout = "TASK_TIMEOUT"

// untoldKept bounds the number of tasks in tasks.untold.
const untoldKept = 16

// tasks tracks delegated work. Only the loop's goroutine uses it.
type tasks struct {
	running []Task // the oldest first
	// untold are ended tasks whose result is told in a separate turn that has not
	// ended yet: tasks in the background, and tasks whose failure aborted a model's
	// reply.
	untold []Task
}

// step returns the current state of the tasks that changed with a step.
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

// progress records a task's progress. An event without an id concerns the oldest
// task.
func (t *tasks) progress(list []Task, s session.Step, e conv.TaskProgress) []Task {
	i := slices.IndexFunc(t.running, func(k Task) bool { return e.ID == "" || k.ID == e.ID })
	if i < 0 || t.running[i].Text == e.Text {
		return list
	}
	t.running[i].Text = e.Text
	return append(list, t.running[i].at(s.Now))
}

// ended finds the tasks that the conversation no longer waits for.
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

// end sets the final state of a task.
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

// begun finds running tasks: new ones, those of a restored conversation, and those
// that no reply waits for any longer.
func (t *tasks) begun(list []Task, s session.Step) []Task {
	for i := range s.State.Calls {
		call := &s.State.Calls[i]
		if !call.Long || !call.Running() {
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

// told sets the turn in which a result is told, if it is a separate turn.
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

// at returns a task with its duration at the given time.
func (k Task) at(now time.Time) Task {
	k.DurationMS = max(0, journal.Millis(now.Sub(k.Since)))
	return k
}
