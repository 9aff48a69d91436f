import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import OpenAI from 'openai';
import { issueInferenceKey, verifyInferenceKey } from '../../../src/clients/container/inference-key.js';
import { createProviders } from '../../../src/models/client/providers.js';
import type { EvaluationSpec, SessionSpec } from '../../../src/core/jobs/spec.js';
import type { Message } from '../../../src/core/prompts/message.js';
import { createBytesInFlight } from '../../../src/models/routes/bytes-in-flight.js';
import { registerProxy } from '../../../src/models/routes/proxy.js';
import type { ProxyDeps } from '../../../src/models/routes/call.js';
import { createSpendCheck } from '../../../src/access/store/spend-quota.js';
import { addCandidate } from '../../../src/candidates/store/candidates.js';
import type { Db } from '../../../src/platform/db/db.js';
import type { JobRef } from '../../../src/jobs/store/events.js';
import { rolloutId } from '../../../src/core/jobs/ids.js';
import type { Stage } from '../../../src/core/search/protocol.js';
import { planRollouts } from '../../../src/rollouts/store/rollouts.js';
import { startFakeModel, type FakeModel, type ModelRequest } from '../../support/fakes/model.js';
import { anyGepa, unlimited } from '../../support/job.js';
import { secretKey, startHttp, type TestHttp } from '../../platform/http/support.js';

export const system = (content: string): Message => ({ role: 'system', content });
export const policy = {
  provider: 'openai',
  model: 'gpt-4o-mini',
  params: { temperature: 0.5 } as Record<string, unknown>,
};

const sessionSpec: SessionSpec = {
  kind: 'session',
  container: { url: 'http://127.0.0.1:9', envName: null, envConfig: {}, hasApiKey: false },
  policy,
  proposer: policy,
  maxConcurrent: 2,
  rolloutTimeoutS: 10,
  maxFailureRate: 0.5,
  preflight: true,
  initialPrompt: null,
  budget: unlimited,
  search: anyGepa,
};

/** The columns of model_calls that tests read. */
interface CallRow {
  purpose: string;
  rollout_id: string;
  correlation_id: string;
  candidate_id: string | null;
  occurrence: number;
  served_attempt: number;
  request: Record<string, unknown>;
  levers: { name: string; text?: string }[] | null;
  response: { choices?: { message: { content: string } }[]; error?: { code: string } } | null;
  stream: boolean;
  http_status: number;
  prompt_tokens: number | null;
  completion_tokens: number | null;
  cost_usd: number | null;
  cost_source: string;
}

/** The HTTP server with the real proxy in front of a fake model. */
export interface TestProxy {
  http: TestHttp;
  url: string;
  model: FakeModel;
  /** While set, the proxy's database queries fail with it. */
  failDatabase(error: Error | null): void;
  newSession(options?: {
    status?: string;
    spec?: Partial<SessionSpec>;
    baseline?: Message[] | null;
    orgId?: string;
  }): Promise<JobRef>;
  newEvaluation(candidate: Message[] | null): Promise<JobRef>;
  addCandidate(job: JobRef, leverVersion: number, content: string | Message[], best?: boolean): Promise<string>;
  /** A rollout run by the service, in its first attempt; returns its id. */
  newRollout(job: JobRef, ordinal: number, candidate: number | null, stage?: Stage): Promise<string>;
  nextAttempt(job: JobRef, rollout: string): Promise<void>;
  setStatus(job: JobRef, status: string): Promise<void>;
  calls(job: JobRef): Promise<CallRow[]>;
  inferenceKey(job: JobRef, rollout: string): string;
  /** POSTs a chat completion below the job's path, e.g. `/rol_1`; a buffer as it is. */
  post(job: JobRef, path: string, body?: unknown, headers?: Record<string, string>): Promise<Response>;
  /** The same by a caller that disconnects as soon as `when` resolves. */
  postAndLeave(
    job: JobRef,
    path: string,
    body: unknown,
    when: (gotFirstBytes: Promise<void>) => Promise<unknown>,
  ): Promise<void>;
  openai(job: JobRef, path: string, apiKey?: string): OpenAI;
  close(): Promise<void>;
}

export const question = {
  messages: [system('The container’s own prompt.'), { role: 'user', content: 'Where is my card?' }],
};

