{{- define "trainspotter.name" -}}
{{- default "trainspotter" .Values.nameOverride | trunc 48 | trimSuffix "-" -}}
{{- end -}}

{{/* Names of objects begin with it: the release's, unless that is the chart's or names it already. */}}
{{- define "trainspotter.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 48 | trimSuffix "-" -}}
{{- else if contains (include "trainspotter.name" .) .Release.Name -}}
{{- .Release.Name | trunc 48 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "trainspotter.name" .) | trunc 48 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "trainspotter.labels" -}}
app.kubernetes.io/name: {{ include "trainspotter.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{/* (dict "root" $ "component" "agent") */}}
{{- define "trainspotter.selector" -}}
app.kubernetes.io/name: {{ include "trainspotter.name" .root }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "trainspotter.tag" -}}
{{- default .Chart.AppVersion .Values.image.tag -}}
{{- end -}}

{{- define "trainspotter.server" -}}
{{- if .Values.agent.server -}}
{{- .Values.agent.server -}}
{{- else if .Values.daemon.enabled -}}
http://{{ include "trainspotter.fullname" . }}-daemon.{{ .Release.Namespace }}.svc:{{ .Values.daemon.service.port }}
{{- else -}}
{{- fail "agent.server: where does the daemon listen? Or daemon.enabled=true" -}}
{{- end -}}
{{- end -}}

{{/* agent.yaml: what the values say, and over it what only the chart knows. */}}
{{- define "trainspotter.agentConfig" -}}
{{- $config := deepCopy .Values.agent.config -}}
{{- $_ := set $config "server" (include "trainspotter.server" .) -}}
{{- $_ := set $config "state_dir" "/var/lib/trainspotter-agent" -}}
{{- if .Values.agent.tokenSecret.name -}}
{{- $_ := set $config "token_file" (printf "/etc/trainspotter-token/%s" .Values.agent.tokenSecret.key) -}}
{{- end -}}
{{- if .Values.agent.watch -}}
{{- $_ := set $config "watch" .Values.agent.watch -}}
{{- end -}}
{{- if .Values.agent.kinetoSocketFolder -}}
{{- $kineto := default (dict) (get $config "kineto") -}}
{{- $_ := set $kineto "socket_dirs" (list .Values.agent.kinetoSocketFolder) -}}
{{- $_ := set $config "kineto" $kineto -}}
{{- end -}}
{{- toYaml $config -}}
{{- end -}}

{{- define "trainspotter.daemonConfig" -}}
{{- $config := deepCopy .Values.daemon.config -}}
{{- $_ := set $config "listen" (dict "address" "0.0.0.0" "port" 8940) -}}
{{- $store := default (dict) (get $config "store") -}}
{{- $_ := set $store "dir" "/var/lib/trainspotter" -}}
{{- $_ := set $config "store" $store -}}
{{- $auth := default (dict) (get $config "auth") -}}
{{- $_ := set $auth "tokens_file" (printf "/etc/trainspotter-tokens/%s" .Values.daemon.tokensSecret.key) -}}
{{- $_ := set $config "auth" $auth -}}
{{- toYaml $config -}}
{{- end -}}
