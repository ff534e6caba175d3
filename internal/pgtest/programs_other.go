//go:build !unix

package pgtest

import "syscall"

// lower does nothing.
func (p *programs) lower() error { return nil }

// attributes returns nil.
func (p programs) attributes() *syscall.SysProcAttr { return nil }
