package inlets

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/rimewatch/rimewatch"
	"github.com/rimewatch/rimewatch/internal/httpapi"
	"github.com/rimewatch/rimewatch/internal/source"
	"github.com/rimewatch/rimewatch/internal/wire"
)

// BindFileInput is a list that says which sender is which device.
type BindFileInput struct {
	SourceInput
	DryRun string `query:"dry_run" enum:"true,false" doc:"true only checks the list."`
}

// BindFileResult is the answer to a list.
type BindFileResult struct {
	Rows int `json:"rows" doc:"Senders in the list."`
	OutcomeData
}

// bindFile accepts the senders of a list. A list with a mistake changes nothing.
func (a *api) bindFile(c *httpapi.Call) error {
	id, err := a.sourceID(c.R.Context(), &SourceInput{c.R.PathValue("id")})
	if err != nil {
		return err
	}
	body, _, _ := c.Body()
	list, err := senderList(body)
	if err != nil {
		return err
	}
	out := BindFileResult{Rows: len(list), OutcomeData: OutcomeData{source.Outcome{Problems: []string{}}}}
	if c.Query.Get("dry_run") == "true" {
		err = a.sources.CheckBound(c.R.Context(), c.Workspace(), id, list)
	} else {
		out.Outcome, err = a.sources.Bind(c.R.Context(), c.Workspace(), id, list)
	}
	if err != nil {
		return err
	}
	out.Outcome = out.In(c.Words().Say)
	return c.Data(http.StatusOK, out)
}

// listColumns are what a list may hold; the first is needed.
func listColumns() []string {
	return []string{"external_id", "device_serial", "name", "equipment_type", "site_id"}
}

// senderList reads a list: CSV with a header.
func senderList(file []byte) ([]source.Bound, error) {
	r, e := wire.NewSheet(file)
	if e != nil {
		return nil, e
	}
	columns := listColumns()
	header, err := r.Read()
	if err != nil {
		return nil, rimewatch.Invalid("header", "is required: %s", strings.Join(columns, ","))
	}
	at := make(map[string]int)
	for i, name := range header {
		name = wire.ColumnName(name)
		if _, twice := at[name]; twice || !slices.Contains(columns, name) {
			return nil, rimewatch.Invalid("header", "has the column %q twice or it is not one of %s", wire.Shown([]byte(name)), strings.Join(columns, ", "))
		}
		at[name] = i
	}
	if _, ok := at[columns[0]]; !ok {
		return nil, rimewatch.Invalid("header", "lacks %s", columns[0])
	}
	var list []source.Bound
	for {
		row, err := r.Read()
		switch {
		case errors.Is(err, io.EOF) && len(list) == 0:
			return nil, rimewatch.Invalid("rows", "are required")
		case errors.Is(err, io.EOF):
			return list, nil
		case err != nil:
			return nil, rimewatch.Invalid(fmt.Sprintf("row %d", len(list)+1), "cannot be read: %v", err)
		case len(list) == rimewatch.MaxBindings:
			return nil, rimewatch.Invalid("rows", "must be at most %d", rimewatch.MaxBindings)
		}
		cell := func(name string) string {
			if i, ok := at[name]; ok {
				return strings.TrimSpace(row[i])
			}
			return ""
		}
		x := source.Bound{ExternalID: cell("external_id"), Serial: cell("device_serial"), Name: cell("name"), EquipmentType: cell("equipment_type")}
		if site := cell("site_id"); site != "" {
			if x.SiteID, err = strconv.ParseInt(site, 10, 64); err != nil || x.SiteID < 1 {
				return nil, rimewatch.Invalid(fmt.Sprintf("row %d", len(list)+1), "site_id must be the number of a site")
			}
		}
		if x.ExternalID == "" {
			return nil, rimewatch.Invalid(fmt.Sprintf("row %d", len(list)+1), "external_id is required")
		}
		list = append(list, x)
	}
}
