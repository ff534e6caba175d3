//go:build cgo && sound

package device

import (
	"fmt"
	"unsafe"

	"github.com/gen2brain/malgo"
)

// backends are all backends of miniaudio except for the null device, which would
// replace a missing device.
var backends = []malgo.Backend{
	malgo.BackendWasapi, malgo.BackendDsound, malgo.BackendWinmm, malgo.BackendCoreaudio, malgo.BackendSndio,
	malgo.BackendAudio4, malgo.BackendOss, malgo.BackendPulseaudio, malgo.BackendAlsa, malgo.BackendJack,
}

// malgoStream is an open device of miniaudio.
type malgoStream struct {
	ctx    *malgo.AllocatedContext
	device *malgo.Device
}

func openDevice(rate, heard, played int, exchange func(played, heard []int16), stopped func()) (stream, error) {
	return openOn(backends, rate, heard, played, exchange, stopped)
}

func openOn(backends []malgo.Backend, rate, heard, played int, exchange func(played, heard []int16), stopped func()) (_ stream, err error) {
	ctx, err := malgo.InitContext(backends, malgo.ContextConfig{}, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoSound, err)
	}
	s := &malgoStream{ctx: ctx}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	kind, wanted := malgo.Duplex, []malgo.DeviceType{malgo.Capture, malgo.Playback}
	if heard == 0 {
		kind, wanted = malgo.Playback, wanted[1:]
	}
	for _, k := range wanted {
		list, err := ctx.Devices(k)
		if err != nil || len(list) == 0 {
			return nil, fmt.Errorf("%w: expected a default %s", ErrNoSound, map[malgo.DeviceType]string{malgo.Capture: "microphone", malgo.Playback: "speaker"}[k])
		}
	}
	c := malgo.DefaultDeviceConfig(kind)
	c.SampleRate = uint32(rate)
	c.PeriodSizeInMilliseconds = 20
	c.Capture.Format, c.Capture.Channels = malgo.FormatS16, uint32(heard)
	c.Playback.Format, c.Playback.Channels = malgo.FormatS16, uint32(played)
	s.device, err = malgo.InitDevice(ctx.Context, c, malgo.DeviceCallbacks{
		Data: func(out, in []byte, _ uint32) { exchange(samples(out), samples(in)) },
		Stop: stopped, // closing the device removes it first
	})
	if err != nil {
		return nil, fmt.Errorf("%w can be opened: %w", ErrNoSound, err)
	}
	if err := s.device.Start(); err != nil {
		return nil, fmt.Errorf("%w starts: %w", ErrNoSound, err)
	}
	return s, nil
}

// samples returns a device's buffer as samples in the machine's byte order.
func samples(b []byte) []int16 {
	if len(b) == 0 {
		return nil
	}
	return unsafe.Slice((*int16)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/2) //nolint:gosec // the device aligns its frames
}

// Close ends the device's thread and closes the device.
func (s *malgoStream) Close() error {
	s.close()
	return nil
}

func (s *malgoStream) close() {
	if s.device != nil {
		s.device.Uninit()
	}
	_ = s.ctx.Uninit() // never fails
	s.ctx.Free()
}
