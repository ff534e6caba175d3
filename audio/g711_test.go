package audio

import (
	"math"
	"testing"
)

// g711Row is one line of a table of G.711: an interval of uniform values from the
// decision value to the next, the decoded value, and the code as sent.
type g711Row struct {
	from, to, value int
	code            byte
}

// The outermost and innermost interval of each positive segment, in the
// recommendation's units. A-law codes are before the inversion of even bits.
var (
	muLawTable = []g711Row{ // table 2a
		{7903, 8159, 8031, 0x80},
		{4063, 4319, 4191, 0x8F},
		{3935, 4063, 3999, 0x90},
		{2015, 2143, 2079, 0x9F},
		{1951, 2015, 1983, 0xA0},
		{991, 1055, 1023, 0xAF},
		{959, 991, 975, 0xB0},
		{479, 511, 495, 0xBF},
		{463, 479, 471, 0xC0},
		{223, 239, 231, 0xCF},
		{215, 223, 219, 0xD0},
		{95, 103, 99, 0xDF},
		{91, 95, 93, 0xE0},
		{31, 35, 33, 0xEF},
		{29, 31, 30, 0xF0},
		{1, 3, 2, 0xFE},
		{0, 1, 0, 0xFF},
	}
	aLawTable = []g711Row{ // table 1a
		{3968, 4096, 4032, 0xFF},
		{2048, 2176, 2112, 0xF0},
		{1984, 2048, 2016, 0xEF},
		{1024, 1088, 1056, 0xE0},
		{992, 1024, 1008, 0xDF},
		{512, 544, 528, 0xD0},
		{496, 512, 504, 0xCF},
		{256, 272, 264, 0xC0},
		{248, 256, 252, 0xBF},
		{128, 136, 132, 0xB0},
		{124, 128, 126, 0xAF},
		{64, 68, 66, 0xA0},
		{62, 64, 63, 0x9F},
		{0, 2, 1, 0x80},
	}
)

func TestG711Tables(t *testing.T) {
	for _, law := range []struct {
		g       G711
		table   []g711Row
		scale   int
		invert  byte
		negated func(int) int // the negative sample that belongs to the same magnitude
	}{
		{MuLaw, muLawTable, 4, 0, func(v int) int { return -v }},
		{ALaw, aLawTable, 8, 0x55, func(v int) int { return -v - 1 }},
	} {
		for _, row := range law.table {
			code, negative := row.code^law.invert, row.code^law.invert^0x80
			first, last := row.from*law.scale, row.to*law.scale-1
			for _, v := range []int{first, (first + last) / 2, last} {
				if got := law.g.Encode(int16(v)); got != code {
					t.Errorf("%v: Encode(%d) = %#02x, want %#02x", law.g, v, got, code)
				}
				if v == 0 && law.g == MuLaw {
					continue // zero has no negative
				}
				if got := law.g.Encode(int16(law.negated(v))); got != negative {
					t.Errorf("%v: Encode(%d) = %#02x, want %#02x", law.g, law.negated(v), got, negative)
				}
			}
			if got := law.g.Decode(code); int(got) != row.value*law.scale {
				t.Errorf("%v: Decode(%#02x) = %d, want %d", law.g, code, got, row.value*law.scale)
			}
			if got := law.g.Decode(negative); int(got) != -row.value*law.scale {
				t.Errorf("%v: Decode(%#02x) = %d, want %d", law.g, negative, got, -row.value*law.scale)
			}
		}
	}
}

// intervals returns a law's positive decision values by the rule of the tables:
// sixteen equal steps per segment, each twice those of the previous segment.
func intervals(g G711) (decisions []int) {
	scale, step := 4, 2
	decisions = []int{0, 1}
	if g == ALaw {
		scale, decisions = 8, []int{0}
	}
	for segment := range 8 {
		steps := 16
		switch {
		case g == MuLaw && segment == 0:
			steps = 15 // and the half step about zero
		case g == MuLaw, segment > 1:
			step *= 2
		}
		for range steps {
			decisions = append(decisions, decisions[len(decisions)-1]+step)
		}
	}
	for i := range decisions {
		decisions[i] *= scale
	}
	return decisions
}

func TestG711EverySample(t *testing.T) {
	for _, g := range []G711{MuLaw, ALaw} {
		decisions := intervals(g)
		if len(decisions) != 129 {
			t.Fatalf("%v: %d decision values, want 129", g, len(decisions))
		}
		for v := math.MinInt16; v <= math.MaxInt16; v++ {
			magnitude := v
			if v < 0 && g == MuLaw {
				magnitude = -v
			} else if v < 0 {
				magnitude = -v - 1
			}
			level := 127 // values beyond the last decision value belong to the last interval
			for level > 0 && magnitude < decisions[level] {
				level--
			}
			middle := (decisions[level] + decisions[level+1]) / 2
			if g == MuLaw && level == 0 {
				middle = 0
			}
			if v < 0 {
				middle = -middle
			}
			code := g.Encode(int16(v))
			if got := int(g.Decode(code)); got != middle {
				t.Fatalf("%v: sample %d became %#02x and then %d, want %d", g, v, code, got, middle)
			}
		}
	}
}

func TestG711EveryCode(t *testing.T) {
	for _, g := range []G711{MuLaw, ALaw} {
		for code := range 256 {
			want := byte(code)
			if g == MuLaw && want == 0x7F {
				want = 0xFF // the negative zero
			}
			if got := g.Encode(g.Decode(byte(code))); got != want {
				t.Errorf("%v: code %#02x became %d and then %#02x", g, code, g.Decode(byte(code)), got)
			}
		}
	}
}

func TestG711Silence(t *testing.T) {
	if got := MuLaw.Silence(); got != 0xFF {
		t.Errorf("mu-law silence is %#02x, want 0xff", got)
	}
	if got := ALaw.Silence(); got != 0xD5 {
		t.Errorf("A-law silence is %#02x, want 0xd5", got)
	}
}

func TestG711Slices(t *testing.T) {
	every := make([]int16, 1<<16)
	for i := range every {
		every[i] = int16(i - 1<<15)
	}
	for _, g := range []G711{MuLaw, ALaw} {
		codes := g.AppendEncode([]byte{1, 2}, every)
		if len(codes) != 2+len(every) || codes[0] != 1 || codes[1] != 2 {
			t.Fatalf("%v: AppendEncode gave %d bytes, want %d behind the first two", g, len(codes), len(every))
		}
		pcm := g.AppendDecode([]int16{7}, codes[2:])
		if len(pcm) != 1+len(every) || pcm[0] != 7 {
			t.Fatalf("%v: AppendDecode gave %d samples, want %d behind the first", g, len(pcm), len(every))
		}
		for i, s := range every {
			if codes[2+i] != g.Encode(s) || pcm[1+i] != g.Decode(codes[2+i]) {
				t.Fatalf("%v: the slices differ from Encode and Decode at sample %d", g, s)
			}
		}
	}
}
