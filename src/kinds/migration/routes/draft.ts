import type { FastifyRequest } from 'fastify';
import { isDeepStrictEqual } from 'node:util';
import type { CreateMigration } from '../contract/migration.js';
import type { MigrationSpec, SessionSpec } from '../../../core/jobs/spec.js';
import type { PolicySpec } from '../../../core/jobs/policy.js';
import { leastRowsToSplit, splitForMigration, type MigrationSplit } from '../../../core/migrations/split.js';
import { leastRows } from '../../../core/migrations/verdict.js';
import { groupRows, groupWarnings } from '../../../core/prompts/row-groups.js';
import { callerMessages, columnFinder, inputName, rowPlaceholders } from '../../../core/prompts/row-template.js';
import { splitBounds } from '../../../core/search/split.js';
import { scorerSpec } from '../../../scorers/index.js';
import { checkedForCaller } from '../../../access/routes/provider-keys.js';
import { categoriesOf, checkExpected, jobRows, rowContents, type JobRows } from '../../../datasets/routes/job-rows.js';
import { formWarnings } from '../../../datasets/routes/row-warnings.js';
import { rowSource, type RowSource } from '../../../datasets/routes/row-source.js';
import { scorerChecks, scorerErrors } from '../../../datasets/routes/scorer-errors.js';
import { policySpec, providerErrors, sessionSpec } from '../../../jobs/routes/specs.js';
import type { HttpDeps } from '../../../platform/http/deps.js';
import { ApiError, refuse } from '../../../platform/http/server/errors.js';
import { refusalAsSent } from '../../../platform/http/server/forms.js';
import { canaryPlan } from '../../deployment/routes/canary-plan.js';
import { policyFromSnapshot } from '../../deployment/contract/snapshot.js';
import type { DeploymentRow } from '../../deployment/store/deployments.js';
import { readSnapshot } from '../../deployment/store/snapshots.js';
import { optimizationFieldsSchema } from '../../session/contract/create.js';
import { readLiveRows, whyNotByRows, type LivePrompt, type LiveRows } from './live-rows.js';

/** The most rows of an evaluation. */
const maxRows = 10_000;
/** The session's budget where the request names none, and its proposals per generation. */
const usualRollouts = 200;
const usualSearch = { population_size: 2, generations: 200 };

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
  const prompt = await livePrompt(deps, live);
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
  const { rows, keep, unseen } = await deciding(checks, request, { live, body, prompt, policy });
  const split = await splitOf(rows, unseen, body);
  await checkExpected(
    rows,
    [...split.deciding, ...(split.search?.train ?? []), ...(split.search?.evaluation ?? [])],
    [],
  );
  const { session, warnings: ofSession } = await sessionOf(checks, { body, prompt, policy, rows, split });
  return {
    spec: {
      kind: 'migration',
      name: live.name,
      deploymentId: live.id,
      snapshotId: live.snapshotId!,
      policy,
      container: null,
      rows: rows.spec,
      gate: {
        seeds: split.deciding,
        inputs: rows.messages,
        maxConcurrent: body.max_concurrent,
        rolloutTimeoutS: 120,
        maxFailureRate: 0.5,
        preflight: true,
      },
      maxLoss: body.max_loss,
      optimize: body.optimize,
      session,
      deploy: body.deploy ? deployOf(body.deploy) : null,
    },
    warnings: [...rows.warnings, ...ofSession, ...reachWarnings(split.deciding.length, body.max_loss)],
    rollouts: split.deciding.length * (session ? 3 : 2) + (session?.search.maxRollouts ?? 0),
    keep,
  };
}

async function livePrompt({ db }: HttpDeps, { id, name, live, orgId, snapshotId }: DeploymentRow): Promise<LivePrompt> {
  if (!live) {
    const detail = `Deployment ${id} does not serve ${name}. Migrate the name, or give its label production to this version first.`;
    throw new ApiError(409, 'deployment_not_live', detail);
  }
  const { content } = (await db.org(orgId, (tx) => readSnapshot(tx, snapshotId!)))!;
  const reason = whyNotByRows(content);
  if (reason === null) return content as LivePrompt;
  const detail = `${name} serves ${reason}, which rows cannot judge. Create a deployment of it with the new model and a gate with container_url.`;
  throw new ApiError(409, 'not_migratable', detail);
}

/** The new model with the live parameters that the request leaves. */
function policyOf({ policy }: LivePrompt, { to }: CreateMigration): PolicySpec {
  const { params } = policyFromSnapshot(policy);
  const { model, provider, params: given } = policySpec(to);
  const kept = Object.entries({ ...params, ...given }).filter(([, value]) => value !== null);
  return { model, provider, params: Object.fromEntries(kept) };
}

interface Asked {
  live: DeploymentRow;
  body: CreateMigration;
  prompt: LivePrompt;
  policy: PolicySpec;
}

