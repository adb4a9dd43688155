package endpoint

import (
	"errors"
	"strings"

	"github.com/rowlock/rowlock/internal/gateway"
	"github.com/rowlock/rowlock/internal/rule"
)

// applyFilter keeps a filter that compiles, without the space around it.
func (in Input) applyFilter(e *gateway.Endpoint) error {
	if in.Filter == nil {
		return nil
	}
	filter := strings.TrimSpace(*in.Filter)
	if filter == "" {
		e.Filter = ""
		return nil
	}
	err := rule.CheckFilter(filter)
	if wrong, ok := errors.AsType[*rule.SyntaxError](err); ok {
		return gateway.Invalid("filter", "%s", wrong)
	}
	if err != nil {
		return err
	}
	e.Filter = filter
	return nil
}
