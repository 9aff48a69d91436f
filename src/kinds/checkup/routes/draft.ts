import type { Labels } from '../../../contracts/labels.js';
import type { CheckedRows, CheckupSpec, SessionSpec } from '../../../core/jobs/spec.js';
import type { PolicySpec } from '../../../core/jobs/policy.js';
import { splitBounds, type SeedSplit } from '../../../core/search/split.js';
import { checkedForCaller } from '../../../access/routes/provider-keys.js';
import { scorerChecks, scorerErrors } from '../../../datasets/routes/scorer-errors.js';
import { labelsOf } from '../../../jobs/routes/labels.js';
import { budgetErrors, providerErrors } from '../../../jobs/routes/specs.js';
import type { HttpDeps } from '../../../platform/http/deps.js';
import { ApiError, refuse } from '../../../platform/http/server/errors.js';
import { refusalAsSent } from '../../../platform/http/server/forms.js';
import type { Tx } from '../../../platform/db/db.js';
import { judgesOf, scorerSpec, type ScorerSpec } from '../../../scorers/index.js';
import { canarySchema } from '../../deployment/contract/canary.js';
import { policyFromSnapshot } from '../../deployment/contract/snapshot.js';
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
import type { LivePrompt, LiveRows } from '../../deployment/routes/live-rows.js';
import type { DeploymentRow } from '../../deployment/store/deployments.js';
import type { CreateCheckup, TrafficRequest } from '../contract/request.js';
import { filterOf, hasInputText, howToKeep, trafficRows } from './traffic.js';

const purpose = {
  verb: 'Check up',
  code: 'not_checkable',
  advice: 'Evaluate it in a container: POST /api/v1/offline/jobs with container_url.',
} as const;

export interface CheckupDraft {
  spec: CheckupSpec;
  labels: Labels;
  warnings: string[];
  webhookUrl: string | null | undefined;
  /** Rollouts at most, without repeated rows. */
  rollouts: number;
  /** Stores the rows of traffic and keeps the others, in the transaction of the job. */
  prepare(tx: Tx): Promise<void>;
}

/** The live deployment, as a draft reads it. */
interface Live {
  live: DeploymentRow;
  prompt: LivePrompt;
  policy: PolicySpec;
  provider: string;
  own: LiveRows | null;
}

/** Rows of a part with those on which a session searches. */
interface Part {
  judging: JudgingRows;
  checked: CheckedRows;
  search: SeedSplit | null;
}

/**
 * A checkup of what a name serves; needs no HTTP request. Throws before anything is stored if it
 * cannot run.
 */
export async function draftCheckup(
  deps: HttpDeps,
  caller: { orgId: string; keyId: string | null },
  live: DeploymentRow,
  body: CreateCheckup,
): Promise<CheckupDraft> {
  const checks = await checkedForCaller(deps, { caller });
  const prompt = await livePrompt(deps, live, purpose);
  const policy = policyFromSnapshot(prompt.policy);
  requireProviders(checks, live, policy, body);
  const known: Live = { live, prompt, policy, provider: policy.provider, own: await ownRows(checks, live) };
  const warnings: string[] = [];
  requirePrices(policy, body, []);
  const rows = await rowsPart(checks, known, body);
  const traffic = await trafficPart(checks, known, body, warnings);
  if (!rows && !traffic) throw nothingToCheck(live, body);
  requirePrices(policy, body, [rows, traffic]);
  const improve = body.improve && traffic ? improveOf(checks, known, traffic, body, warnings) : null;
  const { labels, warnings: ofLabels } = labelsOf({ ...body, name: live.name });
  const parts = [rows, traffic].filter((part) => part !== null);
  return {
    spec: {
      kind: 'checkup',
      name: live.name,
      deploymentId: live.id,
      snapshotId: live.snapshotId!,
      policy,
      container: null,
      parts: { rows: rows?.checked ?? null, traffic: traffic?.checked ?? null },
      filter: traffic && filterOf(traffic.request),
      maxChange: body.max_change,
      maxCostUsd: body.budget?.max_cost_usd ?? null,
      improve,
    },
    labels,
    warnings: [
      ...ofLabels,
      ...warnings,
      ...parts.flatMap(({ judging }) => judging.rows.warnings),
      ...(rows ? reachWarnings(countOf(rows), body.max_change, 'max_change') : []),
    ],
    webhookUrl: body.webhook_url,
    rollouts: countOf(rows) + countOf(traffic) * (improve ? 2 : 1) + (improve?.session.search.maxRollouts ?? 0),
    async prepare(tx) {
      for (const { judging } of parts) await judging.keep(tx);
    },
  };
}

const countOf = (part: Part | null): number => part?.checked.gate.seeds.length ?? 0;

function requireProviders(checks: HttpDeps, { name }: DeploymentRow, policy: PolicySpec, { improve }: CreateCheckup) {
  const errors = [
    ...providerErrors({ ...policy.params, ...policy }, [], checks).map(({ message }) => ({
      pointer: '',
      message: `cannot ask what ${name} serves: ${message}`,
    })),
    ...(improve?.proposer ? providerErrors(improve.proposer, ['improve', 'proposer'], checks) : []),
  ];
  if (errors.length > 0) throw refuse.invalid(errors);
}

/** Dollars are refused where the price of a model is unknown. */
function requirePrices(policy: PolicySpec, { budget, improve }: CreateCheckup, parts: (Part | null)[]): void {
  if (budget?.max_cost_usd === undefined) return;
  const judges = parts.flatMap((part) => (part ? judgesOf(part.checked.rows.scorer) : []));
  const errors = budgetErrors({ policy, proposer: improve?.proposer }, judges, ['budget', 'max_cost_usd']);
  if (errors.length > 0) throw refuse.invalid(errors);
}

