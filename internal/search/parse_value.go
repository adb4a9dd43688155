package search

import (
	"encoding/json"
	"slices"
	"strings"
)

// value reads what a place is compared with: as JSON has it, or a text without
// quotes where it has no spaces.
func (p *parser) value() (v value, err error) {
	if p.rest == "" {
		return v, p.wrong(`want a value, such as 123, true, null or "a text"`)
	}
	if p.rest[0] == '"' || p.rest[0] == '\'' {
		v.text, err = p.quoted()
		p.skip(0)
		return v, err
	}
	end := strings.IndexFunc(p.rest, endsWord)
	if end < 0 {
		end = len(p.rest)
	}
	if end == 0 {
		return v, p.wrong("want a value; a text with such characters stands in quotes")
	}
	v = bare(p.rest[:end])
	if v.kind == isNumber && abs(v.number.power) > largestPower {
		return v, p.wrong("want a number with a smaller exponent")
	}
	p.skip(end)
	return v, nil
}

// largestPower bounds the exponents that can be looked for.
const largestPower = 1_000_000

func abs(n int64) int64 { return max(n, -n) }

// bare is a value without quotes.
func bare(text string) value {
	if n, ok := parseDecimal(text); ok {
		return value{isNumber, text, n}
	}
	if slices.Contains(words, text) {
		return value{kind: isWord, text: text}
	}
	return value{text: text}
}

// quoted reads a text in quotes: with the escapes of JSON in double ones, as it
// stands in single ones.
func (p *parser) quoted() (text string, err error) {
	quote := p.rest[0]
	if quote == '\'' {
		end := strings.IndexByte(p.rest[1:], quote)
		if end < 0 {
			return "", p.wrong("want ' at the end of the text")
		}
		text, p.rest = p.rest[1:end+1], p.rest[end+2:]
		return text, nil
	}
	for end := 1; end < len(p.rest); end++ {
		switch p.rest[end] {
		case '\\':
			end++
		case quote:
			if json.Unmarshal([]byte(p.rest[:end+1]), &text) != nil {
				return "", p.wrong("want a text as JSON has it")
			}
			p.rest = p.rest[end+1:]
			return text, nil
		}
	}
	return "", p.wrong(`want " at the end of the text`)
}
