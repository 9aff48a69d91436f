import { afterAll, beforeAll } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { kindOf } from '../../../src/core/jobs/kinds.js';
import { endEvents } from '../../../src/core/events/jobs.js';
import { checkContainerUrl, checkWebhookUrl } from '../../../src/clients/net/egress.js';
import type { CommandKind } from '../../../src/contracts/control.js';
import { buildApp } from '../../../src/platform/http/app.js';
import type { App, HttpDeps } from '../../../src/platform/http/deps.js';
import { connect, type Db } from '../../../src/platform/db/db.js';
import { readJob } from '../../../src/jobs/store/jobs.js';
import { ensureBootstrapKey } from '../../../src/access/store/keys.js';
import { listen } from '../../../src/platform/db/notifications.js';
import { finishJob, recordDecision } from '../../../src/jobs/store/decisions/record.js';
import type { CommandedJob, Commander } from '../../../src/platform/temporal/commands.js';
import type { Scheduler, SeenSchedule } from '../../../src/platform/temporal/schedules.js';
import type { ScheduleRef } from '../../../src/schedules/store/schedules.js';
import { markSynced, readWanted } from '../../../src/schedules/store/synced.js';
import { decideCommands } from '../../../workflows/jobs/commands.js';
import { logLevel } from '../../support/environment.js';
import { createDatabase } from '../../support/servers/embedded.js';

/** Shows the cause of a 500: the answer does not tell it. */
function showUnexpected(line: string): void {
  if (process.env['TEST_LOG'] || line.includes('"msg":"Internal error;')) process.stderr.write(line);
}

/** Stands in for Temporal and the worker. */
class FakeCommander implements Commander {
  started: string[] = [];
  /** Workflows that were notified of rewards. */
  woken: string[] = [];
  /** Workflows with a cancel request in Temporal. */
  cancelled: string[] = [];
  sent: { jobId: string; kind: CommandKind; commandId: string }[] = [];
  onStart: (job: CommandedJob) => Promise<void> = async () => {};
  onSend: (job: CommandedJob, kind: CommandKind, commandId: string) => Promise<void>;
  private readonly db: Db;

  constructor(db: Db) {
    this.db = db;
    this.onSend = (job, kind, commandId) => this.decide(job, kind, commandId);
  }

  async start(job: CommandedJob): Promise<void> {
    await this.onStart(job);
    this.started.push(job.jobId);
    await this.db.org(job.orgId, (tx) =>
      tx.query('update jobs set workflow_started = true where id = $1', [job.jobId]),
    );
  }

  async send(job: CommandedJob, kind: CommandKind, commandId: string): Promise<void> {
    this.sent.push({ jobId: job.jobId, kind, commandId });
    await this.onSend(job, kind, commandId);
  }

  async wake({ workflowId }: { workflowId: string }): Promise<void> {
    this.woken.push(workflowId);
    return Promise.resolve();
  }

  /** Workflows that were told of new labels. */
  relabelled: string[] = [];

  async relabel({ workflowId }: { workflowId: string }): Promise<void> {
    this.relabelled.push(workflowId);
    return Promise.resolve();
  }

  async cancel({ workflowId }: { workflowId: string }): Promise<void> {
    this.cancelled.push(workflowId);
    return Promise.resolve();
  }

  /** Jobs whose histories were deleted. */
  forgotten: string[] = [];
  onForget: () => Promise<void> = async () => {};

  async deleteHistories({ jobId }: { jobId: string }): Promise<void> {
    await this.onForget();
    this.forgotten.push(jobId);
  }

  /** Decides the command with the workflow's own function, and records the decision. */
  async decide(job: CommandedJob, kind: CommandKind, commandId: string): Promise<void> {
    await this.db.org(job.orgId, async (tx) => {
      const { status } = (await readJob(tx, job.jobId))!;
      if (status !== 'running' && status !== 'paused')
        throw new Error(`${job.jobId} is ${status}: no workflow decides`);
      const command = { kind: kind === 'stop' ? ('reward_stop' as const) : kind, commandId };
      const { next, outcomes, end } = decideCommands({ status, pauses: 0 }, [command]);
      if (end) await finish(tx, job, end.kind === 'cancelled' ? 'cancelled' : 'completed', [commandId]);
      else await recordDecision(tx, job, { status: next.status as 'running' | 'paused', commands: outcomes });
    });
  }
}

