package energy

// The noise floor is the lowest smoothed level of the last two seconds: speech has
// a gap in any such period, steady noise does not (minimum statistics, R. Martin,
// IEEE Transactions on Speech and Audio Processing 9(5), 2001).
const (
	floorSlots      = 8
	framesPerSlot   = 13    // 260 ms, 2.1 s in total
	floorSmoothing  = 0.5   // weight of the newest frame in the smoothed level
	floorBias       = 2.0   // dB from the minimum of a noise to its mean
	lowestFloor     = -72.0 // dBFS; lower levels are the noise of a converter, not of a room
	assumedAtStart  = -58.0 // dBFS, during the first two seconds
	quietestAllowed = -120.0
)

// noiseFloor tracks the background level in dBFS.
type noiseFloor struct {
	slots  [floorSlots]float64 // lowest level of each period of framesPerSlot
	slot   int
	frames int // in the current slot
	smooth float64
	begun  bool
}

func (n *noiseFloor) reset() {
	*n = noiseFloor{}
	for i := range n.slots {
		n.slots[i] = assumedAtStart
	}
	// The first slot starts empty, so that the assumed level only replaces missing
	// history.
	n.slots[0] = 0
}

// next takes the level of a frame and returns the floor.
func (n *noiseFloor) next(level float64) float64 {
	level = max(level, quietestAllowed)
	if !n.begun {
		n.smooth, n.begun = level, true
	}
	n.smooth += floorSmoothing * (level - n.smooth)
	if n.frames == framesPerSlot {
		n.frames = 0
		n.slot = (n.slot + 1) % floorSlots
		n.slots[n.slot] = n.smooth
	}
	n.frames++
	n.slots[n.slot] = min(n.slots[n.slot], n.smooth)

	lowest := n.slots[0]
	for _, v := range n.slots[1:] {
		lowest = min(lowest, v)
	}
	return max(lowest+floorBias, lowestFloor)
}
