package value

import "strconv"

// This file reads years.

// century completes a year of two digits.
func (r dateReader) century(yy int) int {
	year := r.today.year/100*100 + yy
	if r.past && year > r.today.year {
		year -= 100
	} else if !r.past && year > r.today.year+50 {
		year -= 100
	}
	return year
}

// shortYear reads a year of two digits in the past: "3 May 80", "may third eighty five".
func (r dateReader) shortYear(toks []Token, k int) (int, int) {
	if !r.past || k >= len(toks) {
		return 0, 0
	}
	if t := toks[k].Text; AllDigits(t) {
		if len(t) != 2 {
			return 0, 0
		}
		y, _ := strconv.Atoi(t)
		return r.century(y), 1
	}
	if v, n := r.l.Numbers.pair(toks, k); n > 0 && v >= 10 && v <= 99 {
		return r.century(int(v)), n
	}
	return 0, 0
}

// year reads "2026", "twenty twenty six", "nineteen eighty four", "two
// thousand six".
func (r dateReader) year(toks []Token, k int) (int, int) {
	if k >= len(toks) {
		return 0, 0
	}
	if t := toks[k].Text; len(t) == 4 && AllDigits(t) {
		y, _ := strconv.Atoi(t)
		if y >= 1900 && y <= 2200 {
			return y, 1
		}
		return 0, 0
	}
	v, n := r.l.cardinal(toks, k)
	if n > 0 && v >= 1900 && v <= 2200 && v == float64(int(v)) {
		return int(v), n
	}
	w := &r.l.Numbers
	if w.Compound || n == 0 {
		return 0, 0
	}
	century, ok := w.units[toks[k].Text]
	if !ok {
		century = w.tens[toks[k].Text]
	}
	if century != 19 && century != 20 && century != 21 || k+1 >= len(toks) {
		return 0, 0
	}
	if d := w.digitWords[toks[k+1].Text]; d == "0" && k+2 < len(toks) {
		if u, ok := w.units[toks[k+2].Text]; ok && u >= 1 && u <= 9 {
			return int(century*100 + u), 3
		}
	}
	if rest, rn := w.pair(toks, k+1); rn > 0 && rest >= 10 && rest <= 99 {
		return int(century*100 + rest), 1 + rn
	}
	return 0, 0
}