export async function startProxy(options: Partial<ProxyDeps> = {}): Promise<TestProxy> {
  const model = await startFakeModel();
  const providers = createProviders(
    { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'sk-secret', MISTRAL_BASE_URL: model.url },
    { checkSpend: (payer) => checkSpend(payer) },
  );
  let failure: Error | null = null;
  // The server creates its database during start, after it gets the proxy.
  const db = {
    org: (orgId, work) => (failure ? Promise.reject(failure) : http.db.org(orgId, work)),
    orgApart: (orgId, work) => (failure ? Promise.reject(failure) : http.db.orgApart(orgId, work)),
    orgTogether: (orgId, work) => (failure ? Promise.reject(failure) : http.db.orgTogether(orgId, work)),
    orgBatch: (orgId, statements) => (failure ? Promise.reject(failure) : http.db.orgBatch(orgId, statements)),
  } as Db;
  const notifications = {
    get presence() {
      return http.deps.notifications.presence;
    },
  };
  const http: TestHttp = await startHttp({
    verifyInferenceKey: (presented, job) => verifyInferenceKey(http.deps.secretKey, presented, job),
    registerInference: (app) =>
      registerProxy(app, {
        db,
        notifications,
        providers,
        tracing: null,
        log: app.log as ProxyDeps['log'],
        bytes: createBytesInFlight(64 * 1024 * 1024),
        secretKey,
        ...options,
      }),
  });
  const checkSpend = createSpendCheck(http.db, () => undefined);
  const url = await http.listen();

  async function insert(orgId: string, spec: SessionSpec | EvaluationSpec, status: string): Promise<JobRef> {
    const jobId = `${spec.kind === 'session' ? 'ses' : 'evl'}_${randomUUID().replaceAll('-', '')}`;
    await http.db.org(orgId, async (tx) => {
      await tx.query(`insert into jobs (id, org_id, kind, status, workflow_id, spec) values ($1, $2, $3, $4, $1, $5)`, [
        jobId,
        orgId,
        spec.kind,
        status,
        JSON.stringify(spec),
      ]);
      await tx.query('insert into job_controls (job_id, org_id) values ($1, $2)', [jobId, orgId]);
    });
    return { orgId, jobId };
  }

  const proxy: TestProxy = {
    http,
    url,
    model,
    failDatabase: (error) => (failure = error),
    async newSession({
      status = 'running',
      spec = {},
      baseline = [system('Baseline prompt.')],
      orgId = 'default',
    } = {}) {
      const job = await insert(orgId, { ...sessionSpec, ...spec }, status);
      const candidate = { leverVersion: 0, generation: 0, parents: [], messages: baseline };
      await http.db.org(orgId, (tx) => addCandidate(tx, job, candidate));
      return job;
    },
    newEvaluation(messages) {
      const candidate = messages && { messages, sessionId: null, candidateId: null };
      const { policy, maxConcurrent, rolloutTimeoutS, maxFailureRate, preflight } = sessionSpec;
      const limits = { maxConcurrent, rolloutTimeoutS, maxFailureRate, preflight };
      const run = { container: sessionSpec.container!, policy, ...limits };
      return insert(
        'default',
        { ...run, kind: 'evaluation', appId: 'a', seeds: [0], timeoutS: 60, candidate },
        'running',
      );
    },
    async addCandidate(job, leverVersion, content, best = false) {
      const id = `cand_${job.jobId.slice(4)}_${leverVersion}`;
      await http.db.org(job.orgId, async (tx) => {
        const messages = typeof content === 'string' ? [system(content)] : content;
        await addCandidate(tx, job, { leverVersion, generation: 1, parents: [0], messages });
        if (best)
          await tx.query(`update jobs set projection = jsonb_build_object('bestCandidateId', $2::text) where id = $1`, [
            job.jobId,
            id,
          ]);
      });
      return id;
    },
    async newRollout(job, ordinal, candidate, stage = 'evaluation') {
      const request = { ordinal, candidate: candidate ?? 0, seed: 0, stage, generation: 0 };
      await http.db.org(job.orgId, (tx) => planRollouts(tx, job, [request], candidate !== null));
      await this.nextAttempt(job, rolloutId(job.jobId, ordinal));
      return rolloutId(job.jobId, ordinal);
    },
    async nextAttempt(job, rollout) {
      await http.db.org(job.orgId, (tx) =>
        tx.query(`update rollouts set attempt = attempt + 1, status = 'running' where id = $1`, [rollout]),
      );
    },
    async setStatus(job, status) {
      await http.db.org(job.orgId, (tx) => tx.query('update jobs set status = $2 where id = $1', [job.jobId, status]));
    },
    calls: (job) =>
      http.db.org(job.orgId, (tx) =>
        tx.query<CallRow & Record<string, unknown>>(
          'select * from model_calls where job_id = $1 order by created_at, id',
          [job.jobId],
        ),
      ),
    inferenceKey: (job, rollout) => issueInferenceKey(http.deps.secretKey, { ...job, rolloutId: rollout }),
    post: (job, path, body = question, headers = {}) =>
      fetch(`${url}/api/gepa/v1/${job.jobId}${path}/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${http.key}`, 'content-type': 'application/json', ...headers },
        body: Buffer.isBuffer(body) ? body : JSON.stringify(body),
      }),
    async postAndLeave(job, path, body, when) {
      const call = request(`${url}/api/gepa/v1/${job.jobId}${path}/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${http.key}`, 'content-type': 'application/json' },
      });
      const closed = new Promise((resolve) => call.once('close', resolve));
      const first = new Promise<void>((resolve) => {
        call.once('response', (response) => response.on('error', () => undefined).once('data', () => resolve()));
      });
      call.on('error', () => undefined).end(JSON.stringify(body));
      await when(first);
      call.destroy();
      await closed;
    },
    openai: (job, path, apiKey = http.key) =>
      new OpenAI({ baseURL: `${url}/api/gepa/v1/${job.jobId}${path}`, apiKey, maxRetries: 0 }),
    async close() {
      await http.close();
      await providers.close();
      await model.close();
    },
  };
  return proxy;
}

/** A proxy for the tests of a file; each test has a default model and a working database. */
export function proxyOfFile(options: Partial<ProxyDeps> = {}): TestProxy {
  const proxy = {} as TestProxy;
  beforeAll(async () => {
    Object.assign(proxy, await startProxy(options));
  }, 60_000);
  afterAll(() => proxy.close());
  beforeEach(() => {
    proxy.model.requests.length = 0;
    proxy.model.reply(() => ({}));
    proxy.failDatabase(null);
  });
  return proxy;
}

/** The system message of a request received by the model. */
export function systemOf({ body }: ModelRequest): string | undefined {
  return body.messages.find(({ role }) => role === 'system')?.content;
}
