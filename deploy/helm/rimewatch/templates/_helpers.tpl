{{- define "rimewatch.name" -}}
{{- if contains "rimewatch" .Release.Name }}{{ .Release.Name }}{{ else }}{{ printf "%s-rimewatch" .Release.Name }}{{ end -}}
{{- end -}}

{{- define "rimewatch.selector" -}}
app.kubernetes.io/name: rimewatch
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "rimewatch.labels" -}}
{{ include "rimewatch.selector" . }}
app.kubernetes.io/version: {{ .Values.image.tag | default .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "rimewatch.secret" -}}
{{ .Values.cluster.existingSecret | default (printf "%s-cluster" (include "rimewatch.name" .)) }}
{{- end -}}

{{- define "rimewatch.database" -}}
{{- if .Values.cloudnativepg.enabled -}}
{{ printf "%s-db-app" (include "rimewatch.name" .) }}
{{- else -}}
{{ required "database.existingSecret: a Secret with the connection string, or cloudnativepg.enabled" .Values.database.existingSecret }}
{{- end -}}
{{- end -}}
