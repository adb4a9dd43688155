package page

// AcceptRequest is the question whether a refused request is to be taken.
type AcceptRequest struct {
	Source SourceHead
	// Path is the request's.
	Path string
	// Heading tells that the question is a page of its own.
	Heading bool
	// Doubt is why the present secrets do not prove it; "" where they do.
	Doubt string
	// Chosen is the reason that was entered before.
	Chosen string
	Errors Errors
}