async function rowsPart(checks: HttpDeps, known: Live, { rows, max_concurrent }: CreateCheckup): Promise<Part | null> {
  if (rows === null) return null;
  const { own } = known;
  const judging = rows
    ? await requestedRows(checks, known, { ...rows, own }, ['rows'])
    : own && (await judgingRowsOf(checks, known, own));
  if (!judging) return null;
  const { split } = await splitRows(judging, null, ['rows']);
  const checked = { rows: judging.rows.spec, gate: gateOf(split!.deciding, judging.rows, max_concurrent) };
  return { judging, checked, search: null };
}

type TrafficPart = Part & { request: TrafficRequest };

/** Traffic that was not asked for and cannot be checked is left out, with a warning. */
async function trafficPart(
  checks: HttpDeps,
  known: Live,
  body: CreateCheckup,
  warnings: string[],
): Promise<TrafficPart | null> {
  const { live } = known;
  if (body.traffic === null) {
    if (!body.improve) return null;
    throw refuse.invalid([{ pointer: '/traffic', message: 'must not be null with improve, which searches on it' }]);
  }
  const isAsked = body.traffic !== undefined || !!body.improve;
  const needed = isAsked && !body.improve ? 1 : leastToSearch;
  const leaveOut = (why: string) => {
    warnings.push(`Traffic of ${live.name} is not checked: ${why}`);
    return null;
  };
  if (hasInputText(known.prompt)) {
    const why = 'the live prompt has {{input}} as a plain text, which a row would fill';
    if (isAsked) throw refuse.invalid([{ pointer: '/traffic', message: `cannot be rows: ${why}` }]);
    return leaveOut(`${why}.`);
  }
  const scorer = scorerOf(checks, known, body);
  if (!scorer) {
    const message = `is required: ${live.name} has no judge, and was not judged by rows`;
    if (isAsked) throw refuse.invalid([{ pointer: '/scorer', message }]);
    return leaveOut('it has no scorer. Set judge, or give scorer.');
  }
  const request = body.traffic ?? { limit: 100, expected: 'corrected' };
  const judging = await trafficRows(checks, { ...known, scorer }, request);
  const bounds = body.improve ? splitBounds(body.improve.budget?.max_rollouts ?? usualRollouts) : null;
  const { grouped, split } = judging ? await splitRows(judging, bounds, ['traffic']) : { grouped: null, split: null };
  const found = grouped?.groups.length ?? 0;
  if (!judging || !split || found < needed) {
    if (isAsked) throw tooFew(live, scorer, { found, needed });
    return leaveOut(`it has ${found} different requests that can be rows, of ${needed}. ${howToKeep(live, scorer)}`);
  }
  const checked = { rows: judging.rows.spec, gate: gateOf(split.deciding, judging.rows, body.max_concurrent) };
  return { judging, checked, search: split.search, request };
}

/** The scorer of traffic; null: there is none. */
function scorerOf(checks: HttpDeps, { live, provider, own }: Live, { scorer }: CreateCheckup): ScorerSpec | null {
  const asked = scorer ?? live.settings.judge?.scorer;
  const spec = asked ? scorerSpec(asked, provider) : (own?.rows.scorer ?? null);
  const errors = spec ? scorerErrors(spec, provider, ['scorer'], scorerChecks(checks, live.orgId)) : [];
  if (errors.length > 0) throw refuse.invalid(errors);
  return spec;
}

function tooFew(live: DeploymentRow, scorer: ScorerSpec | null, counts: { found: number; needed: number }): ApiError {
  const { found, needed } = counts;
  const detail = `${live.name} has ${found} different requests that can be rows, and ${needed} are needed. ${howToKeep(live, scorer)}`;
  return new ApiError(409, 'too_few_requests', detail, { extra: counts });
}

function nothingToCheck(live: DeploymentRow, { rows, traffic }: CreateCheckup): ApiError {
  if (rows === null && traffic === null)
    return refuse.invalid([
      { pointer: '', message: 'must not have both rows and traffic null: nothing is left to check' },
    ]);
  const detail = `${live.name} was not judged by rows, and no requests of it can be checked. Give rows, or a scorer. ${howToKeep(live, null)}`;
  return new ApiError(409, 'too_few_requests', detail, { extra: { found: 0, needed: leastToSearch } });
}

function improveOf(
  checks: HttpDeps,
  { prompt, policy }: Live,
  { judging, search }: TrafficPart,
  { improve, budget, max_concurrent }: CreateCheckup,
  warnings: string[],
): CheckupSpec['improve'] {
  const { when, proposer, budget: limits, deploy } = improve!;
  const searched = { prompt, policy, rows: judging.rows, split: search! };
  const { session, warnings: ofSession } = sessionOf(checks, searched, {
    proposer,
    budget: { ...limits, ...budget },
    max_concurrent,
  });
  warnings.push(...ofSession);
  return { when, session, deploy: deploy === null ? null : deployOf(deploy ?? {}) };
}

function sessionOf(...asked: Parameters<typeof liveSession>): { session: SessionSpec; warnings: string[] } {
  try {
    return liveSession(...asked);
  } catch (error) {
    throw refusalAsSent(error, [
      ['/policy_optimization/budget/max_cost_usd', '/budget/max_cost_usd'],
      ['/policy_optimization/policy', ''],
      ['/policy_optimization', '/improve'],
    ]);
  }
}

type DeployRequest = NonNullable<NonNullable<CreateCheckup['improve']>['deploy']>;

function deployOf({ reason, rollout, require_approval = false }: Partial<DeployRequest>) {
  const plan = rollout ?? canarySchema.parse({ until: 'decided' });
  return { reason: reason ?? null, canary: canaryPlan(plan), requireApproval: require_approval };
}
