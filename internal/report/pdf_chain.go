package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// place is one site's part of a log of several. Devices without a site are one, too, the last.
type place struct {
	name, address string
	devices       []*Device
}

// places are the sites of the devices, by name.
func (r *Report) places() []place {
	of := make(map[int64]*place)
	for i := range r.Devices {
		d := &r.Devices[i]
		s := of[d.SiteID]
		if s == nil {
			s = &place{name: d.SiteName, address: strings.Join(strings.Fields(d.SiteAddress), " ")}
			of[d.SiteID] = s
		}
		s.devices = append(s.devices, d)
	}
	list := make([]place, 0, len(of))
	for _, s := range of {
		list = append(list, *s)
	}
	slices.SortFunc(list, func(a, b place) int {
		x, y := a.devices[0], b.devices[0]
		return cmp.Or(cmp.Compare(min(y.SiteID, 1), min(x.SiteID, 1)), strings.Compare(strings.ToLower(a.name), strings.ToLower(b.name)), cmp.Compare(x.SiteID, y.SiteID))
	})
	if last := len(list) - 1; last >= 0 && list[last].devices[0].SiteID == 0 {
		list[last].name = r.say("No site")
	}
	return list
}

// chain is a log of several sites: a page about all of them, a page about each, and the days
// of the devices with which something happened.
func (p *page) chain(list []place) {
	r := p.r
	p.opening(r.Workspace, "")
	sites := len(list)
	if list[sites-1].devices[0].SiteID == 0 {
		sites--
	}
	p.factGrid(append([]fact{{r.say("Sites"), fmt.Sprint(sites), false}}, r.facts(pointers(r.Devices))...))
	p.heading(r.say("Sites"), 20)
	p.tableOf(r.placeColumns(), r.placeRows(list), 8.5, 6)
	p.notes()
	p.signature()
	for i := range list {
		p.place(&list[i])
	}
}

func pointers(devices []Device) []*Device {
	list := make([]*Device, len(devices))
	for i := range devices {
		list[i] = &devices[i]
	}
	return list
}

func (r *Report) placeColumns() []column {
	return []column{
		{r.say("Site"), 62, "L"}, {r.say("Devices"), 15, "R"}, {r.say("Excursions"), 19, "R"}, {r.say("Not documented"), 22, "R"},
		{r.say("Out of range"), 22, "R"}, {r.say("Coverage"), 18, "R"}, {r.say("Calibrations overdue"), 20, "R"},
	}
}

func (r *Report) placeRows(list []place) []tableRow {
	rows := make([]tableRow, len(list))
	for i := range list {
		c := r.countOf(list[i].devices)
		out := dash
		if c.judged > 0 {
			out = span(c.outS)
		}
		rows[i] = tableRow{
			cells: []string{list[i].name, fmt.Sprint(len(list[i].devices)), fmt.Sprint(c.excursions), fmt.Sprint(c.open), out, r.percent(c.coverage), fmt.Sprint(c.overdue)},
			red:   []bool{false, false, c.excursions > 0, c.open > 0, false, c.coverage < poorCoverage, c.overdue > 0},
			small: list[i].address,
		}
	}
	return rows
}

// place is one site's page, and those of its devices with which something happened.
func (p *page) place(s *place) {
	r := p.r
	p.header = s.name
	p.next()
	p.Bookmark(p.clean(s.name), 0, 0)
	p.pen(17, true, ink)
	p.title(s.name, width, 8, 2)
	p.pen(9.5, false, muted)
	if s.address != "" {
		p.paragraph(left, width, 5, s.address)
	}
	p.y += 2
	p.factGrid(r.facts(s.devices)[1:5]) // the period stands above, the trail is that of all
	p.heading(r.say("Devices"), 20)
	p.tableOf(r.summaryColumns(), r.summaryRows(s.devices), 8.5, 6)
	eventful := slices.DeleteFunc(slices.Clone(s.devices), func(d *Device) bool { return !d.eventful() })
	p.pen(8, false, muted)
	switch {
	case len(eventful) == 0:
		p.paragraph(left, width, 4.1, r.say("There was no excursion. The days of each device are in this site’s own log."))
	case len(eventful) < len(s.devices):
		p.paragraph(left, width, 4.1, r.say("The pages that follow are of the devices with an excursion or a record. The days of the others are in this site’s own log."))
	}
	if len(s.devices) > 0 {
		p.rounds(s.devices[0].SiteID)
	}
	for _, d := range eventful {
		p.device(d, 1)
	}
}

// eventful reports whether there is more to say of a device than its line.
func (d *Device) eventful() bool {
	return len(d.Excursions) > 0 || len(d.Actions) > 0 || d.Implausible > 0 || d.ClockOffset != 0
}

// count are the sums of devices.
type count struct {
	excursions, open    int // open: without a corrective action
	overdue, calibrated int
	judged              int     // devices with limits and readings
	outS                int64   // s out of range of those together
	coverage            float64 // percent, the mean of all devices
}

func (r *Report) countOf(devices []*Device) (c count) {
	for _, d := range devices {
		for k := range d.Excursions {
			c.excursions++
			if len(d.Excursions[k].Actions) == 0 {
				c.open++
			}
		}
		if d.Overdue(r.GeneratedAt) {
			c.overdue++
		}
		if len(d.Calibrations) > 0 {
			c.calibrated++
		}
		if d.judged() && d.Readings > 0 {
			c.judged++
			c.outS += d.OutOfRangeS
		}
		c.coverage += d.Coverage / float64(len(devices))
	}
	return c
}
