package dashboard

// docsTexts are the parts of the documentation that the product writes itself.
func docsTexts() map[string]string { return nil }
