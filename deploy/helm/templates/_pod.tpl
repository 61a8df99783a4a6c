{{/* What the pods of all processes have in common. Each takes a dict: root, component. */}}

{{- define "tributary.labels" -}}
app.kubernetes.io/name: tributary
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "tributary.metadata" -}}
name: {{ .root.Release.Name }}-{{ .component }}
namespace: {{ .root.Release.Namespace }}
labels:
  {{- include "tributary.labels" . | nindent 2 }}
  app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
  app.kubernetes.io/managed-by: {{ .root.Release.Service }}
  helm.sh/chart: {{ .root.Chart.Name }}-{{ .root.Chart.Version }}
{{- end }}

{{- define "tributary.podMetadata" -}}
labels:
  {{- include "tributary.labels" . | nindent 2 }}
  {{- with .root.Values.podLabels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with .root.Values.podAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "tributary.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .root.Values.serviceAccountName }}
serviceAccountName: {{ . | quote }}
{{- end }}
{{- with .root.Values.priorityClassName }}
priorityClassName: {{ . | quote }}
{{- end }}
{{- with .root.Values.podSecurityContext }}
securityContext:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with include "tributary.volumes" . | trim }}
volumes:
  {{- . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "tributary.volumes" -}}
{{- with .root.Values.caCertificates }}
{{- if .configMap }}
- name: ca-certificates
  configMap: { name: {{ .configMap | quote }} }
{{- else if .secret }}
- name: ca-certificates
  secret: { secretName: {{ .secret | quote }} }
{{- end }}
{{- end }}
{{- with .root.Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "tributary.volumeMounts" -}}
{{- if or .root.Values.caCertificates.configMap .root.Values.caCertificates.secret }}
- { name: ca-certificates, mountPath: /etc/tributary/ca, readOnly: true }
{{- end }}
{{- with .root.Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Where the pods of a Deployment go, which a Job has no use for. */}}
{{- define "tributary.placement" -}}
{{- with (index .root.Values .component).affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- $labels := include "tributary.labels" . }}
{{- with .root.Values.topologySpread }}
topologySpreadConstraints:
  {{- range . }}
  - topologyKey: {{ .topologyKey | quote }}
    maxSkew: {{ .maxSkew | default 1 }}
    whenUnsatisfiable: {{ .whenUnsatisfiable | default "ScheduleAnyway" }}
    labelSelector:
      matchLabels:
        {{- $labels | nindent 8 }}
  {{- end }}
{{- end }}
{{- end }}

{{/* `secret` is that of existingSecret, unless the dict names another. */}}
{{- define "tributary.container" -}}
image: "{{ .root.Values.image.repository }}:{{ .root.Values.image.tag | default .root.Chart.AppVersion }}"
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
{{- with .root.Values.securityContext }}
securityContext:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with include "tributary.volumeMounts" . | trim }}
volumeMounts:
  {{- . | nindent 2 }}
{{- end }}
envFrom:
  - secretRef: { name: {{ .secret | default .root.Values.existingSecret | quote }} }
  {{- with .root.Values.extraEnvFrom }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}

{{/* The environment of every process, without the keys of one kind. */}}
{{- define "tributary.env" -}}
{{- if or .root.Values.caCertificates.configMap .root.Values.caCertificates.secret }}
- name: NODE_EXTRA_CA_CERTS
  value: /etc/tributary/ca/{{ .root.Values.caCertificates.key }}
{{- end }}
{{- range $name, $value := .root.Values.config }}
- name: {{ $name }}
  {{- /* Helm writes large numbers of a values file as 1e+06 */}}
  value: {{ if kindIs "float64" $value }}{{ if eq $value (floor $value) }}{{ $value | int64 | quote }}{{ else }}{{ $value | quote }}{{ end }}{{ else }}{{ $value | quote }}{{ end }}
{{- end }}
{{- with .root.Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "tributary.probes" -}}
# reading the schema and connecting take a second; Postgres may take longer
startupProbe:
  httpGet: { path: /health/live, port: http }
  periodSeconds: 2
  failureThreshold: 30
livenessProbe:
  httpGet: { path: /health/live, port: http }
  periodSeconds: 10
  timeoutSeconds: 3
  failureThreshold: 6
readinessProbe:
  httpGet: { path: /health/ready, port: http }
  periodSeconds: 5
  timeoutSeconds: 3
{{- end }}

{{/* Longer than a process takes to stop: SHUTDOWN_SECONDS, and before that the time in which it is taken out of load balancers. */}}
{{- define "tributary.graceSeconds" -}}
{{- add 10 (.root.Values.config.SHUTDOWN_SECONDS | default 20) (.drainSeconds | default 0) }}
{{- end }}

{{- define "tributary.disruption" -}}
{{- with .root.Values.podDisruptionBudget }}
{{- if .enabled }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  {{- include "tributary.metadata" $ | nindent 2 }}
spec:
  maxUnavailable: {{ .maxUnavailable }}
  selector:
    matchLabels:
      {{- include "tributary.labels" $ | nindent 6 }}
{{- end }}
{{- end }}
{{- end }}
