package g722

// The tables of the Recommendation: 1 to 21 and the coefficients of its figures.

// filter contains one half of the 24 coefficients of the quadrature mirror filter; the other
// half is its reverse.
var filter = [12]int32{3, -11, 12, 32, -210, 951, 3876, -805, 362, -156, 53, -11}

// powers contains 2^(i/32), scaled by 2048.
var powers = [32]int32{
	2048, 2093, 2139, 2186, 2233, 2282, 2332, 2383, 2435, 2489, 2543, 2599, 2656, 2714, 2774, 2834,
	2896, 2960, 3025, 3091, 3158, 3228, 3298, 3371, 3444, 3520, 3597, 3676, 3756, 3838, 3922, 4008,
}

// lowLevels contains the decision levels of the lower band's quantizer of 60 steps.
var lowLevels = [29]int32{
	35, 72, 110, 150, 190, 233, 276, 323, 370, 422, 473, 530, 587, 650, 714, 786, 858, 940, 1023,
	1121, 1219, 1339, 1458, 1612, 1765, 1980, 2195, 2557, 2919,
}

// lowOutput6 and lowOutput4 contain the quantized values of a lower band's code of six bits,
// and of its upper four, with which the predictor works.
var lowOutput6 = [64]int32{
	-136, -136, -136, -136, -24808, -21904, -19008, -16704, -14984, -13512, -12280, -11192, -10232, -9360, -8576, -7856,
	-7192, -6576, -6000, -5456, -4944, -4464, -4008, -3576, -3168, -2776, -2400, -2032, -1688, -1360, -1040, -728,
	24808, 21904, 19008, 16704, 14984, 13512, 12280, 11192, 10232, 9360, 8576, 7856, 7192, 6576, 6000, 5456,
	4944, 4464, 4008, 3576, 3168, 2776, 2400, 2032, 1688, 1360, 1040, 728, 432, 136, -432, -136,
}

var lowOutput4 = [16]int32{
	0, -20456, -12896, -8968, -6288, -4240, -2584, -1200, 20456, 12896, 8968, 6288, 4240, 2584, 1200, 0,
}

// lowScale contains the multiplier of the scale factor for the upper four bits of a lower
// band's code.
var lowScale = [16]int32{
	-60, 3042, 1198, 538, 334, 172, 58, -30, 3042, 1198, 538, 334, 172, 58, -30, -60,
}

// highOutput and highScale contain the quantized values and the multipliers of the higher
// band's code; highLevel is its decision level.
var (
	highOutput = [4]int32{-7408, -1616, 7408, 1616}
	highScale  = [4]int32{798, -214, 798, -214}
)

const highLevel = 564

// lowCode returns the lower band's code of a step, counted from 0, and of the sign.
func lowCode(step int, negative bool) byte {
	switch {
	case !negative:
		return byte(61 - step)
	case step < 2:
		return byte(63 - step)
	default:
		return byte(33 - step)
	}
}

// highCode is lowCode for the higher band.
func highCode(outer, negative bool) byte {
	code := byte(3)
	if negative {
		code = 1
	}
	if outer {
		code--
	}
	return code
}
