import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import OpenAI from 'openai';
import type { Logger } from 'pino';
import { deploymentActivities } from '../../../../activities/deployments/build.js';
import type { ActivityDeps } from '../../../../activities/deps.js';
import { createMetrics } from '../../../../src/service/metrics.js';
import { createProviders } from '../../../../src/models/client/providers.js';
import { createBytesInFlight } from '../../../../src/models/routes/bytes-in-flight.js';
import { registerDeploymentInference } from '../../../../src/models/routes/deployments/routes.js';
import type { ProxyDeps } from '../../../../src/models/routes/call.js';
import { ask, saying as sayingBy } from '../../../support/deployments-over-http.js';
import { startFakeModel, type FakeModel } from '../../../support/fakes/model.js';
import { activityOf } from '../../../support/job-activity.js';
import { deployments } from '../../../support/jobs-over-http.js';
import { secretKey, startHttp, type Answer, type TestHttp } from '../../../platform/http/support.js';

/** The HTTP server with deployment inference on a fake model; deployments build at once. */
export interface TestDeployments {
  http: TestHttp;
  url: string;
  model: FakeModel;
  /** While true, deployments stay pending. */
  held: boolean;
  create(body: object): Promise<Answer>;
  /** Deploys messages under a name; returns the deployment's id. */
  deploy(name: string, text?: string): Promise<string>;
  status(id: string): Promise<Answer>;
  ask(ref: string, body: object | string, headers?: Record<string, string>): Promise<Response>;
  openai(ref: string): OpenAI;
  close(): Promise<void>;
}

export const question = { messages: [{ role: 'user', content: 'Where is my card?' }] };
/** Given messages for a model with a known price. */
export const saying = (text: string) => sayingBy(text, { provider: 'openai', model: 'gpt-4o-mini', temperature: 0 });

/** Deployments for the tests of a file; each test begins with `held` and a default model. */
export function deploymentsOfFile({ held = false, ...options }: Partial<ProxyDeps> & { held?: boolean } = {}) {
  const it = { held } as TestDeployments;
  beforeAll(() => startDeployments(it, options), 60_000);
  afterAll(() => it.close(), 30_000);
  beforeEach(() => {
    it.held = held;
    it.model.requests.length = 0;
    it.model.reply(() => ({}));
  });
  return it;
}

async function startDeployments(it: TestDeployments, options: Partial<ProxyDeps>): Promise<void> {
  const model = await startFakeModel();
  const providers = createProviders({ OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'sk-secret' });
  const notifications = { presence: 1 };
  // The server creates its database during start, after it gets the routes.
  const db = {
    org: (orgId, work) => http.db.org(orgId, work),
    orgApart: (orgId, work) => http.db.orgApart(orgId, work),
    orgTogether: (orgId, work) => http.db.orgTogether(orgId, work),
    orgBatch: (orgId, statements) => http.db.orgBatch(orgId, statements),
  } as ProxyDeps['db'];
  const http = await startHttp({
    listedEnds: (...asked) => providers.listedEnds(...asked),
    // A create answers after the build, however long it takes here.
    timing: { startWaitMs: 60_000 },
    registerInference: (app) =>
      registerDeploymentInference(app, {
        db,
        notifications,
        providers,
        tracing: null,
        log: app.log as Logger,
        bytes: createBytesInFlight(64 * 1024 * 1024),
        secretKey,
        ...options,
      }),
  });
  const url = await http.listen();
  const { snapshotSource, promoteDeployment } = deploymentActivities({
    db: http.db,
    secretKey: http.deps.secretKey,
    metrics: createMetrics(),
  } as unknown as ActivityDeps);
  http.commander.onStart = async (job) => {
    if (job.kind !== 'deployment' || it.held) return;
    await activityOf(job.jobId).run(snapshotSource, job);
    await activityOf(job.jobId).run(promoteDeployment, job);
  };
  Object.assign(it, {
    http,
    url,
    model,
    create: (body) => http.call('POST', deployments, body),
    async deploy(name, text = `I am ${name}.`) {
      const { status, body } = await it.create({ name, source: saying(text) });
      if (status !== 201) throw new Error(JSON.stringify(body));
      return (body as { id: string }).id;
    },
    status: (id) => http.call('GET', `${deployments}/${id}/status`),
    ask: (ref, body, headers = {}) => ask({ url, apiKey: http.key }, ref, body, { headers }),
    openai: (ref) => new OpenAI({ apiKey: http.key, baseURL: `${url}${deployments}/${ref}/v1`, maxRetries: 0 }),
    async close() {
      await http.close();
      await model.close();
    },
  } satisfies Omit<TestDeployments, 'held'>);
}