/** Closes a job as its workflow does, with the terminal event of its kind. */
export async function finish(
  tx: Parameters<typeof finishJob>[0],
  job: { orgId: string; jobId: string },
  status: 'completed' | 'failed' | 'cancelled',
  accepted: string[] = [],
): Promise<void> {
  const error = { code: 'container_gone', message: 'The container is gone.', retryable: false };
  const end = status === 'failed' ? { status, error } : { status };
  await finishJob(tx, job, {
    status,
    stoppedBy: status,
    error: status === 'failed' ? error : null,
    events: endEvents(kindOf(job.jobId)!, end),
    accepted,
  });
}

/** Stands in for Temporal's schedules. */
class FakeScheduler implements Scheduler {
  /** Those that Temporal was told of. */
  synced: string[] = [];
  isReachable = true;

  private readonly db: Db;

  constructor(db: Db) {
    this.db = db;
  }

  async sync({ orgId, scheduleId }: ScheduleRef): Promise<void> {
    this.synced.push(scheduleId);
    if (!this.isReachable) throw new Error('Temporal is not reachable');
    const wanted = await this.db.org(orgId, (tx) => readWanted(tx, scheduleId));
    const written = { version: wanted!.version, installation: 'fake queue', digest: '' };
    await this.db.org(orgId, (tx) => markSynced(tx, scheduleId, written));
  }

  see(): Promise<SeenSchedule | null> {
    return Promise.resolve({ isPaused: false, nextRunAt: new Date('2030-01-01T03:00:00Z') });
  }
}

