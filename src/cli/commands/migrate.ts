import type { Answer, Body, Ratchet, Scorer } from '../../client/index.js';
import { ConfigError } from '../../service/config.js';
import { signed } from '../../core/math/words.js';
import { withService } from '../service/connect.js';
import { FailedJob } from '../service/errors.js';
import { intervalText, meanText, note, say, sayJson } from '../service/output.js';
import { noteJob } from '../service/pages.js';
import { inOptions } from '../task/faults.js';
import { anyFiles } from '../task/files.js';
import { checkModelName, modelOf } from '../task/model-name.js';
import { parametersOf, policyOf } from '../task/policy.js';
import { readJsonOption, readScorer } from '../task/task.js';
import { uploadFile } from '../task/upload.js';
import { printWorse } from './worse-rows.js';

export interface MigrateOptions {
  to: string;
  maxLoss?: number;
  data?: string;
  dataset?: string;
  input?: string;
  expected?: string;
  scorer?: string;
  optimize: boolean;
  proposer?: string;
  budget?: number;
  maxCost?: number;
  param?: string[];
  deploy?: boolean;
  rollout?: string;
  json?: boolean;
}

type Migration = Answer<'getMigration'>;
type Request = Body<'createMigration'>;
type Rollout = NonNullable<NonNullable<Request['deploy']>['rollout']>;

/** Moves what a name serves to another model; fails unless it is no worse there. */
export async function migrate(name: string, { json = false, ...options }: MigrateOptions): Promise<void> {
  const request = await requestOf(options);
  await withService(async (client) => {
    const rows = await rowsOf(client, options);
    const handle = await inOptions(async () => client.deployments.handle(name).migrate({ ...request, ...rows }));
    noteJob(client, handle.id);
    for (const warning of handle.created?.warnings ?? []) note(`Note: ${warning}`);
    const migration = await handle.wait({ onEvent: ({ message }) => note(`  ${message}`) });
    if (json) sayJson(migration);
    if (migration.status !== 'completed')
      throw new FailedJob(`${name} was not migrated: ${migration.error ?? migration.status}`);
    if (!json) report(name, migration);
    if (migration.verdict !== 'no_worse') throw new FailedJob(`${name} was not shown to be no worse on ${options.to}.`);
  });
}

async function requestOf(options: Omit<MigrateOptions, 'json'>): Promise<Request> {
  const { to, maxLoss, optimize, proposer, budget, maxCost, param, deploy, rollout } = options;
  if (options.data !== undefined && options.dataset !== undefined)
    throw new ConfigError('--data and --dataset: give one of them');
  await checkModelName(to, '--to');
  await checkModelName(proposer, '--proposer');
  const steps = rollout === undefined ? null : ((await readJsonOption(rollout, '--rollout')).value as Rollout);
  const limits = {
    ...(budget !== undefined && { max_rollouts: budget }),
    ...(maxCost !== undefined && { max_cost_usd: maxCost }),
  };
  return {
    to: policyOf(to, parametersOf({ ...(param && { param }) }, {}, to)),
    ...(maxLoss !== undefined && { max_loss: maxLoss }),
    ...(!optimize && { optimize: 'never' as const }),
    ...(proposer !== undefined && { proposer: modelOf(proposer) }),
    ...(Object.keys(limits).length > 0 && { budget: limits }),
    ...((deploy || steps) && { deploy: { ...(steps && { rollout: steps }) } }),
  };
}

/** The rows of options, with their scorer. */
async function rowsOf(client: Ratchet, options: Omit<MigrateOptions, 'json'>): Promise<Partial<Request>> {
  const { data, dataset, input, expected, scorer } = options;
  const id = data === undefined ? dataset : await uploadFile(client, data, anyFiles);
  // A user's JSON, which the service checks.
  const judging = scorer !== undefined && { scorer: (await readScorer(scorer, anyFiles)) as Scorer };
  if (id === undefined) return { ...judging };
  return { dataset: { dataset_id: id, ...(input && { input }), ...(expected && { expected }) }, ...judging };
}

const verdicts = {
  no_worse: 'is no worse than',
  worse: 'is worse than',
  inconclusive: 'is not shown to be as good as',
};
const prompts = { same_prompt: 'the live prompt', optimized: 'the prompt of its session' };

function report(name: string, migration: Migration): void {
  const { side, max_loss: maxLoss, worse, to, deployment_id: deployed, not_deployed: notDeployed } = migration;
  const found = side === null ? null : migration[side];
  if (!found) return;
  const { today, verdict, difference, difference_interval: interval, rows, rows_needed: needed } = found;
  say(
    `${to.provider}/${to.model} with ${prompts[side!]} ${verdicts[verdict]} today within ${maxLoss}: ${signed(difference)} (${intervalText(interval)}) on ${rows} rows.`,
  );
  say(`today ${meanText(today.reward, today.interval)}, new ${meanText(found.reward, found.interval)}`);
  if (needed !== null) say(`About ${needed} rows would decide.`);
  const lost = worse.map(({ today_reward: before, ...row }) => ({ ...row, before }));
  printWorse(lost, found.rows_worse, ['TODAY', 'NEW']);
  if (deployed !== null) say(`Deployed as ${deployed}.`);
  else if (notDeployed !== null) say(`Not deployed: ${notDeployed}`);
  say(`Next: ${nextOf(name, migration)}`);
}

/** The command that goes on from a verdict. */
function nextOf(name: string, { job_id: id, verdict, steps, side, deployment_id: deployed }: Migration): string {
  if (deployed !== null) return `ratchet watch ${deployed}`;
  if (verdict === 'no_worse') return `ratchet deploy ${id} --name ${name}`;
  const idOf = (wanted: string) => steps.find(({ step }) => step === wanted)?.job_id ?? '';
  return `ratchet compare ${idOf('today')} ${idOf(side ?? 'same_prompt')}`;
}
