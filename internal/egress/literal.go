package egress

import (
	"math"
	"net/netip"
	"strconv"
	"strings"
)

// literal is what a host in a URL says when it is no name.
type literal struct {
	addr netip.Addr
	// odd means that it is written in a way that some programs read as this
	// address and others as a name: 2130706433, 0x7f.1, 0177.0.0.1.
	odd bool
}

// parseLiteral reads a host as an address. ok is false for a name. A host
// that ends in a number can be nothing but an IPv4 address; one that is none
// comes back with the zero address.
func parseLiteral(host string) (l literal, ok bool) {
	if addr, err := netip.ParseAddr(host); err == nil {
		return literal{addr: addr}, true
	}
	parts := strings.Split(strings.TrimSuffix(host, "."), ".")
	if !numeric(parts[len(parts)-1]) {
		return literal{}, false
	}
	return literal{addr: parseNumbers(parts), odd: true}, true
}

// numeric tells whether a label is read as a number: digits, or 0x and
// hexadecimal digits, perhaps none.
func numeric(label string) bool {
	digits, isHex := cutHex(label)
	if isHex {
		return strings.Trim(digits, "0123456789abcdefABCDEF") == ""
	}
	return label != "" && strings.Trim(label, "0123456789") == ""
}

func cutHex(label string) (digits string, ok bool) {
	if len(label) >= 2 && label[0] == '0' && (label[1] == 'x' || label[1] == 'X') {
		return label[2:], true
	}
	return label, false
}

// parseNumbers reads one to four numbers as inet_aton does: the last one
// fills all the bytes that are left.
func parseNumbers(parts []string) netip.Addr {
	if len(parts) > 4 {
		return netip.Addr{}
	}
	var sum uint64
	for i, part := range parts {
		n, ok := parseNumber(part)
		left := 8 * (4 - i) // bits that are left, this part's included
		last := i == len(parts)-1
		if !ok || last && n >= 1<<left || !last && n > math.MaxUint8 {
			return netip.Addr{}
		}
		if !last {
			n <<= left - 8
		}
		sum |= n
	}
	return netip.AddrFrom4([4]byte{byte(sum >> 24), byte(sum >> 16), byte(sum >> 8), byte(sum)})
}

// parseNumber reads a decimal, octal (0…) or hexadecimal (0x…) number.
func parseNumber(label string) (uint64, bool) {
	digits, base := label, 10
	if rest, ok := cutHex(label); ok {
		if rest == "" {
			return 0, true
		}
		digits, base = rest, 16
	} else if len(label) > 1 && label[0] == '0' {
		digits, base = label[1:], 8
	}
	n, err := strconv.ParseUint(digits, base, 64)
	return n, err == nil
}
