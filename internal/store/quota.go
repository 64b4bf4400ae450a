package store

// Quotas are how many of each a workspace may have, 0 = as many as it likes. Making
// one more is CodeQuotaExceeded. Channels, routes, silences, maintenance windows and
// sources have limits of their own (rimewatch.MaxChannels).
type Quotas struct {
	Devices int
	Sites   int
	Tokens  int // that were not revoked
	Members int // with those who are invited; members by the groups of a provider are not refused

	Attachments int64 // bytes of them together; 0 = rimewatch.AttachmentQuota
}
