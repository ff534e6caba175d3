package eval

import (
	"fmt"
	"html"
	"io"
	"math"
	"strconv"
	"strings"
)

// The size of a picture and of its plot, in pixels.
const (
	svgWidth, svgHeight           = 760, 480
	plotLeft, plotTop             = 70, 50
	plotRight, plotBottom float64 = 560, 420
)

// svgColors are distinct for people with any colour vision (Okabe and Ito); the shape of the
// points differs too.
var svgColors = [...]string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000"}

// WriteSVG draws the curve.
func (c *Curve) WriteSVG(w io.Writer) error {
	x, y := c.axes()
	var b strings.Builder
	out := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	out(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %d" font-family="sans-serif" font-size="12">`, svgWidth, svgHeight, svgHeight)
	out(`<rect width="100%%" height="100%%" fill="white"/>`)
	out(`<text x="%d" y="28" font-size="15">%s</text>`, plotLeft, html.EscapeString(c.Title))
	if c.Goal != nil {
		out(`<rect x="%d" y="%.1f" width="%.1f" height="%.1f" fill="#009e73" opacity="0.12"/>`,
			plotLeft, y.at(c.Goal.Y), x.at(c.Goal.X)-plotLeft, plotBottom-y.at(c.Goal.Y))
	}
	for _, v := range x.ticks() {
		out(`<path d="M%.1f %d V%.0f" stroke="#ddd"/>`, x.at(v), plotTop, plotBottom)
		out(`<text x="%.1f" y="%.0f" text-anchor="middle">%s</text>`, x.at(v), plotBottom+18, number(v))
	}
	for _, v := range y.ticks() {
		out(`<path d="M%d %.1f H%.0f" stroke="#ddd"/><text x="%d" y="%.1f" text-anchor="end">%s</text>`, plotLeft, y.at(v), plotRight, plotLeft-8, y.at(v)+4, number(v))
	}
	out(`<text x="%.0f" y="%.0f" text-anchor="middle">%s</text>`, (plotLeft+plotRight)/2, plotBottom+42, html.EscapeString(c.X))
	out(`<text transform="translate(20 %.0f) rotate(-90)" text-anchor="middle">%s</text>`, (plotTop+plotBottom)/2, html.EscapeString(c.Y))
	for i, s := range c.Series {
		color := svgColors[i%len(svgColors)]
		var line []string
		for _, p := range s.Points {
			line = append(line, fmt.Sprintf("%.1f,%.1f", x.at(p.X), y.at(p.Y)))
		}
		out(`<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>`, strings.Join(line, " "), color)
		for _, p := range s.Points {
			out(`<g fill="%s">%s<title>%s</title></g>`, color, marker(i, x.at(p.X), y.at(p.Y)),
				html.EscapeString(fmt.Sprintf("%s %s: %s, %s", s.Name, p.Label, number(p.X), number(p.Y))))
		}
		at := plotTop + 20*float64(i)
		out(`<path d="M%.0f %.0f h24" stroke="%s" stroke-width="2"/><g fill="%[3]s">%s</g>`, plotRight+16, at, color, marker(i, plotRight+28, at))
		out(`<text x="%.0f" y="%.0f">%s</text>`, plotRight+46, at+4, html.EscapeString(s.Name))
	}
	out(`<path d="M%d %d V%.0f H%.0f" fill="none" stroke="black"/>`, plotLeft, plotTop, plotBottom, plotRight)
	out(`</svg>`)
	_, err := io.WriteString(w, b.String())
	return err
}

// marker returns the shape of a point of a series.
func marker(series int, x, y float64) string {
	switch series % 4 {
	case 1:
		return fmt.Sprintf(`<rect x="%.1f" y="%.1f" width="7" height="7"/>`, x-3.5, y-3.5)
	case 2:
		return fmt.Sprintf(`<path d="M%.1f %.1f l4.5 8 h-9 z"/>`, x, y-5)
	case 3:
		return fmt.Sprintf(`<path d="M%.1f %.1f l5 5 -5 5 -5 -5 z"/>`, x, y-5)
	}
	return fmt.Sprintf(`<circle cx="%.1f" cy="%.1f" r="3.5"/>`, x, y)
}

// axis maps values to pixels.
type axis struct{ low, high, from, to, step float64 }

func (a *axis) at(v float64) float64 { return a.from + (v-a.low)/(a.high-a.low)*(a.to-a.from) }

func (a *axis) ticks() []float64 {
	var out []float64
	for i := 0; a.low+float64(i)*a.step <= a.high+a.step/1000; i++ {
		out = append(out, a.low+float64(i)*a.step)
	}
	return out
}

// axes returns the axes that show every point.
func (c *Curve) axes() (x, y axis) {
	var xs, ys []float64
	for _, s := range c.Series {
		for _, p := range s.Points {
			xs, ys = append(xs, p.X), append(ys, p.Y)
		}
	}
	if c.Goal != nil {
		xs, ys = append(xs, c.Goal.X), append(ys, c.Goal.Y)
	}
	return newAxis(xs, plotLeft, plotRight), newAxis(ys, plotBottom, plotTop)
}

// newAxis begins at 0, or below a negative value.
func newAxis(values []float64, from, to float64) axis {
	low, high := 0.0, 0.0
	for _, v := range values {
		low, high = min(low, v), max(high, v)
	}
	if high == low {
		high = low + 1
	}
	step := math.Pow(10, math.Floor(math.Log10((high-low)/4)))
	for _, n := range []float64{5, 2, 1} {
		if (high-low)/(step*n) >= 4 {
			step *= n
			break
		}
	}
	return axis{math.Floor(low/step) * step, math.Ceil(high/step-1e-9) * step, from, to, step}
}

func number(v float64) string { return strconv.FormatFloat(math.Round(v*1000)/1000, 'f', -1, 64) }
