package httpapi

func (a *API) docsPage(c *call) error { return errNoSuchPath() }
func (a *API) docsFile(c *call) error { return errNoSuchPath() }
