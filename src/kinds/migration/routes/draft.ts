import type { FastifyRequest } from 'fastify';
import { isDeepStrictEqual } from 'node:util';
import type { CreateMigration } from '../contract/migration.js';
import type { MigrationSpec } from '../../../core/jobs/spec.js';
import type { PolicySpec } from '../../../core/jobs/policy.js';
import type { MigrationSplit } from '../../../core/migrations/split.js';
import { splitBounds } from '../../../core/search/split.js';
import { checkedForCaller } from '../../../access/routes/provider-keys.js';
import type { JobRows } from '../../../datasets/routes/job-rows.js';
import type { RowSource } from '../../../datasets/routes/row-source.js';
import { budgetErrors, policySpec, providerErrors } from '../../../jobs/routes/specs.js';
import type { HttpDeps } from '../../../platform/http/deps.js';
import { refuse } from '../../../platform/http/server/errors.js';
import { refusalAsSent } from '../../../platform/http/server/forms.js';
import { judgesOf } from '../../../scorers/index.js';
import { canaryPlan } from '../../deployment/routes/canary-plan.js';
import {
  gateOf,
  judgingRowsOf,
  leastToSearch,
  livePrompt,
  liveSession,
  ownRows,
  reachWarnings,
  requestedRows,
  splitRows,
  usualRollouts,
  type JudgingRows,
} from '../../deployment/routes/live-judging.js';
import type { LivePrompt } from '../../deployment/routes/live-rows.js';
import { policyFromSnapshot } from '../../deployment/contract/snapshot.js';
import type { DeploymentRow } from '../../deployment/store/deployments.js';

const purpose = {
  verb: 'Migrate',
  code: 'not_migratable',
  advice: 'Create a deployment of it with the new model and a gate with container_url.',
} as const;

const deployOf = ({ reason = null, rollout }: NonNullable<CreateMigration['deploy']>): MigrationSpec['deploy'] => ({
  reason,
  canary: rollout ? canaryPlan(rollout) : null,
});

export interface MigrationDraft {
  spec: MigrationSpec;
  warnings: string[];
  /** Rollouts at most, without repeated rows. */
  rollouts: number;
  keep: RowSource['keep'];
}

/** A migration of a live deployment; throws before anything is stored if it cannot run. */
export async function draftMigration(
  deps: HttpDeps,
  request: FastifyRequest,
  live: DeploymentRow,
  body: CreateMigration,
): Promise<MigrationDraft> {
  const checks = await checkedForCaller(deps, request);
  const prompt = await livePrompt(deps, live, purpose);
  const policy = policyOf(prompt, body);
  const today = policyFromSnapshot(prompt.policy);
  if (isDeepStrictEqual(policy, today))
    throw refuse.invalid([{ pointer: '/to', message: `is the model that ${live.name} has already` }]);
  const errors = [
    ...providerErrors({ ...today.params, ...today }, [], checks).map(({ message }) => ({
      pointer: '',
      message: `cannot be compared with today: ${message}`,
    })),
    ...providerErrors(body.to, ['to'], checks),
    ...(body.proposer ? providerErrors(body.proposer, ['proposer'], checks) : []),
  ];
  if (errors.length > 0) throw refuse.invalid(errors);
  const deciding = await decidingRows(checks, { live, prompt, provider: policy.provider }, body);
  const { rows, keep } = deciding;
  requirePrices({ today, to: policy, proposer: body.proposer }, rows, body);
  const { deciding: seeds, search } = await splitOf(deciding, body);
  const { session, warnings: ofSession } = sessionOf(checks, body, { prompt, policy, rows, split: search });
  return {
    spec: {
      kind: 'migration',
      name: live.name,
      deploymentId: live.id,
      snapshotId: live.snapshotId!,
      policy,
      container: null,
      rows: rows.spec,
      gate: gateOf(seeds, rows, body.max_concurrent),
      maxLoss: body.max_loss,
      maxCostUsd: body.budget?.max_cost_usd ?? null,
      optimize: body.optimize,
      session,
      deploy: body.deploy ? deployOf(body.deploy) : null,
    },
    warnings: [...rows.warnings, ...ofSession, ...reachWarnings(seeds.length, body.max_loss, 'max_loss')],
    rollouts: seeds.length * (session ? 3 : 2) + (session?.search.maxRollouts ?? 0),
    keep,
  };
}

/** The new model with the live parameters that the request leaves. */
function policyOf({ policy }: LivePrompt, { to }: CreateMigration): PolicySpec {
  const { params } = policyFromSnapshot(policy);
  const { model, provider, params: given } = policySpec(to);
  const kept = Object.entries({ ...params, ...given }).filter(([, value]) => value !== null);
  return { model, provider, params: Object.fromEntries(kept) };
}

/** Dollars are refused where the price of a model is unknown. */
function requirePrices(models: Parameters<typeof budgetErrors>[0], { spec }: JobRows, { budget }: CreateMigration) {
  if (budget?.max_cost_usd === undefined) return;
  const errors = budgetErrors(models, judgesOf(spec.scorer), ['budget', 'max_cost_usd']);
  if (errors.length > 0) throw refuse.invalid(errors);
}

/** The rows of the request, else those of what is live. */
async function decidingRows(
  deps: HttpDeps,
  judging: { live: DeploymentRow; prompt: LivePrompt; provider: string },
  { dataset, scorer }: CreateMigration,
): Promise<JudgingRows> {
  const own = await ownRows(deps, judging.live);
  if (dataset) return requestedRows(deps, judging, { dataset, scorer, own });
  if (!own) throw refuse.invalid([{ pointer: '/dataset', message: noRows(judging.live) }]);
  return judgingRowsOf(deps, judging, own);
}

const noRows = ({ name }: DeploymentRow) =>
  `is required, with scorer: ${name} was deployed without a gate on rows, and not from a session on rows. Its kept requests can be made a data set`;

async function splitOf(rows: JudgingRows, { optimize, budget }: CreateMigration): Promise<MigrationSplit> {
  const bounds = optimize === 'never' ? null : splitBounds(budget?.max_rollouts ?? usualRollouts);
  const { grouped, split } = await splitRows(rows, bounds, []);
  if (split) return split;
  const message = `needs ${leastToSearch} different rows, half of which decide, and there are ${grouped.groups.length}. Give more rows, or never`;
  throw refuse.invalid([{ pointer: '/optimize', message }]);
}

interface Searched {
  prompt: LivePrompt;
  policy: PolicySpec;
  rows: JobRows;
  split: MigrationSplit['search'];
}

/** The session of a migration, as its own create would store it. */
function sessionOf(checks: HttpDeps, body: CreateMigration, { split, ...searched }: Searched) {
  if (!split) return { session: null, warnings: [] };
  try {
    return liveSession(checks, { ...searched, split }, body);
  } catch (error) {
    throw refusalAsSent(error, [
      ['/policy_optimization/policy', '/to'],
      ['/policy_optimization', ''],
    ]);
  }
}
