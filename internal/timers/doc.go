// Package timers lists the timers of the machine (package conv) and keeps their deadlines. It
// is apart from conv because only the machine and the tools that check it name a timer.
package timers
