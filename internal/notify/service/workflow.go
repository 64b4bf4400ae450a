package service

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/notify/message"
)

// workflows posts to a channel of Microsoft Teams by a workflow that "receives a
// webhook request", as it took the place of Office 365 connectors. The URL is
// that of the workflow with teams:// for https://. See
// https://learn.microsoft.com/connectors/teams/#microsoft-teams-webhook.
var workflows = own{check: checkWorkflow, request: card}

func checkWorkflow(u *url.URL) error {
	if u.Hostname() == "" || !strings.Contains(u.Path, "/workflows/") || u.Query().Get("sig") == "" {
		return rimewatch.Invalid("url", "must be the URL of a Teams workflow: https://…/workflows/…&sig=…, with teams:// in place of https://")
	}
	return nil
}

// element is a part of an adaptive card (https://adaptivecards.io/explorer).
type element map[string]any

// line is text that is shown as it is: a TextBlock would read names of devices as
// Markdown.
func line(text string, more element) element {
	run := element{"type": "TextRun", "text": text}
	for k, v := range more {
		run[k] = v
	}
	return element{"type": "RichTextBlock", "inlines": []element{run}}
}

func card(ctx context.Context, u *url.URL, m *message.Message) (*http.Request, error) {
	d := &m.Safe(true).Data
	title := element{"weight": "Bolder", "size": "Medium"}
	if d.Urgent {
		title["color"] = "Attention"
	}
	body := []element{line(d.Headline(), title)}
	if d.Text != "" {
		body = append(body, line(d.Text, nil))
	}
	for _, f := range d.Facts {
		body = append(body, line(f.Label+": "+f.Value, element{"isSubtle": true}))
	}
	for _, l := range d.Alerts[:min(len(d.Alerts), maxCardLines)] {
		body = append(body, line("• "+l.Text, nil))
	}
	content := element{"$schema": "http://adaptivecards.io/schemas/adaptive-card.json", "type": "AdaptiveCard", "version": "1.4", "body": body}
	if d.Link != "" {
		content["actions"] = []element{{"type": "Action.OpenUrl", "title": "Rimewatch", "url": d.Link}}
	}
	posted, err := json.Marshal(element{"type": "message", "attachments": []element{{"contentType": "application/vnd.microsoft.card.adaptive", "content": content}}})
	if err != nil {
		return nil, err
	}
	to := *u
	to.Scheme = "https"
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to.String(), bytes.NewReader(posted))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	return r, nil
}

// maxCardLines bounds the alerts on a card: Teams refuses cards over 28 KB, and
// the link leads to all of them.
const maxCardLines = 20