/** The rows of the request, else those of what is live. */
async function deciding(
  deps: HttpDeps,
  request: FastifyRequest,
  { live, body, prompt, policy }: Asked,
): Promise<{ rows: JobRows; unseen: number[]; keep: RowSource['keep'] }> {
  const { orgId } = request.caller;
  const checks = scorerChecks(deps, orgId);
  const own = await deps.db.org(orgId, (tx) => readLiveRows(tx, live.id));
  if (!body.dataset) {
    if (!own) throw refuse.invalid([{ pointer: '/dataset', message: noRows(live) }]);
    const errors = scorerErrors(own.rows.scorer, policy.provider, ['scorer'], checks);
    if (errors.length > 0) throw refuse.invalid(errors);
    return ofLive(deps, orgId, own);
  }
  const { dataset } = body;
  const source = await rowSource(deps, orgId, dataset, ['dataset']);
  const columnOf = columnFinder(
    source.dataset.columns.map(({ name }) => name),
    dataset.input,
  );
  const isInput = (name: string) => name === inputName || columnOf(name) !== null;
  const [inside] = rowPlaceholders(prompt.messages, isInput);
  if (inside !== undefined) {
    const message = `has a column for {{${inside}}}, which stands in the live prompt as a plain text: rename the column`;
    throw refuse.invalid([{ pointer: '/dataset', message }]);
  }
  const scorer = body.scorer ? scorerSpec(body.scorer, policy.provider) : own?.rows.scorer;
  if (!scorer)
    throw refuse.invalid([{ pointer: '/scorer', message: `is required: ${live.name} was not judged by rows` }]);
  const messages = callerMessages([], isInput);
  const fields = { dataset, scorer, provider: policy.provider, messages, promptPath: ['dataset'] };
  const rows = jobRows(source, checks, fields, []);
  rows.warnings.push(...(await formWarnings(rows)));
  return { rows, unseen: [], keep: source.keep };
}

const noRows = ({ name }: DeploymentRow) =>
  `is required, with scorer: ${name} was deployed without a gate on rows, and not from a session on rows. Its kept requests can be made a data set`;

async function ofLive(deps: HttpDeps, orgId: string, { rows: spec, inputs: messages, unseen }: LiveRows) {
  const wanted = { dataset_id: spec.datasetId, input: 'input', expected: 'expected' };
  const source = await rowSource(deps, orgId, wanted, ['dataset']);
  const rows: JobRows = { source, spec, messages, warnings: [] };
  return { rows, unseen, keep: source.keep };
}

async function splitOf(
  rows: JobRows,
  unseen: number[],
  { optimize, budget }: CreateMigration,
): Promise<MigrationSplit> {
  const { numRows } = rows.spec;
  const grouped = groupRows(await rowContents(rows));
  const known = { groups: grouped.groups, numRows, categories: await categoriesOf(rows), unseen };
  const bounds = optimize === 'never' ? null : splitBounds(budget?.max_rollouts ?? usualRollouts);
  const split = splitForMigration(known, bounds, maxRows);
  if (!split) {
    const message = `needs ${leastRowsToSplit} different rows, half of which decide, and there are ${grouped.groups.length}. Give more rows, or never`;
    throw refuse.invalid([{ pointer: '/optimize', message }]);
  }
  const { deciding: rest, search } = split;
  rows.warnings.push(...groupWarnings(grouped, 'row', search ? [search.train, search.evaluation, rest] : [rest]));
  return split;
}

/** The session of a migration, as its own create would store it. */
async function sessionOf(
  checks: HttpDeps,
  { body, prompt, policy, rows, split }: Omit<Asked, 'live'> & { rows: JobRows; split: MigrationSplit },
): Promise<{ session: SessionSpec | null; warnings: string[] }> {
  if (!split.search) return { session: null, warnings: [] };
  const { provider, model, params } = policy;
  const wanted = optimizationFieldsSchema.parse({
    algorithm: 'gepa',
    gepa: usualSearch,
    policy: { ...params, provider, model },
    ...(body.proposer && { proposer: body.proposer }),
    budget: { max_rollouts: usualRollouts, ...body.budget },
    max_concurrent: body.max_concurrent,
  });
  const messages = [...prompt.messages, ...rows.messages];
  const { spec } = rows;
  try {
    const request = { ...wanted, dataset: undefined };
    const session = sessionSpec(request, checks, { spec, messages, split: split.search, warnings: [] });
    const demos = prompt.demos.length === 0 ? [] : [noDemos];
    return { session, warnings: demos };
  } catch (error) {
    throw refusalAsSent(error, [
      ['/policy_optimization/policy', '/to'],
      ['/policy_optimization', ''],
    ]);
  }
}

const noDemos =
  'The session begins without the demonstrations of the live prompt, and chooses its own; the comparison of the live prompt has them.';

/** Warns where even equal rewards on all rows cannot show that the loss is small enough. */
function reachWarnings(count: number, maxLoss: number): string[] {
  const least = leastRows(maxLoss);
  if (count >= least) return [];
  return [
    `${count} rows decide. Right and wrong answers on so few rows show a loss of at most ${maxLoss} only if the new model is better; ${least} equal rows would show it. Give more rows or a larger max_loss.`,
  ];
}
