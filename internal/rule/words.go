package rule

import (
	"errors"
	"regexp"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/interpreter"
)

// maxWords is how much of an error's text is told, in characters: CEL repeats
// what it cannot read.
const maxWords = 200

// longestError is how much of an error of CEL is looked at, in bytes: it can
// repeat a value of the event.
const longestError = 4 << 10

const variables = "Variables are body, headers, query, type, subject and source"

// phrases turn CEL's way of saying what is wrong into ours. The first that
// fits is taken.
var phrases = []struct {
	said *regexp.Regexp
	told string
}{
	{regexp.MustCompile(`^mismatched input '<EOF>'.*`), "something is missing at the end"},
	{regexp.MustCompile(`^(?:mismatched|extraneous) input ('.*') expecting .*`), "$1 is not expected here"},
	{regexp.MustCompile(`^no viable alternative at input ('.*')`), "$1 is not expected here"},
	{regexp.MustCompile(`^token recognition error at: '["'].*`), "a text that is not closed: a quote is missing"},
	{regexp.MustCompile(`^token recognition error at: '= ?.*`), "to compare, write =="},
	{regexp.MustCompile(`^token recognition error at: '& ?.*`), "for and, write &&"},
	{regexp.MustCompile(`^token recognition error at: '\| ?.*`), "for or, write ||"},
	{regexp.MustCompile(`^token recognition error at: ('.*')`), "$1 is not known here"},
	{regexp.MustCompile(`^found no matching overload for '(.*)' applied to '(.*)'`), "$1 cannot be applied to $2"},
	{regexp.MustCompile(`^undeclared reference to '([^']*)' \(in container ''\)(.*)`), "undeclared reference to '$1'$2"},
	{regexp.MustCompile(`^expression recursion limit exceeded.*`), "too many things in each other"},
	{regexp.MustCompile(`^(?:no such overload).*`), "values that do not go together, such as a text and a number"},
	{regexp.MustCompile(`^got 'types\.(\w+)', expected iterable type`), "what is looped over is no list or object"},
	{regexp.MustCompile(`^invalid argument to has\(\) macro`), "has() asks for a field, such as has(body.amount)"},
	{regexp.MustCompile(`^invalid qualifier type.*|^unsupported index type.*`), "a list or an object cannot name a field"},
	{regexp.MustCompile(`^parsing time .*|^invalid RFC 3339 timestamp.*`), "a text that is no time, such as 2026-07-01T12:00:00Z"},
}

// operatorNames are how operators stand in CEL's errors, and in an expression.
var operatorNames = strings.NewReplacer(
	"_?_:_", "? :", "@in", "in", "_in_", "in", "_&&_", "&&", "_||_", "||", "!_", "!", "-_", "-",
	"_==_", "==", "_!=_", "!=", "_<_", "<", "_<=_", "<=", "_>_", ">", "_>=_", ">=",
	"_+_", "+", "_-_", "-", "_*_", "*", "_/_", "/", "_%_", "%", "_[_]", "[ ]",
)

func inWords(message string) string {
	message = message[:min(len(message), longestError)]
	message = strings.TrimPrefix(message, "Syntax error: ")
	for _, p := range phrases {
		if p.said.MatchString(message) {
			message = p.said.ReplaceAllString(message, p.told)
			break
		}
	}
	return shortened(operatorNames.Replace(strings.ToValidUTF8(message, "\uFFFD")))
}

func shortened(text string) string {
	if runes := []rune(text); len(runes) > maxWords {
		return string(runes[:maxWords]) + "…"
	}
	return text
}

// syntaxError is an error of CEL with its place in the text.
func syntaxError(text string, e *cel.Error) error {
	line, column := e.Location.Line(), e.Location.Column()
	message := inWords(e.Message)
	if name, undeclared := strings.CutPrefix(message, "undeclared reference to "); undeclared {
		if calls(text, line, column) {
			message = "there is no function " + name
		} else {
			message += ". " + variables
		}
	}
	if line < 1 {
		return &SyntaxError{Message: message}
	}
	return &SyntaxError{Line: line, Column: max(column, 0) + 1, Message: message}
}

// calls tells that a place in the text is the bracket of a call.
func calls(text string, line, column int) bool {
	lines := strings.Split(text, "\n")
	if line < 1 || line > len(lines) {
		return false
	}
	runes := []rune(lines[line-1])
	return column >= 0 && column < len(runes) && runes[column] == '('
}

// reasonOf says why an evaluation came to nothing.
func reasonOf(err error) string {
	if ended, ok := errors.AsType[interpreter.EvalCancelledError](err); ok && exceeded(ended.Cause) {
		return "it takes too many steps for an event like this"
	}
	return inWords(err.Error())
}
