// Package store holds what the stores of conversations below it have in common: what they
// take, how long a dead node is kept, and how messages name a conversation. It keeps
// nothing itself.
package store
