import { randomUUID } from 'node:crypto';
import { gepaDefaults } from '../../src/core/algorithms/gepa/config.js';
import type { SearchSettings } from '../../src/core/algorithms/index.js';
import type { BudgetSpec, ContainerSpec, EvaluationSpec } from '../../src/core/jobs/spec.js';
import type { Db } from '../../src/platform/db/db.js';
import type { JobRef } from '../../src/jobs/store/events.js';

/** A spec for tests in which its values do not matter. */
export const anySpec: EvaluationSpec & { container: ContainerSpec } = {
  kind: 'evaluation',
  appId: 'test',
  seeds: [0, 1, 2],
  timeoutS: 60,
  candidate: null,
  container: { url: 'http://127.0.0.1:9', envName: null, envConfig: {}, hasApiKey: false },
  policy: { provider: 'local', model: 'local', params: {} },
  maxConcurrent: 2,
  rolloutTimeoutS: 10,
  maxFailureRate: 0.5,
  preflight: true,
};

/** No limit. */
export const unlimited: BudgetSpec = { maxMinutes: null, maxCostUsd: null };

/** A small GEPA search. */
export const anyGepa: SearchSettings = {
  ...gepaDefaults,
  algorithm: 'gepa',
  populationSize: 1,
  generations: 1,
  minibatchSize: 1,
  trainSeeds: [0],
  evaluationSeeds: [0],
  maxRollouts: null,
  rngSeed: 0,
};

/** Inserts a running job into the tables, for tests below HTTP. */
export async function insertJob(db: Db, orgId = 'default', spec: EvaluationSpec = anySpec): Promise<JobRef> {
  const jobId = `evl_${randomUUID().replaceAll('-', '')}`;
  await db.org(orgId, async (tx) => {
    await tx.query('insert into orgs (id, name) values ($1, $1) on conflict do nothing', [orgId]);
    await tx.query(
      `insert into jobs (id, org_id, kind, status, workflow_id, spec, projection)
       values ($1, $2, 'evaluation', 'running', 'evaluation-' || $1, $3, jsonb_build_object('total', $4::int))`,
      [jobId, orgId, JSON.stringify(spec), spec.seeds.length],
    );
    await tx.query('insert into job_controls (job_id, org_id) values ($1, $2)', [jobId, orgId]);
  });
  return { orgId, jobId };
}
