module github.com/rimewatch/rimewatch/tools/dashboard

go 1.26.0

require github.com/grafana/grafana-foundation-sdk/go v0.0.0-20240326122733-6f96a993222b
