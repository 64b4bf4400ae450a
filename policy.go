package rimewatch

// Policy is a document for the public, such as the privacy policy.
type Policy struct {
	Slug        string
	Title       string
	Version     string
	EffectiveAt Time
	UpdatedAt   Time
	Content     string // Markdown
}
