package ingest

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/rowlock/rowlock/internal/accept"
)

// receipt is the answer to an event that is stored.
type receipt struct {
	ID        string `json:"id"`
	Duplicate bool   `json:"duplicate"`
}

// batchReceipt is the answer to a request of a kind that can bring several.
type batchReceipt struct {
	IDs        []string `json:"ids"`
	Duplicates int      `json:"duplicates"`
}

const (
	// headerEvent and headerDuplicate tell what our receipt tells, also where the
	// provider reads an answer of its own.
	headerEvent     = "Rowlock-Event-Id"
	headerDuplicate = "Rowlock-Duplicate"
	// maxNamed bounds how many ids the header lists.
	maxNamed = 20
)

// answer tells what became of a request: with our receipt, or in the form that
// the provider wants.
func answer(c echo.Context, got accept.Receipt) error {
	ids, duplicates := tell(got.Events)
	header := c.Response().Header()
	if len(ids) > 0 {
		header.Set(headerEvent, strings.Join(ids[:min(len(ids), maxNamed)], " "))
		header.Set(headerDuplicate, strconv.Itoa(duplicates))
	}
	switch wanted := got.Answer; {
	case wanted != nil:
		for name, value := range wanted.Header {
			header.Set(name, value)
		}
		if wanted.ContentType == "" {
			return c.NoContent(wanted.Status)
		}
		return c.Blob(wanted.Status, wanted.ContentType, []byte(wanted.Body))
	case got.Batch:
		return c.JSON(http.StatusOK, batchReceipt{ids, duplicates})
	default:
		return c.JSON(http.StatusOK, receipt{ids[0], duplicates > 0})
	}
}

func tell(events []accept.Received) (ids []string, duplicates int) {
	ids = make([]string, len(events))
	for i, event := range events {
		ids[i] = event.ID.String()
		if event.Duplicate {
			duplicates++
		}
	}
	return ids, duplicates
}
