package notify

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/notify/message"
)

// Reporter makes the file of a report: CodeValidationFailed or CodeNotFound when it
// never can.
type Reporter func(ctx context.Context, workspaceID int64, l rimewatch.Locale, r *message.Report) (*message.File, error)

// reportWithin bounds the making of a report: it may wait for others.
const reportWithin = 30 * time.Minute

// reports plans the scheduled reports that are due. Whether one was planned is kept
// with its schedule; the keys of its deliveries see to it that a crash in between
// sends none of them twice.
func (s *Service) reports(ctx context.Context, now rimewatch.Time) error {
	list, err := s.store.Everywhere().AllReportSchedules(ctx)
	if err != nil {
		return err
	}
	for i := range list {
		// One that cannot be planned is tried again and holds nobody else up.
		if err := s.planReport(ctx, &list[i], now); err != nil && rimewatch.CodeOf(err) != rimewatch.CodeNotFound {
			s.log.Error("scheduled report", "workspace", list[i].WorkspaceID, "schedule", list[i].ID, "err", err)
		}
	}
	return nil
}

func (s *Service) planReport(ctx context.Context, x *rimewatch.ReportSchedule, now rimewatch.Time) error {
	w, r, err := s.reportOf(ctx, x, now, x.Period.Last)
	switch {
	case err != nil:
		return err
	case r.To > x.Through:
		key := fmt.Sprintf("report/%d/%s/%s", x.ID, x.Period, r.From)
		if _, err := s.putReport(ctx, x, &w, r, key, now); err != nil {
			return err
		}
	case x.Through <= now:
		return nil
	default: // the clock was wrong and is not any more
	}
	return s.store.Routing().ReportsThrough(ctx, x.WorkspaceID, x.ID, r.To)
}

// reportOf returns the report of a schedule about the last period, as last has it.
func (s *Service) reportOf(ctx context.Context, x *rimewatch.ReportSchedule, now rimewatch.Time, last func(rimewatch.Time, *time.Location) (from, to rimewatch.Time)) (w rimewatch.Workspace, r *message.Report, err error) {
	if w, err = s.store.Workspace(ctx, x.WorkspaceID); err != nil {
		return w, nil, err
	}
	r = &message.Report{Period: x.Period, TimeZone: w.TimeZone}
	if x.SiteID != 0 {
		site, err := s.store.Sites().Get(ctx, x.WorkspaceID, x.SiteID)
		if err != nil {
			return w, nil, err
		}
		r.SiteID, r.Site, r.TimeZone = site.ID, site.Name, site.TimeZone
	}
	r.From, r.To = last(now, r.Zone())
	return w, r, nil
}

// putReport stores the deliveries of a report to the channels of a schedule that are
// switched on, and hands them over.
func (s *Service) putReport(ctx context.Context, x *rimewatch.ReportSchedule, w *rimewatch.Workspace, r *message.Report, key string, now rimewatch.Time) (list []rimewatch.Delivery, err error) {
	for _, id := range x.ChannelIDs {
		c, err := s.store.Routing().Channels().Get(ctx, x.WorkspaceID, id)
		if err != nil {
			return list, err
		}
		if !c.Enabled {
			continue
		}
		d := &rimewatch.Delivery{
			WorkspaceID: x.WorkspaceID, ChannelID: id, Kind: rimewatch.DeliveryReport, Key: fmt.Sprintf("%s/%d", key, id),
			Status: rimewatch.DeliveryPending, NextAttemptAt: now, CreatedAt: now,
		}
		d.Body, err = s.context(w, c.Locale, d.Key, r.Zone(), now).Report(r).Encode()
		if err := s.put(d, err); err != nil {
			return list, err
		}
		list = append(list, *d)
	}
	return list, nil
}

// SendReport sends the report about the last period that is over, whether or not it was sent, and
// returns the deliveries, without waiting for them: CodeConflict when it cannot be
// sent, CodeNotFound when there is no such schedule.
func (s *Service) SendReport(ctx context.Context, workspaceID, id int64) ([]rimewatch.Delivery, error) {
	x, err := s.store.Routing().ReportSchedules().Get(ctx, workspaceID, id)
	if err != nil {
		return nil, err
	}
	if s.cfg.Senders[rimewatch.ChannelEmail] == nil {
		return nil, rimewatch.Errorf(rimewatch.CodeConflict, "Reports cannot be sent: %s.", rimewatch.Sentencef(s.Missing(rimewatch.ChannelEmail)))
	}
	now := s.now()
	w, r, err := s.reportOf(ctx, &x, now, x.Period.Over)
	if err != nil {
		return nil, err
	}
	list, err := s.putReport(ctx, &x, &w, r, fmt.Sprintf("report/%d/now/%s", x.ID, rand.Text()), now)
	if err == nil && len(list) == 0 {
		err = rimewatch.Errorf(rimewatch.CodeConflict, "None of its channels is switched on.")
	}
	return list, err
}

// unmade reports whether the file of an item is still to be made.
func (it *item) unmade() bool { return it.Kind == rimewatch.DeliveryReport && it.file == nil }

// prepare makes the file of an item, which then waits for its turn to be sent: what
// takes minutes must not keep alerts from the channel's few places.
func (l *lane) prepare(it *item) {
	s := l.s
	ctx, cancel := context.WithTimeout(s.ctx, reportWithin)
	defer cancel()
	file, err := s.makeFile(ctx, it.Delivery)
	if err != nil && s.ctx.Err() == nil {
		it.Attempts++
		it.attempted(s.now(), "", lasting(err), false, false)
		if err := s.store.Outbox().UpdateDeliveries(context.WithoutCancel(ctx), stored([]*item{it}), nil); err != nil {
			s.log.Error("delivery", "key", it.Key, "err", err)
		}
		s.tried(true)
		s.count(it)
		s.log.Warn("report cannot be made", "key", it.Key, "err", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	it.file = file
	if it.Status == rimewatch.DeliveryPending && s.ctx.Err() == nil {
		l.wait(it)
	} else {
		l.forget(it.Delivery)
	}
	l.signal()
}

func (s *Service) makeFile(ctx context.Context, d *rimewatch.Delivery) (*message.File, error) {
	m, err := s.messageOf(ctx, d)
	if err != nil {
		return nil, err
	}
	if s.cfg.Report == nil || m.Data.Report == nil {
		return nil, rimewatch.Errorf(rimewatch.CodeNotFound, "This server makes no reports.")
	}
	return s.cfg.Report(ctx, d.WorkspaceID, m.Data.Locale, m.Data.Report)
}

// lasting is an error of a report as that of an attempt: what may pass is
// CodeUnavailable.
func lasting(err error) error {
	switch rimewatch.CodeOf(err) {
	case rimewatch.CodeValidationFailed, rimewatch.CodeNotFound:
		return err
	default:
		return rimewatch.Wrap(rimewatch.CodeUnavailable, err, "The report could not be made.")
	}
}
