/** Checkups of what a name serves, improvements from its requests, and their approval. */
import type { Answer, CheckupHandle, Ratchet, Scorer } from '../../client/index.js';
import { ConfigError } from '../../service/config.js';
import { signed } from '../../core/math/words.js';
import { kindOf } from '../../core/jobs/kinds.js';
import type { CommandClient } from '../service/client.js';
import { withService } from '../service/connect.js';
import { FailedJob } from '../service/errors.js';
import { intervalText, meanText, note, say, sayJson } from '../service/output.js';
import { noteJob } from '../service/pages.js';
import { inOptions } from '../task/faults.js';
import { anyFiles } from '../task/files.js';
import { checkModelName, modelOf } from '../task/model-name.js';
import { readScorer } from '../task/task.js';
import { printWorse } from './worse-rows.js';

interface SearchOptions {
  requests?: number;
  maxAge?: string;
  answersCount?: boolean;
  scorer?: string;
  proposer?: string;
  budget?: number;
  maxCost?: number;
  deploy: boolean;
  requireApproval?: boolean;
}

export interface CheckupOptions extends SearchOptions {
  improve?: 'if_worse' | 'always';
  rows: boolean;
  maxChange?: number;
}

interface Shown {
  json?: boolean;
}

type Checkup = Answer<'getCheckup'>;

/** Checks a name up; fails if it is worse, unless a better prompt was deployed. */
export async function checkup(name: string, { json = false, ...options }: CheckupOptions & Shown): Promise<void> {
  const request = await checkupRequest(options);
  await follow(name, json, (client) => client.deployments.handle(name).checkUp(request));
}

/** Searches a better prompt on recent requests. */
export async function improve(name: string, { json = false, ...options }: SearchOptions & Shown): Promise<void> {
  const { budget, ...request } = await searchRequest(options);
  const limits = { ...budget, ...dollarsOf(options) };
  const body = { ...request, ...(Object.keys(limits).length > 0 && { budget: limits }) };
  await follow(name, json, (client) => client.deployments.handle(name).improve(body));
}

/** Decides on the winner of a checkup. */
export async function approve(
  id: string,
  { reject = false, reason = null, json = false }: { reject?: boolean; reason?: string | null } & Shown,
): Promise<void> {
  if (kindOf(id) !== 'checkup') throw new ConfigError(`${id.slice(0, 100)} is no id of a checkup`);
  await withService(async (client) => {
    const decided = await client.checkups.handle(id).decide({ approve: !reject, reason });
    if (json) return sayJson(decided);
    const { approval, deployment_id: deployed } = decided;
    say(deployed === null ? `${id} is ${approval}.` : `${id} is ${approval}: deployed as ${deployed}.`);
    if (deployed !== null) say(`Next: ratchet rollout ${decided.name}`);
  });
}

/** The request of options. */
export async function checkupRequest(options: CheckupOptions) {
  const { improve: when, rows, maxChange, proposer, budget: rollouts, deploy, requireApproval } = options;
  const ofSearch = { '--proposer': proposer, '--budget': rollouts, '--require-approval': requireApproval };
  const needless = Object.entries({ ...ofSearch, ...(!deploy && { '--no-deploy': true }) }).find(([, value]) => value);
  if (when === undefined && needless)
    throw new ConfigError(`${needless[0]}: is of the search for a better prompt, which --improve asks for`);
  const { traffic, scorer, ...search } = await searchRequest(options);
  return {
    ...(!rows && { rows: null }),
    ...(traffic && { traffic }),
    ...(scorer !== undefined && { scorer }),
    ...(maxChange !== undefined && { max_change: maxChange }),
    ...(when && { improve: { when, ...search } }),
    ...(options.maxCost !== undefined && { budget: dollarsOf(options) }),
  };
}

const dollarsOf = ({ maxCost }: SearchOptions) => (maxCost === undefined ? {} : { max_cost_usd: maxCost });

async function searchRequest(options: SearchOptions) {
  const { requests, maxAge, answersCount, scorer, proposer, budget, deploy, requireApproval } = options;
  await checkModelName(proposer, '--proposer');
  const traffic = {
    ...(requests !== undefined && { limit: requests }),
    ...(maxAge !== undefined && { max_age: maxAge }),
    ...(answersCount && { expected: 'corrected_or_answer' as const }),
  };
  return {
    ...(Object.keys(traffic).length > 0 && { traffic }),
    // A user's JSON, which the service checks.
    ...(scorer !== undefined && { scorer: (await readScorer(scorer, anyFiles)) as Scorer }),
    ...(proposer !== undefined && { proposer: modelOf(proposer) }),
    ...(budget !== undefined && { budget: { max_rollouts: budget } }),
    ...(!deploy && { deploy: null }),
    ...(deploy && requireApproval && { deploy: { require_approval: true } }),
  };
}

/** Follows a new checkup to its end, and prints what it has found. */
async function follow(name: string, json: boolean, create: (client: Ratchet) => Promise<CheckupHandle>): Promise<void> {
  await withService(async (client: CommandClient) => {
    const handle = await inOptions(() => create(client));
    noteJob(client, handle.id);
    for (const warning of handle.created?.warnings ?? []) note(`Note: ${warning}`);
    const done = await handle.wait({ onEvent: ({ message }) => note(`  ${message}`) });
    if (json) sayJson(done);
    else report(name, done);
    if (done.status !== 'completed') throw new FailedJob(`${name} was not checked: ${done.error ?? done.status}`);
    if (done.verdict === 'worse' && done.deployment_id === null)
      throw new FailedJob(`What ${name} serves is worse than before, and no better prompt was deployed.`);
  });
}

function report(name: string, checkup: Checkup): void {
  const { rows, traffic, improvement, worse, approval, deployment_id: deployed, not_deployed: reason } = checkup;
  printPart('Rows', rows);
  printPart('Recent requests', traffic);
  const lost = worse.map(({ baseline_reward: before, ...row }) => ({ ...row, before }));
  printWorse(lost, rows?.rows_worse ?? 0, ['THEN', 'NOW']);
  if (improvement) {
    const { verdict, reward, interval, difference, difference_interval: range, today, rows: count } = improvement;
    say(`New prompt: ${verdict}: ${signed(difference)} (${intervalText(range)}) on ${count} requests`);
    say(`  live ${meanText(today.reward, today.interval)}, new ${meanText(reward, interval)}`);
  }
  if (deployed !== null) say(`Deployed as ${deployed}.`);
  else if (reason !== null) say(`Not deployed: ${reason}`);
  else if (approval === 'pending') say('It is deployed once somebody approves it.');
  const next = nextOf(name, checkup);
  if (next !== null) say(`Next: ${next}`);
}

function printPart(title: string, part: Checkup['rows']): void {
  if (!part) return;
  const { verdict, reward, interval, rows, baseline, difference, difference_interval: range } = part;
  if (!baseline || difference === null || !range) {
    say(`${title}: ${verdict}: ${meanText(reward, interval)} on ${rows}; later checkups compare with it`);
    return;
  }
  say(`${title}: ${verdict}: ${signed(difference)} (${intervalText(range)}) on ${rows}`);
  say(`  then ${meanText(baseline.reward, baseline.interval)}, now ${meanText(reward, interval)}`);
}

/** The command that goes on from a checkup; null: there is nothing to do. */
function nextOf(name: string, { job_id: id, verdict, improve, approval, deployment_id: deployed }: Checkup) {
  if (deployed !== null) return `ratchet rollout ${name}`;
  if (approval === 'pending') return `ratchet approve ${id}`;
  return verdict === 'worse' && improve === null ? `ratchet improve ${name}` : null;
}
