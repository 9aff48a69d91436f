import { accessSync, constants, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { secretNames, settingNames } from './settings.js';

/** The environment as settings have it: files read, quotes and foreign values dropped. */
export interface Environment {
  values: Record<string, string>;
  /** What is not used, for the log. */
  notes: string[];
  /** Why the service cannot start, one line each. */
  problems: string[];
}

/** Secrets that providers, Temporal and OpenTelemetry's SDK read. */
const otherSecrets =
  /^(\w+_API_KEY|TEMPORAL_TLS_CLIENT_KEY_DATA|TEMPORAL_CODEC_AUTH|OTEL_EXPORTER_OTLP_(TRACES_)?HEADERS)$/;
const isSecret = (name: string): boolean => secretNames.includes(name) || otherSecrets.test(name);

/** Reads what the variables name. An empty value counts as absent. */
export function readEnvironment(env: Record<string, string | undefined>): Environment {
  const read: Environment = { values: {}, notes: [], problems: [] };
  for (const [name, value] of Object.entries(env)) if (value) read.values[name] = value;
  readFiles(read);
  dropLinks(read);
  dropQuotes(read);
  dropUnreadableProfile(read);
  return read;
}

/** Takes a secret from the file of `NAME_FILE`, as Docker and Kubernetes mount it. */
function readFiles({ values, problems }: Environment): void {
  for (const [variable, file] of Object.entries(values)) {
    const name = /^(.+)_FILE$/.exec(variable)?.[1];
    if (name === undefined || !isSecret(name)) continue;
    delete values[variable];
    if (values[name] !== undefined) {
      problems.push(`${name} and ${variable} are both set: remove one`);
      continue;
    }
    try {
      const text = readFileSync(file, 'utf8').replace(/(?<![\r\n])[\r\n]+$/, '');
      if (text === '') problems.push(`${variable}: the file ${file} is empty`);
      else values[name] = text;
    } catch (error) {
      problems.push(`${variable}: the file ${file} cannot be read (${(error as NodeJS.ErrnoException).code})`);
    }
  }
}

/** Kubernetes and Docker set NAME_PORT=tcp://… for a Service or a link that is called NAME. */
function dropLinks({ values, notes }: Environment): void {
  for (const name of settingNames.filter((setting) => /(^|_)PORT$/.test(setting))) {
    const value = values[name];
    if (value === undefined || !/^(tcp|udp|sctp):\/\//.test(value)) continue;
    delete values[name];
    notes.push(`${name}=${value} is a link to a Service of this name, no port: it is not used`);
  }
}

const ours = (name: string): boolean => settingNames.includes(name) || /^TEMPORAL_|_(API_KEY|BASE_URL)$/.test(name);

/** `docker --env-file` keeps quotes. Other programs compare the API key as it is. */
function dropQuotes({ values, problems }: Environment): void {
  for (const [name, value] of Object.entries(values)) {
    const inner = /^(["'])(.*)\1$/s.exec(value)?.[2];
    // OpenTelemetry's SDK reads its variables itself, with their quotes.
    if (inner === undefined || !ours(name) || name.startsWith('OTEL_')) continue;
    if (name === 'RATCHET_API_KEY') problems.push(`${name} is in quotes, which docker --env-file keeps: remove them`);
    else if (inner === '') delete values[name];
    else values[name] = inner;
  }
}

/** Temporal's library fails for a user who may not read the home that HOME names. */
function dropUnreadableProfile({ values, notes }: Environment): void {
  const { HOME: home, XDG_CONFIG_HOME: folder = home && join(home, '.config') } = values;
  if (!folder || values['TEMPORAL_CONFIG_FILE'] !== undefined) return;
  const file = join(folder, 'temporalio', 'temporal.toml');
  try {
    accessSync(file, constants.R_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return;
    delete values['HOME'];
    delete values['XDG_CONFIG_HOME'];
    if (values['TEMPORAL_ADDRESS']) notes.push(`${file} cannot be read (${code}) and is not used`);
  }
}
