package config

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Size is a number of bytes, written with a binary unit: 64KiB, 1MiB, 10GiB.
type Size int64

// sizeUnits are the units a size may have, largest first.
var sizeUnits = []struct {
	name  string
	bytes int64
}{
	{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1},
}

// UnmarshalText accepts a whole number of bytes, or of one of the units B,
// KiB, MiB, GiB and TiB. Units of a thousand are refused, not guessed at.
func (s *Size) UnmarshalText(text []byte) error {
	size, err := parseSize(string(text))
	if err != nil {
		return err
	}
	*s = size
	return nil
}

func parseSize(text string) (Size, error) {
	digits, unit := text, int64(1)
	for _, u := range sizeUnits {
		if rest, ok := strings.CutSuffix(digits, u.name); ok {
			digits, unit = strings.TrimRight(rest, " "), u.bytes
			break
		}
	}
	n, err := strconv.ParseUint(digits, 10, 63)
	if err != nil {
		return 0, fmt.Errorf("parse size: %w", err)
	}
	if n > math.MaxInt64/uint64(unit) {
		return 0, errors.New("parse size: too large")
	}
	return Size(int64(n) * unit), nil
}

// String writes the size with the largest unit that divides it.
func (s Size) String() string {
	for _, u := range sizeUnits {
		if s != 0 && int64(s)%u.bytes == 0 && u.bytes > 1 {
			return strconv.FormatInt(int64(s)/u.bytes, 10) + u.name
		}
	}
	return strconv.FormatInt(int64(s), 10)
}
