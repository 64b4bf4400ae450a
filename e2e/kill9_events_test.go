package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/client"
)

// happened is an event as the feed has it.
type happened struct {
	ID, Type, Subject string
}

// feed reads all events of a server, page by page.
func (k *killer) feed(ctx context.Context) (list []happened, err error) {
	for cursor := ""; ; {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, k.url+"/api/v1/events?per_page=500&after="+cursor, http.NoBody)
		if err != nil {
			return nil, err
		}
		r.Header.Set("Authorization", "Bearer "+k.token)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			return nil, err
		}
		var a struct {
			Data struct {
				Events     []happened
				NextCursor string `json:"next_cursor"`
				HasMore    bool   `json:"has_more"`
			}
		}
		err = json.NewDecoder(resp.Body).Decode(&a)
		_ = resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusOK {
			return nil, fmt.Errorf("events: %d, %w", resp.StatusCode, err)
		}
		list = append(list, a.Data.Events...)
		if cursor = a.Data.NextCursor; !a.Data.HasMore {
			return list, nil
		}
	}
}

// verifyEvents looks for events that were lost, that came twice, or that are others than
// before a kill: each alert has opened in one, and what was read once is read again.
func (k *killer) verifyEvents(c *client.Client) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var opened []string
	for a, err := range c.Alerts(ctx, client.AlertFilter{Status: client.AllAlerts}) {
		if err != nil {
			return err
		}
		opened = append(opened, rimewatch.EventSubject("alert", a.ID))
	}
	list, err := k.feed(ctx)
	if err != nil {
		return err
	}
	openings := make(map[string]int)
	last := int64(0)
	for i, e := range list {
		_, n, ok := rimewatch.ParseEventID(e.ID)
		if !ok || last != 0 && n != last+1 {
			return fmt.Errorf("event %s comes after number %d", e.ID, last)
		}
		last = n
		if i < len(k.events) && k.events[i] != e {
			return fmt.Errorf("event %+v was %+v before", e, k.events[i])
		}
		if e.Type == string(rimewatch.EventAlertOpened) {
			openings[e.Subject]++
		}
	}
	if len(list) < len(k.events) {
		return fmt.Errorf("%d events of %d are left", len(list), len(k.events))
	}
	k.events = list
	for _, subject := range opened {
		if openings[subject] != 1 {
			return fmt.Errorf("%s has opened in %d events", subject, openings[subject])
		}
	}
	return nil
}
