// Package submit is the part of the REST API that takes readings in: POST
// /v1/readings and its batch. They go past the router and huma, and plain single
// ones, over package shortpath, past net/http too; Readings does the checks itself,
// in the order of the contract. The rate of single readings is limited per device,
// so it is checked once the device is known.
package submit
