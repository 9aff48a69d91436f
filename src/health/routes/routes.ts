import type { z } from 'zod';
import { readLimits } from '../../access/store/limits.js';
import { readSpendToday } from '../../access/store/spend-quota.js';
import { healthStates, type HealthState } from '../../core/health/state.js';
import type { App, HttpDeps } from '../../platform/http/deps.js';
import { problems } from '../../platform/http/server/schema.js';
import { readinessAnswer } from '../../platform/http/server/health.js';
import type { Tx } from '../../platform/db/db.js';
import { ExpiringMap } from '../../util/expiring-map.js';
import { healthSchema } from '../contract/health.js';
import { deploymentsHealth } from './deployments.js';
import { jobsHealth } from './jobs.js';
import { providersHealth } from './providers.js';

type Health = z.output<typeof healthSchema>;
type OfOrganization = Omit<Health, 'spend'>;

/** All readers of an organization share an answer of this age: each of their pages polls. */
const sharedMs = 1_000;
const mostOrganizations = 1_000;

/** What is slow or failing now, whom it affects, and what it costs. */
export function registerHealthOfCalls(app: App, deps: HttpDeps): void {
  const shared = new ExpiringMap<string, Promise<OfOrganization>>(mostOrganizations, sharedMs);
  const read = (orgId: string) => {
    const known = shared.get(orgId);
    if (known) return known;
    const reading = readHealth(deps, orgId);
    shared.set(orgId, reading);
    reading.catch(() => shared.delete(orgId));
    return reading;
  };
  app.get(
    '/api/v1/health',
    {
      schema: {
        tags: ['Service'],
        operationId: 'getHealth',
        summary: 'What is slow or failing, and whom it affects',
        description:
          'Providers by model, open jobs, live deployments, the parts of the service, and the spend of today. Counts are written once a second; at most a second old answers are shared.',
        response: { 200: healthSchema, ...problems() },
      },
    },
    async ({ caller: { orgId, keyId } }) => {
      const [health, spend] = await Promise.all([
        read(orgId),
        deps.db.org(orgId, async (tx) => ({
          organization: await spentBy(tx, orgId, orgId),
          key: await spentBy(tx, orgId, keyId ?? orgId),
        })),
      ]);
      return { ...health, spend };
    },
  );
}

async function readHealth(deps: HttpDeps, orgId: string): Promise<OfOrganization> {
  const nowMs = Date.now();
  const [service, { deployments, withCauses, providers }] = await Promise.all([
    serviceHealth(deps),
    deps.db.org(orgId, async (tx) => {
      const deployments = await deploymentsHealth(tx, nowMs);
      const runs = await jobsHealth(tx, nowMs);
      const providers = await providersHealth(tx, { jobs: runs.jobs, deployments }, nowMs);
      return { deployments, providers, withCauses: runs.withCauses };
    }),
  ]);
  const jobs = withCauses({ providers, hasWorker: service.checks['worker']?.ok ?? true });
  const state = worst([...providers, ...deployments].map((each) => each.state));
  return { at: new Date(nowMs).toISOString(), state, providers, jobs, deployments, service };
}

function worst(states: readonly HealthState[]): HealthState {
  return healthStates[Math.max(0, ...states.map((state) => healthStates.indexOf(state)))]!;
}

async function serviceHealth({ readiness, taskQueues, shutdown }: HttpDeps): Promise<Health['service']> {
  const [found, queues] = await Promise.all([readiness(), taskQueues().catch(() => null)]);
  const { status, checks } = readinessAnswer(found, {}, { isDraining: shutdown.aborted, showsDetails: true });
  return {
    ready: status === 'ready',
    checks,
    queues: queues && queues.map(({ type, backlog, ageSeconds }) => ({ type, waiting: backlog, oldest_s: ageSeconds })),
  };
}

async function spentBy(tx: Tx, orgId: string, subject: string): Promise<Health['spend']['key']> {
  const [spent, { spendUsdPerDay }] = await Promise.all([
    readSpendToday(tx, { orgId, subject }),
    readLimits(tx, subject),
  ]);
  return { today_usd: spent, limit_usd: spendUsdPerDay };
}
