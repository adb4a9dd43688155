{{/* The release's name, as all objects begin with it. */}}
{{- define "rowlock.name" -}}
{{- if contains "rowlock" .Release.Name }}{{ .Release.Name | trunc 40 | trimSuffix "-" }}{{ else }}{{ printf "%s-rowlock" .Release.Name | trunc 40 | trimSuffix "-" }}{{ end }}
{{- end }}

{{/* Labels by which all objects of a release are found. */}}
{{- define "rowlock.selector" -}}
app.kubernetes.io/name: rowlock
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "rowlock.labels" -}}
{{ include "rowlock.selector" . }}
app.kubernetes.io/version: {{ .Values.image.tag | default .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "rowlock.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{/* The fleet that has a role that is served; exactly one has to. Takes the root and the role. */}}
{{- define "rowlock.fleetOf" -}}
{{- $role := .role }}
{{- $found := list }}
{{- range $name, $fleet := .root.Values.fleets }}
{{- if and $fleet (has $role $fleet.roles) }}{{ $found = append $found $name }}{{ end }}
{{- end }}
{{- if ne (len $found) 1 }}{{ fail (printf "fleets: the role %s belongs to one fleet, and %d have it" $role (len $found)) }}{{ end }}
{{- first $found }}
{{- end }}

{{/* Fails where fleets leave a role out. */}}
{{- define "rowlock.checkFleets" -}}
{{- range $role := list "web" "api" "ingest" }}{{ $_ := include "rowlock.fleetOf" (dict "root" $ "role" $role) }}{{ end }}
{{- $workers := false }}
{{- range $name, $fleet := .Values.fleets }}{{ if and $fleet (has "worker" $fleet.roles) }}{{ $workers = true }}{{ end }}{{ end }}
{{- if not $workers }}{{ fail "fleets: none has the role worker, so that nothing would be delivered" }}{{ end }}
{{- end }}

{{/* What every process is told. Takes the root and a fleet's settings. */}}
{{- define "rowlock.env" -}}
{{- $root := .root }}
{{- range $key := list "ROWLOCK_DATABASE_URL" "ROWLOCK_MASTER_KEY" }}
- name: {{ $key }}
  valueFrom:
    secretKeyRef:
      name: {{ $root.Values.existingSecret }}
      key: {{ $key }}
{{- end }}
{{- range $key := list "ROWLOCK_POOLER_URL" "ROWLOCK_MASTER_KEY_PREVIOUS" "ROWLOCK_SMTP_URL" "OTEL_EXPORTER_OTLP_ENDPOINT" }}
- name: {{ $key }}
  valueFrom:
    secretKeyRef:
      name: {{ $root.Values.existingSecret }}
      key: {{ $key }}
      optional: true
{{- end }}
- name: ROWLOCK_BASE_URL
  value: {{ $root.Values.baseURL | quote }}
- name: ROWLOCK_LISTEN
  value: ":8080"
{{- if $root.Values.metrics.enabled }}
# Of all of the pod's addresses, since Prometheus comes from another pod.
- name: ROWLOCK_METRICS_LISTEN
  value: ":9090"
{{- end }}
- name: ROWLOCK_AUTO_MIGRATE
  value: {{ not $root.Values.migrations.job | quote }}
{{- /* One after the other: merge would take a fleet's 0 or false for nothing. */}}
{{- $settings := dict }}
{{- range $given := list $root.Values.settings (.settings | default dict) }}
{{- range $name, $value := $given }}{{ $_ := set $settings $name $value }}{{ end }}
{{- end }}
{{- range $name, $value := $settings }}
- name: {{ $name }}
  value: {{ include "rowlock.text" $value | quote }}
{{- end }}
{{- end }}

{{/* A setting as text. Numbers of a file are floating: a million would be 1e+06. */}}
{{- define "rowlock.text" -}}
{{- if and (kindIs "float64" .) (eq (toString (floor .)) (toString .)) }}{{ printf "%.0f" . }}{{ else }}{{ toString . }}{{ end }}
{{- end }}

{{/* What a container may do: nothing that it need not. */}}
{{- define "rowlock.confined" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{/* What all pods of the chart have. */}}
{{- define "rowlock.pod" -}}
automountServiceAccountToken: false
# Kubernetes would set variables such as ROWLOCK_PORT, after the services' names.
enableServiceLinks: false
{{- with .Values.serviceAccountName }}
serviceAccountName: {{ . }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
{{- range . }}
  - name: {{ . }}
{{- end }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  seccompProfile:
    type: RuntimeDefault
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
