package dialing

import "strings"

// emergencies are the numbers of emergency services, and what is dialed for them, in the countries
// of the world (ITU-T E.129; national plans).
var emergencies = []string{
	"112", "911", "999", "000", "110", "111", "113", "114", "115", "117", "118", "119", "120", "122", "100", "101", "102", "103", "104", "108",
	"133", "144", "15", "17", "18", "061", "091", "190", "191", "192", "193", "194", "195", "197", "199", "988", "933", "10111", "10177", "1122",
}

// premiums are the beginnings of numbers that cost their caller more than others, by the national
// numbering plans, and those of networks that belong to no country (ITU-T E.164: satellites, +979).
var premiums = []string{
	"+1900", "+1976", "+4190", "+43900", "+43901", "+43930", "+43931", "+449", "+4487", "+44843", "+44844", "+44845", "+44118", "+46900",
	"+46939", "+46944", "+47820", "+47829", "+4590", "+3190", "+32900", "+32901", "+32902", "+32903", "+32904", "+32905", "+32906", "+32907", "+32908",
	"+32909", "+3389", "+34803", "+34806", "+34807", "+34905", "+34907", "+351601", "+351607", "+351608", "+351646", "+351648", "+353151", "+353152",
	"+353153", "+353154", "+353155", "+353156", "+353157", "+353158", "+353159", "+358600", "+358700", "+39144", "+39166", "+39199", "+39892", "+39895",
	"+39899", "+48700", "+48701", "+48703", "+48704", "+48708", "+49900", "+49137", "+49180", "+49118", "+4919", "+420900", "+420906", "+420908",
	"+420909", "+55900", "+61190", "+64900", "+81990", "+82060", "+870", "+881", "+882", "+883", "+979", "+808",
}

// emergency reports whether a target is a number of emergency services, with or without the code of
// a country of one to three digits.
func emergency(target string) bool {
	digits, plus := strings.CutPrefix(target, "+")
	for _, n := range emergencies {
		if !plus && digits == n {
			return true
		}
		if code, ok := strings.CutSuffix(digits, n); plus && ok && len(code) >= 1 && len(code) <= 3 && len(n) >= 3 {
			return true
		}
	}
	return false
}

// premium reports whether a number costs its caller more than others.
func premium(target string) bool {
	for _, p := range premiums {
		if strings.HasPrefix(target, p) {
			return true
		}
	}
	return false
}
