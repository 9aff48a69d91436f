/** Recent requests of a name as rows, which the live prompt answers again. */
import type { TrafficFilter } from '../../../core/jobs/spec.js';
import { callerMessages, inputName, rowPlaceholders } from '../../../core/prompts/row-template.js';
import { jobRows } from '../../../datasets/routes/job-rows.js';
import { rowSource } from '../../../datasets/routes/row-source.js';
import { scorerChecks } from '../../../datasets/routes/scorer-errors.js';
import type { HttpDeps } from '../../../platform/http/deps.js';
import { ApiError } from '../../../platform/http/server/errors.js';
import { refusalAsSent } from '../../../platform/http/server/forms.js';
import { needsExpected, type ScorerSpec } from '../../../scorers/index.js';
import { durationMs } from '../../../util/duration.js';
import type { JudgingRows } from '../../deployment/routes/live-judging.js';
import type { LivePrompt } from '../../deployment/routes/live-rows.js';
import { datasetLines } from '../../deployment/routes/request-rows.js';
import { allRequests } from '../../deployment/routes/request-search.js';
import type { DeploymentRow } from '../../deployment/store/deployments.js';
import type { TrafficRequest } from '../contract/request.js';

/** Bytes of rows that a create holds in memory. */
const maxBytes = 16 * 1024 * 1024;
const columns = { input: inputName, expected: 'expected' };

export const filterOf = (traffic: TrafficRequest): TrafficFilter => ({
  outcome: traffic.outcome ?? null,
  feedback: traffic.feedback ?? null,
  minReward: traffic.min_reward ?? null,
  maxReward: traffic.max_reward ?? null,
  expected: traffic.expected,
});

interface Answered {
  live: DeploymentRow;
  provider: string;
  scorer: ScorerSpec;
}

const isInput = (name: string) => name === inputName;

/** Whether the live prompt has a text that rows would fill, though no request does. */
export const hasInputText = ({ messages }: LivePrompt): boolean => rowPlaceholders(messages, isInput).length > 0;

/** The latest requests that pass, stored with the job; null: there are none. */
export async function trafficRows(
  deps: HttpDeps,
  { live, provider, scorer }: Answered,
  traffic: TrafficRequest,
): Promise<JudgingRows | null> {
  const rows = await readRows(deps, live, traffic, needsExpected(scorer));
  if (rows.length === 0) return null;
  const path = ['traffic'];
  const source = await rowSource(deps, live.orgId, { rows, ...columns }, path);
  const fields = { dataset: columns, scorer, provider, messages: callerMessages([], isInput), promptPath: path };
  const judged = jobRows(source, scorerChecks(deps, live.orgId), fields, []);
  return { rows: judged, unseen: [], keep: source.keep };
}

async function readRows(
  { db }: HttpDeps,
  { orgId, name }: DeploymentRow,
  { limit, max_age: maxAge, expected, ...filter }: TrafficRequest,
  isExpectedNeeded: boolean,
): Promise<Record<string, unknown>[]> {
  const from = maxAge === undefined ? {} : { from: new Date(Date.now() - durationMs(maxAge)).toISOString() };
  const requests = allRequests(db, { orgId, scope: { name }, filter: { ...filter, ...from } });
  const count = { rows: 0, bytes: 0, leftOut: 0 };
  const rows: Record<string, unknown>[] = [];
  try {
    for await (const line of datasetLines(requests, { expected, limit, isExpectedNeeded, count, maxBytes }))
      rows.push(JSON.parse(line.toString()) as Record<string, unknown>);
  } catch (error) {
    if (error instanceof ApiError && error.code === 'no_requests') return [];
    throw refusalAsSent(error, [['/limit', '/traffic/limit']]);
  }
  return rows;
}

/** What a request needs to be a row, in refusals and warnings. */
export function howToKeep({ name, settings }: DeploymentRow, scorer: ScorerSpec | null): string {
  if (!settings.log || settings.log.sample_rate === 0)
    return `Keep texts of its requests: PATCH /api/harbor/deployments/${name} with log.`;
  return scorer && needsExpected(scorer)
    ? 'Report corrected answers as feedback, or set traffic.expected to corrected_or_answer.'
    : 'Wait for further requests, or widen the filter of traffic.';
}
