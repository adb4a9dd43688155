package resource

import (
	"encoding/json"

	"github.com/rowlock/rowlock/internal/server/api/strictjson"
	"github.com/rowlock/rowlock/internal/source"
)

// SourceBody describes what can be changed of a source.
type SourceBody struct {
	Name     strictjson.Field[string] `json:"name,omitzero" nullable:"false" minLength:"1" maxLength:"200" example:"Repository hooks"`
	UID      strictjson.Field[string] `json:"uid,omitzero" nullable:"true" pattern:"^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$" example:"repository-hooks" doc:"Your own name for it; null takes it away."`
	Settings json.RawMessage          `json:"settings,omitempty" doc:"The kind's own settings, an object; they replace those before."`
}

// Input is what the use case takes.
func (b SourceBody) Input() source.Input {
	return source.Input{Name: given(b.Name, ""), UID: given(b.UID, ""), Settings: b.Settings}
}
