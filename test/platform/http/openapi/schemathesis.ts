/** Runs of schemathesis in a process of its own, and their reports. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { createInterface } from 'node:readline';
import { asObject } from '../../../../src/util/json.js';

export interface FuzzOptions {
  /** Name of the run. */
  name: string;
  python: string;
  url: string;
  apiKey: string;
  /** The OpenAPI document. */
  document: object;
  seed: number;
  seconds: number;
  /** Selection of operations, as options of schemathesis. */
  only: readonly string[];
  /** The schemathesis.toml. */
  settings: string;
}

/** A check that failed for an operation. */
export interface Failure {
  /** Method and path template. */
  operation: string;
  check: string;
  /** The code of the answer's problem or error, and the pointers of its errors. */
  code?: string | undefined;
  pointers: string[];
  /** What schemathesis says, with the request and the answer. */
  detail: string;
}

export interface FuzzReport {
  cases: number;
  /** Operations with an answer below 400. */
  succeeded: Set<string>;
  operations: Set<string>;
  /** Requests that followed a link of the document. */
  links: number;
  failures: Failure[];
  /** What kept schemathesis from testing an operation. */
  errors: string[];
}

/** Keeps document and events of the last run of each name. */
const home = resolve(__dirname, '../../../../.ratchet/schemathesis');

/** Runs all checks and phases; ends the process if `signal` aborts. */
export async function fuzz(options: FuzzOptions, signal: AbortSignal): Promise<FuzzReport> {
  const folder = join(home, options.name);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const [document, config, events] = ['openapi.json', 'schemathesis.toml', 'events.ndjson'].map((file) =>
    join(folder, file),
  ) as [string, string, string];
  await writeFile(document, JSON.stringify(options.document));
  await writeFile(config, options.settings);
  const { PATH = '' } = process.env;
  const child = spawn(
    options.python,
    [
      '-m',
      'schemathesis.cli',
      '--no-color',
      '--config-file',
      config,
      'run',
      document,
      '--url',
      options.url,
      '--header',
      `Authorization: Bearer ${options.apiKey}`,
      ...options.only,
      '--checks',
      'all',
      '--phases',
      'examples,coverage,fuzzing,stateful',
      '--continue-on-failure',
      '--seed',
      String(options.seed),
      '--max-time',
      String(options.seconds),
      '--generation-database',
      'none',
      // The key stays the test's, and NUL is nowhere accepted (`server/body`).
      '--generation-with-security-parameters',
      'false',
      '--generation-allow-x00',
      'false',
      '--report-ndjson-path',
      events,
      '--output-sanitize',
      'false',
    ],
    { cwd: folder, env: { PATH, HOME: folder }, stdio: ['ignore', 'pipe', 'pipe'], signal },
  );
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  if (!existsSync(events)) throw new Error(`schemathesis did not start: ${output}${errors}`);
  return readReport(events);
}

/** The parts of a line of the report that `readReport` uses. */
interface Line {
  ScenarioFinished?: {
    recorder: {
      cases?: Record<string, { value: { method: string; path: string }; transition?: { is_inferred: boolean } }>;
      checks?: Record<string, { name: string; failure_info?: { failure: Record<string, unknown> } }[]>;
      interactions?: Record<
        string,
        { request?: { body?: Bytes }; response?: { status_code: number; content?: Bytes } }
      >;
    };
  };
  NonFatalError?: { label: string; value: { type: string; message: string } };
  FatalError?: { exception: { type: string; message: string } };
}

interface Bytes {
  $base64: string;
}

async function readReport(file: string): Promise<FuzzReport> {
  const report: FuzzReport = {
    cases: 0,
    links: 0,
    operations: new Set(),
    succeeded: new Set(),
    failures: [],
    errors: [],
  };
  for await (const text of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
    const { ScenarioFinished: scenario, NonFatalError: error, FatalError: fatal } = JSON.parse(text) as Line;
    if (error) report.errors.push(`${error.label}: ${error.value.type}: ${error.value.message}`);
    if (fatal) report.errors.push(`${fatal.exception.type}: ${fatal.exception.message}`);
    if (!scenario) continue;
    const { cases, checks = {}, interactions = {} } = scenario.recorder;
    for (const [id, { value, transition }] of Object.entries(cases ?? {})) {
      const operation = `${value.method} ${value.path}`;
      const interaction = interactions[id];
      report.cases += 1;
      report.operations.add(operation);
      if ((interaction?.response?.status_code ?? 500) < 400) report.succeeded.add(operation);
      if (transition?.is_inferred === false) report.links += 1;
      for (const { name, failure_info: failed } of checks[id] ?? []) {
        if (!failed) continue;
        const { title, message } = failed.failure;
        const text = { request: textOf(interaction?.request?.body), answer: textOf(interaction?.response?.content) };
        const detail = JSON.stringify({ title, message, ...interaction, ...text }, null, 1);
        report.failures.push({ operation, check: name, ...problemIn(text.answer), detail });
      }
    }
  }
  return report;
}

const textOf = (bytes: Bytes | undefined): string => Buffer.from(bytes?.$base64 ?? '', 'base64').toString();

function problemIn(answer: string): Pick<Failure, 'code' | 'pointers'> {
  const { code, errors, error } = (asObject(parsed(answer)) ?? {}) as {
    code?: string;
    errors?: { pointer: string }[];
    error?: { code?: string; param?: string | null };
  };
  if (errors) return { code, pointers: errors.map(({ pointer }) => pointer) };
  // The shape of OpenAI's errors.
  return { code: code ?? error?.code, pointers: error?.param ? [`/${error.param.replaceAll('.', '/')}`] : [] };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
