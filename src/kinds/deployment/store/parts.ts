/** The jobs that a migration or a checkup runs, and the deployment that it makes. */
import type { CanaryPlan } from '../../../core/deployments/canary/plan.js';
import { candidateId } from '../../../core/jobs/ids.js';
import { dollarsOf } from '../../../core/jobs/dollars-of-parts.js';
import { childJobId, workflowId } from '../../../core/jobs/kinds.js';
import type { DeploymentSource, EvaluationSpec, SessionSpec } from '../../../core/jobs/spec.js';
import type { Status } from '../../../core/jobs/status.js';
import { readSpent } from '../../../jobs/store/cost-budget.js';
import type { JobRef } from '../../../jobs/store/events.js';
import { hasJob, insertJob, newJobId } from '../../../jobs/store/jobs.js';
import type { SessionProjection } from '../../../jobs/store/projection.js';
import { readCosts } from '../../../jobs/store/usage.js';
import { plus } from '../../../util/sums.js';
import type { Tx } from '../../../platform/db/db.js';
import type { PromptContent } from '../contract/snapshot.js';
import { insertDeployment } from './deployments.js';
import { readRewards } from './gate.js';
import { readContent, readSnapshot } from './snapshots.js';

/** A job of another one, as far as it is stored. */
export interface PartRow extends Record<string, unknown> {
  id: string;
  status: Status;
  projection: SessionProjection;
}

/** The ids and rows of the jobs of a kind. */
export interface PartsOf<Part extends string> {
  partId(parentId: string, part: Part): string;
  readParts(tx: Tx, parentId: string): Promise<Map<Part, PartRow>>;
}

/** By their parts; `session` is a session. */
export function partsOf<Part extends string>(numbers: Readonly<Record<Part, number>>): PartsOf<Part> {
  const names = Object.keys(numbers) as Part[];
  const partId = (parentId: string, part: Part): string =>
    childJobId(part === 'session' ? 'session' : 'evaluation', parentId, numbers[part]);
  return {
    partId,
    async readParts(tx, parentId) {
      const parts = new Map(names.map((part) => [partId(parentId, part), part]));
      const rows = await tx.query<PartRow>(
        'select id, status, projection from jobs where id = any($1) and not deleted',
        [[...parts.keys()]],
      );
      return new Map(rows.map((row) => [parts.get(row.id)!, row]));
    },
  };
}

/** A job with the dollars of its calls; null: of unknown cost. */
export type PricedPart<Part> = PartRow & { step: Part; costUsd: number | null };

/** The jobs in the order of their steps, and what they cost together. */
export async function readPartCosts<Part extends string>(
  tx: Tx,
  parts: ReadonlyMap<Part, PartRow>,
  order: readonly Part[],
): Promise<{ steps: PricedPart<Part>[]; total: number | null }> {
  const costs = await readCosts(
    tx,
    [...parts.values()].map(({ id }) => id),
  );
  const steps = order.flatMap((step) => {
    const row = parts.get(step);
    return row ? [{ ...row, step, costUsd: costs.get(row.id) ?? null }] : [];
  });
  return { steps, total: steps.map(({ costUsd }) => costUsd).reduce(plus, 0) };
}

/** Of the completed jobs: rewards in the order of the seeds, and the winner of the session. */
export interface PartResults<Part extends string> {
  rewards: Partial<Record<Exclude<Part, 'session'>, (number | null)[]>>;
  /** `winner` null: its best prompt is the one that it began with. */
  session: { winner: string | null } | null;
}

export async function readResults<Part extends string>(
  tx: Tx,
  parts: ReadonlyMap<Part, PartRow>,
): Promise<PartResults<Part>> {
  const results: PartResults<string> = { rewards: {}, session: null };
  for (const [part, row] of parts) {
    if (row.status !== 'completed') continue;
    if (part === 'session') results.session = { winner: winnerOf(row) };
    else results.rewards[part] = await readRewards(tx, row.id);
  }
  return results as PartResults<Part>;
}

function winnerOf({ id, projection }: PartRow): string | null {
  const { bestCandidateId: best = null } = projection;
  return best === candidateId(id, 0) ? null : best;
}

/** A job of another one. */
export interface NewPart<Part extends string> {
  part: Part;
  orgId: string;
  /** The name of the deployment. */
  name: string;
  /** Of all jobs of the parent together; null: no limit. */
  maxCostUsd: number | null;
  specOf: () => Promise<SessionSpec | EvaluationSpec>;
}

/** Stores a job of another one, with its share of the dollars. False: it exists. */
export async function insertPart<Part extends string>(
  tx: Tx,
  parentId: string,
  { partId, readParts }: PartsOf<Part>,
  { part, orgId, name, maxCostUsd: max, specOf }: NewPart<Part>,
): Promise<boolean> {
  const job: JobRef = { orgId, jobId: partId(parentId, part) };
  if (await hasJob(tx, job)) return false;
  const earlier = [...(await readParts(tx, parentId)).values()].map(({ id }) => id);
  const maxCostUsd = max === null ? null : dollarsOf(part, { max, spent: await readSpent(tx, earlier) });
  const spec = withDollars(await specOf(), maxCostUsd);
  await insertJob(tx, {
    ...job,
    kind: spec.kind,
    workflowId: workflowId(spec.kind, job.jobId),
    keyId: null,
    algorithm: spec.kind === 'session' ? spec.search.algorithm : null,
    correlationId: null,
    parentId,
    labels: { name, tags: [], metadata: {}, notes: null },
    spec,
  });
  return true;
}

function withDollars(spec: SessionSpec | EvaluationSpec, maxCostUsd: number | null): SessionSpec | EvaluationSpec {
  if (spec.kind === 'session') return { ...spec, budget: { ...spec.budget, maxCostUsd } };
  return maxCostUsd === null ? spec : { ...spec, budget: { maxMinutes: null, maxCostUsd } };
}

/** The prompt of a snapshot or a source, which its job has kept. */
export async function readPrompt(tx: Tx, from: string | DeploymentSource): Promise<PromptContent> {
  const content = typeof from === 'string' ? (await readSnapshot(tx, from))?.content : await readContent(tx, from);
  if (content?.kind !== 'messages') throw new TypeError(`The prompt of ${JSON.stringify(from)} is gone.`);
  return content;
}

/** A deployment without a gate of its own: what made it was one. */
export interface FoundDeployment {
  name: string;
  source: DeploymentSource;
  canary: CanaryPlan | null;
  reason: string;
  keyId: string | null;
}

/** Stores a deployment; the caller starts its workflow, else the reconciler does. */
export async function insertFound(
  tx: Tx,
  orgId: string,
  { name, source, canary, reason, keyId }: FoundDeployment,
): Promise<string> {
  const jobId = newJobId('deployment');
  await insertJob(tx, {
    orgId,
    jobId,
    kind: 'deployment',
    workflowId: workflowId('deployment', jobId),
    keyId,
    algorithm: null,
    correlationId: null,
    spec: { kind: 'deployment', name, source, container: null, gate: null, ...(canary && { canary }) },
  });
  await insertDeployment(tx, { orgId, jobId }, { name, reason });
  return jobId;
}
