package search

import (
	"cmp"
	"strconv"
	"strings"
)

// decimal is a number as it was written: 0.DIGITS times ten to the power. It is
// compared without ever being computed, so that no digit is lost and no
// exponent is too large to hold.
type decimal struct {
	negative bool
	// digits have no zeros at either end; none is zero.
	digits string
	power  int64
}

// maxPower bounds an exponent: larger ones are all alike.
const maxPower = 1 << 60

// parseDecimal reads a number of JSON; ok is false for any other text.
func parseDecimal(text string) (d decimal, ok bool) {
	rest, negative := strings.CutPrefix(text, "-")
	mantissa, exponent, scientific := cutAny(rest, "eE")
	whole, fraction, dotted := strings.Cut(mantissa, ".")
	if !allDigits(whole) || len(whole) > 1 && whole[0] == '0' || dotted && !allDigits(fraction) {
		return d, false
	}
	var power int64
	if scientific {
		if power, ok = parsePower(exponent); !ok {
			return d, false
		}
	}
	digits := whole + fraction
	power += int64(len(whole))
	trimmed := strings.TrimLeft(digits, "0")
	power -= int64(len(digits) - len(trimmed))
	trimmed = strings.TrimRight(trimmed, "0")
	if trimmed == "" {
		return decimal{}, true
	}
	return decimal{negative, trimmed, power}, true
}

func cutAny(text, any string) (before, after string, found bool) {
	if at := strings.IndexAny(text, any); at >= 0 {
		return text[:at], text[at+1:], true
	}
	return text, "", false
}

func allDigits(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}

func parsePower(text string) (power int64, ok bool) {
	unsigned := text
	if text != "" && (text[0] == '+' || text[0] == '-') {
		unsigned = text[1:]
	}
	if !allDigits(unsigned) {
		return 0, false
	}
	power, err := strconv.ParseInt(unsigned, 10, 64)
	if err != nil {
		power = maxPower
	}
	power = min(power, maxPower)
	if text[0] == '-' {
		power = -power
	}
	return power, true
}

// compare is negative where d is less than other, and positive where it is
// more.
func (d decimal) compare(other decimal) int {
	if order := cmp.Compare(d.sign(), other.sign()); order != 0 {
		return order
	}
	order := cmp.Or(cmp.Compare(d.power, other.power), strings.Compare(d.digits, other.digits))
	if d.negative {
		return -order
	}
	return order
}

func (d decimal) sign() int {
	switch {
	case d.digits == "":
		return 0
	case d.negative:
		return -1
	default:
		return 1
	}
}
