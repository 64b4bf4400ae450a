package records

import (
	"context"
	"crypto/rand"
	"net/http"
	"sync"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/report"
)

// Reports made in the background are kept in memory until they are fetched: a
// few of each workspace, for an hour.
const (
	reportJobsKept = 4
	reportJobLife  = rimewatch.Hour
)

// ReportJobData is the data of answers about a report in the making.
type ReportJobData struct {
	Job ReportJob `json:"job"`
}

// ReportJob is a report that is made in the background.
type ReportJob struct {
	ID           string         `json:"id"`
	State        string         `json:"state" enum:"running,ready,failed"`
	Format       string         `json:"format" enum:"json,csv,pdf"`
	DevicesDone  int            `json:"devices_done"`
	DevicesTotal int            `json:"devices_total"`
	Bytes        int            `json:"bytes" doc:"Of the file, once it is ready."`
	Error        string         `json:"error" doc:"Why it failed; empty otherwise."`
	ExpiresAt    rimewatch.Time `json:"expires_at" nullable:"false" doc:"The file can be fetched until then."`
}

// ReportJobInput names a report in the making.
type ReportJobInput struct {
	ID string `path:"id" maxLength:"64"`
}

// reportJobs are the reports that are made in the background, by workspace.
type reportJobs struct {
	mu   sync.Mutex
	jobs map[int64][]*reportJob // oldest first
}

// reportJob is guarded by the mutex of its reportJobs.
type reportJob struct {
	ReportJob
	name string
	text []byte
}

// add takes a job, and drops those that have expired or are too many: the oldest
// that nobody waits for. It reports whether there was room.
func (j *reportJobs) add(workspaceID int64, job *reportJob, now rimewatch.Time) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.jobs == nil {
		j.jobs = make(map[int64][]*reportJob)
	}
	var kept []*reportJob
	for _, old := range j.jobs[workspaceID] {
		if old.State == "running" || old.ExpiresAt > now {
			kept = append(kept, old)
		}
	}
	for i := 0; len(kept) >= reportJobsKept && i < len(kept); {
		if kept[i].State == "running" {
			i++
			continue
		}
		kept = append(kept[:i:i], kept[i+1:]...)
	}
	room := len(kept) < reportJobsKept
	if room {
		kept = append(kept, job)
	}
	j.jobs[workspaceID] = kept
	return room
}

// find returns a copy of a job that has not expired, nil if there is none.
func (j *reportJobs) find(workspaceID int64, id string, now rimewatch.Time) *reportJob {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, job := range j.jobs[workspaceID] {
		if job.ID == id && (job.State == "running" || job.ExpiresAt > now) {
			found := *job
			return &found
		}
	}
	return nil
}

func (j *reportJobs) change(job *reportJob, change func(*reportJob)) {
	j.mu.Lock()
	defer j.mu.Unlock()
	change(job)
}

func (a *reports) startReport(c *httpapi.Call) error {
	q, err := a.reportQuery(c, report.Background)
	if err != nil {
		return err
	}
	job := &reportJob{name: q.report.FileName(), ReportJob: ReportJob{
		ID: rand.Text(), State: "running", Format: q.format, DevicesTotal: len(q.devices), ExpiresAt: c.Now + reportJobLife,
	}}
	if !a.jobs.add(q.workspace, job, c.Now) {
		return rimewatch.Errorf(rimewatch.CodeRateLimited, "%d reports are already being made.", reportJobsKept)
	}
	q.progress = func(done int) { a.jobs.change(job, func(j *reportJob) { j.DevicesDone = done }) }
	a.Background(func(ctx context.Context) { a.runReport(ctx, q, job) })
	return a.answerReport(c, job.ID, http.StatusAccepted)
}

func (a *reports) runReport(ctx context.Context, q *reportQuery, job *reportJob) {
	text, err := a.makeReport(ctx, q)
	a.jobs.change(job, func(j *reportJob) {
		j.ExpiresAt = a.Now() + reportJobLife
		if err != nil {
			j.State, j.Error = "failed", httpapi.InLanguage(httpapi.AsError(err), q.report.Words.Language).Message
			return
		}
		j.State, j.text, j.Bytes, j.DevicesDone = "ready", text.Bytes(), text.Len(), j.DevicesTotal
	})
	if err != nil && ctx.Err() == nil {
		a.Log().Error("make a report", "workspace", q.workspace, "err", err)
	}
}

func (a *reports) reportJob(c *httpapi.Call) error {
	return a.answerReport(c, c.R.PathValue("id"), http.StatusOK)
}

func (a *reports) answerReport(c *httpapi.Call, id string, status int) error {
	job := a.jobs.find(c.Workspace(), id, a.Now())
	if job == nil {
		return errReportGone()
	}
	return c.Data(status, ReportJobData{job.ReportJob})
}

func (a *reports) reportFile(c *httpapi.Call) error {
	job := a.jobs.find(c.Workspace(), c.R.PathValue("id"), a.Now())
	if job == nil || job.State != "ready" {
		return errReportGone()
	}
	return a.sendReport(c, job.Format, job.name, job.text)
}

func errReportGone() *rimewatch.Error {
	return rimewatch.Errorf(rimewatch.CodeNotFound, "There is no such report, or it has expired.")
}

func (a *reports) jobRoutes() []httpapi.Route {
	read := httpapi.Scope(rimewatch.ScopeDevicesRead | rimewatch.ScopeReadingsRead)
	return []httpapi.Route{
		{
			Method: http.MethodPost, Path: "/v1/reports/jobs", ID: "start-report", Tag: "Records", Summary: "Create a temperature log in the background", Access: read,
			Status: http.StatusAccepted, Also: []rimewatch.Code{rimewatch.CodeUnknownDevice},
			Description: "For logs that take too long to wait for: up to 10,000 devices and 200,000 days of all devices together. Ask for its state until it is ready, then fetch its file. A workspace has four at a time; each is kept for an hour.",
			Bind:        httpapi.Raw[TemperatureLogInput, ReportJobData](a.startReport),
		},
		{
			Method: http.MethodGet, Path: "/v1/reports/jobs/{id}", ID: "get-report-job", Tag: "Records", Summary: "Get the state of a report", Access: read,
			Bind: httpapi.Raw[ReportJobInput, ReportJobData](a.reportJob),
		},
		{
			Method: http.MethodGet, Path: "/v1/reports/jobs/{id}/file", ID: "get-report-file", Tag: "Records", Summary: "Fetch a report that is ready", Access: read,
			CSV: true, PDF: true, Bind: httpapi.Raw[ReportJobInput, TemperatureLogData](a.reportFile),
		},
	}
}
