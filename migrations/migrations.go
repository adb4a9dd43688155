// Package migrations holds the schema's history: one file a step, applied in
// order by internal/migrate and never edited once released.
package migrations

import "embed"

// FS holds every migration, named NNNN_verb_noun.sql.
//
//go:embed *.sql
var FS embed.FS