export interface TestHttp {
  app: App;
  deps: HttpDeps;
  db: Db;
  commander: FakeCommander;
  scheduler: FakeScheduler;
  key: string;
  /** The key of another organization. */
  otherKey: string;
  shutdown: AbortController;
  /** Its database, as superuser. */
  databaseUrl: string;
  /** Sends a request with the key; `body` as JSON. */
  call(method: Method, url: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  listen(): Promise<string>;
  close(): Promise<void>;
}
type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';

export interface Answer {
  status: number;
  headers: Record<string, string | undefined>;
  // Tests read answers of any type.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  body: any;
  raw: Buffer;
}

/** The RATCHET_SECRET_KEY of the test servers. */
export const secretKey = Buffer.alloc(32, 7);

/** The real HTTP server on its own database, without Temporal; `overrides` replaces parts. */
export async function startHttp(overrides: Partial<HttpDeps> = {}, databaseUrl?: string): Promise<TestHttp> {
  const url = databaseUrl ?? (await createDatabase());
  const log = pino({ level: logLevel('error') }, { write: showUnexpected });
  const db = connect(url, log, 8);
  const notifications = listen(url, log);
  const commander = new FakeCommander(db);
  const scheduler = new FakeScheduler(db);
  const shutdown = new AbortController();
  const [key, otherKey] = [`key-${randomUUID()}`, `key-${randomUUID()}`];
  await ensureBootstrapKey(db, secretKey, 'default', key);
  await ensureBootstrapKey(db, secretKey, 'other', otherKey);
  const deps: HttpDeps = {
    db,
    notifications,
    log,
    commander,
    scheduler,
    secretKey,
    publicUrl: 'http://127.0.0.1:8787',
    listenHost: '127.0.0.1',
    allowedHosts: [],
    version: '0.0.0',
    temporalUrl: (workflowId) => `http://127.0.0.1:8233/workflows/${workflowId}`,
    codec: null,
    checkContainerUrl: (containerUrl) => checkContainerUrl(containerUrl, 'dev', []),
    checkWebhookUrl: (webhookUrl) => checkWebhookUrl(webhookUrl, 'dev', []),
    checkJavascript: () => 'is not allowed here',
    checkProvider: (provider, own) =>
      ['openai', 'local', ...(own ?? [])].includes(provider) ? null : 'is not a known provider',
    listProviders: () => [{ name: 'local', usable: true, reason: null }],
    listedEnds: () => Promise.resolve(null),
    checkModel: () => Promise.reject(new Error('no model here')),
    startProblem: async () => null,
    readiness: async () => [{ name: 'database', ok: true, detail: null }],
    taskQueues: async () => [],
    verifyInferenceKey: (presented, job) => (presented === `rip_${job.jobId}_${job.rolloutId}` ? 'default' : null),
    registerInference: () => {},
    tracing: null,
    loginTokens: null,
    shutdown: shutdown.signal,
    timing: { commandWaitMs: 300, startWaitMs: 200, pollMs: 50 },
    ...overrides,
  };
  const app = await buildApp(deps);
  return {
    app,
    deps,
    db,
    commander,
    scheduler,
    key,
    otherKey,
    shutdown,
    databaseUrl: url,
    async call(method, path, body, headers = {}) {
      const answer = await app.inject({
        method,
        url: path,
        headers: {
          authorization: `Bearer ${key}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      const isJson = String(answer.headers['content-type']).includes('json');
      return {
        status: answer.statusCode,
        headers: answer.headers as Record<string, string | undefined>,
        body: isJson ? answer.json() : answer.body,
        raw: answer.rawPayload,
      };
    },
    listen: () => app.listen({ port: 0, host: '127.0.0.1' }),
    async close() {
      await app.close();
      await notifications.close();
      await db.close();
    },
  };
}

/** `startHttp` for the tests of a file. */
export function httpOfFile(overrides: Partial<HttpDeps> = {}): TestHttp {
  const http = {} as TestHttp;
  beforeAll(async () => {
    Object.assign(http, await startHttp(overrides));
  });
  afterAll(() => http.close());
  return http;
}

/** A valid create request of a session. */
export const sessionRequest = {
  algorithm: 'gepa',
  container_url: 'http://127.0.0.1:18114',
  gepa: { evaluation: { seeds: [0, 1] }, generations: 2, population_size: 2 },
  policy: { model: 'gpt-6-luna', provider: 'openai' },
};

/** A valid create request of an evaluation. */
export const evaluationRequest = {
  app_id: 'banking',
  container_url: 'http://127.0.0.1:18114',
  env_name: 'train',
  policy: { model: 'gpt-6-luna', provider: 'openai' },
  seeds: [0, 1],
};

const graphTasks = Array.from({ length: 12 }, (_, i) => ({ id: `t${i}`, input: { question: `q${i}` } }));

/** A valid create request of a graph job. */
export const graphRequest = {
  dataset: {
    initial_prompt: 'Answer.',
    tasks: graphTasks,
    gold_outputs: graphTasks.map(({ id }) => ({ task_id: id, output: 'x' })),
    verifier_config: { mode: 'exact' },
  },
  policy_model: 'gpt-6-luna',
  rollout_budget: 60,
};

/** Creates a session and returns its id. */
export async function createSession(http: TestHttp, more: object = {}): Promise<string> {
  const { body } = await http.call('POST', '/api/v1/online/sessions', {
    policy_optimization: { ...sessionRequest, ...more },
  });
  return body.session_id;
}

/** Creates an evaluation and returns its id. */
export async function createEvaluation(http: TestHttp, more: object = {}): Promise<string> {
  const { body } = await http.call('POST', '/api/v1/offline/jobs', { ...evaluationRequest, ...more });
  return body.job_id;
}

/** Creates a graph job and returns its id. */
export async function createGraphJob(http: TestHttp, more: object = {}): Promise<string> {
  const { body } = await http.call('POST', '/api/graphgen/jobs', { ...graphRequest, ...more });
  return body.job_id;
}
