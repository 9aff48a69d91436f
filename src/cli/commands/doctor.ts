/** Checks of a set-up: the service, a call to each model, and a container's contract. */
import type { Answer, Ratchet, Scorer } from '../../client/index.js';
import { warnedDays } from '../../core/retirements/lookup.js';
import { defaultScorer } from '../../scorers/forms.js';
import { withService } from '../service/connect.js';
import { FailedJob } from '../service/errors.js';
import { firstFew } from '../../util/first-few.js';
import { decimal, dollars, say, sayJson, table } from '../service/output.js';
import { checkModelName, modelOf } from '../task/model-name.js';
import { readProject } from '../task/task.js';
import { evaluationTexts } from './evaluate.js';

/** `remedy`: what to do. A part that a model does not take is no failure. */
interface Check {
  name: string;
  ok: boolean;
  detail: string;
  remedy?: string;
  optional?: true;
}

/** What a named model takes. */
interface Taken {
  model: string;
  checks: Check[];
  costUsd: number | null;
}

type Retirement = Answer<'listRetirements'>['retirements'][number];

const partNames: Record<Answer<'checkModel'>['checks'][number]['part'], string> = {
  answer: 'a whole answer',
  max_tokens: 'a limit of tokens',
  system: 'a system message',
  stream: 'stream',
  stream_usage: 'usage in a stream',
  tools: 'tools',
  json_schema: 'JSON by a schema',
  json_object: 'any JSON object',
  temperature_0: 'temperature 0',
  price: 'a known price',
};

/** The first seed runs twice: equal calls should score alike. */
const seeds = [0, 0, 1];

/** Prints each check; fails if one does. */
export async function doctor(
  url: string | undefined,
  { json = false, ...options }: { model?: string; proposer?: string; json?: boolean },
): Promise<void> {
  const project = await readProject();
  const model = options.model ?? project.model ?? 'local';
  const proposer = options.proposer ?? project.proposer ?? model;
  await checkModelName(model, '--model');
  await checkModelName(proposer, '--proposer');
  await withService(async (client) => {
    // Only a model that is named is asked for all that it takes.
    const named = [...new Set([options.model, options.proposer])].filter((name) => name !== undefined);
    const others = [...new Set([model, proposer])].filter((name) => !named.includes(name));
    const taken = await Promise.all(named.map((name) => takenBy(client, name)));
    const checks = [
      ...(await serviceChecks(client)),
      await retirementCheck(client),
      await providersCheck(client),
      ...taken.map(({ checks: [first] }) => first!),
      ...(await Promise.all(others.map((name) => modelCheck(client, name)))),
      ...(url === undefined ? [] : await containerChecks(client, url, model)),
    ];
    if (json) sayJson([...checks, ...taken.flatMap(({ checks: [, ...parts] }) => parts)]);
    else {
      for (const { name, ok, detail } of checks)
        say(`${ok ? 'ok  ' : 'FAIL'}  ${name}${detail === '' ? '' : `: ${detail}`}`);
      taken.forEach(sayTaken);
    }
    const failed = checks.filter(({ ok }) => !ok).length;
    if (failed > 0) throw new FailedJob(`${failed} of ${checks.length} checks failed.`);
  });
}

async function serviceChecks(client: Ratchet): Promise<Check[]> {
  const { checks } = await client.request('getReadiness');
  return Object.entries(checks).map(([name, { ok, detail }]) => ({ name, ok, detail: detail ?? '' }));
}

/** Models of live deployments and open jobs: one that has ended fails, one that will is told. */
async function retirementCheck(client: Ratchet): Promise<Check> {
  const { retirements } = await client.retirements({ within_days: warnedDays });
  const ended = retirements.filter(({ days_left: left }) => left < 0);
  const told = [...(ended.length > 0 ? ended : retirements)].map(retirementWords);
  return { name: 'models in use stay', ok: ended.length === 0, detail: firstFew([...new Set(told)], 5) };
}

/** Providers by their latest calls: a failing one fails, a slow or throttled one is told. */
async function providersCheck(client: Ratchet): Promise<Check> {
  const { providers } = await client.health();
  const troubled = providers.filter(({ state }) => state !== 'ok');
  const told = troubled.map(({ provider, model, state, since, because }) => {
    const cause = because === null ? '' : ` (${because})`;
    return `${provider}/${model} is ${state}${cause}${since === null ? '' : ` since ${since}`}`;
  });
  const ok = !troubled.some(({ state }) => state === 'failing');
  return { name: 'providers answer as usual', ok, detail: firstFew(told, 5) };
}

function retirementWords({ kind, id, name, provider, model, shutdown_date: date, ...end }: Retirement): string {
  const next = end.replacement === null ? '' : `, the vendor names ${end.replacement}`;
  const verb = end.days_left < 0 ? 'retired' : 'retires';
  return `${provider}/${model} of ${kind} ${name ?? id} ${verb} on ${date}${next}`;
}

function sayTaken({ model, checks, costUsd }: Taken): void {
  const [, ...parts] = checks;
  if (parts.length > 0) {
    say(`\nWhat ${model} takes:`);
    const rows = parts.map(({ name, ok, detail, remedy = '' }) => [
      ok ? 'yes' : 'no',
      name.slice(`model ${model} takes `.length),
      [detail, remedy].filter(Boolean).join('. '),
    ]);
    say(table(rows));
  }
  say(`Cost of this check: ${dollars(costUsd)}`);
}

/** Asks the service to call a model for each part of a request; the first check is the answer. */
async function takenBy(client: Ratchet, model: string): Promise<Taken> {
  const policy = modelOf(model);
  const name = `model ${model} answers`;
  const detail = await unusable(client, policy.provider);
  if (detail !== null) return { model, checks: [{ name, ok: false, detail }], costUsd: 0 };
  const report = await client.request('checkModel', { body: policy });
  const checks = report.checks.map(({ part, takes, detail: said, remedy }): Check => {
    const told = { ok: takes, detail: said, ...(remedy !== null && { remedy }) };
    if (part !== 'answer') return { name: `model ${model} takes ${partNames[part]}`, ...told, optional: true };
    return { name, ok: takes, detail: remedy === null ? said : `${said}. ${remedy}` };
  });
  return { model, checks, costUsd: report.cost_usd };
}

/** Why a provider cannot be called; null: it can. */
async function unusable(client: Ratchet, provider: string): Promise<string | null> {
  const { providers } = await client.providers();
  const found = providers.find(({ name }) => name === provider);
  if (!found) return `provider ${provider} is not known; see RATCHET_PROVIDERS`;
  return found.usable ? null : (found.reason ?? `provider ${provider} is not usable`);
}

/** Calls a model once, by an evaluation of one row. */
async function modelCheck(client: Ratchet, model: string): Promise<Check> {
  const name = `model ${model} answers`;
  const policy = modelOf(model);
  const problem = await unusable(client, policy.provider);
  if (problem !== null) return { name, ok: false, detail: problem };
  const evaluation = await client.createEvaluation({
    app_id: 'doctor',
    policy,
    preflight: false,
    max_concurrent: 1,
    candidate: { messages: [{ role: 'user', content: '{{input}}' }] },
    dataset: { rows: [{ input: 'Answer with the word ok.', expected: 'ok' }] },
    scorer: defaultScorer as Scorer,
  });
  const { status, error } = await evaluation.wait();
  const row = await evaluationTexts(client, evaluation.id, 0);
  // The error of the job counts rollouts, of which nobody knows here.
  if (status !== 'completed') {
    return { name, ok: false, detail: row?.error ?? error ?? `evaluation ${evaluation.id} ${status}` };
  }
  if (!row?.output?.trim()) return { name, ok: false, detail: row?.feedback?.split('\n', 1)[0] ?? 'no output' };
  return { name, ok: true, detail: `in ${((row.latency_ms ?? 0) / 1_000).toFixed(1)} s` };
}

/** Runs a small evaluation, whose rollouts show the container's contract. */
async function containerChecks(client: Ratchet, url: string, model: string): Promise<Check[]> {
  const evaluation = await client.createEvaluation({
    app_id: 'doctor',
    env_name: 'default',
    container_url: url,
    policy: modelOf(model),
    seeds,
    max_failure_rate: 1,
    rollout_timeout: 60,
    max_concurrent: 1,
    preflight: false,
  });
  const job = await evaluation.wait();
  const { results } = await evaluation.results();
  const answered = results.filter(({ status }) => status === 'succeeded');
  const contract = {
    name: 'container answers rollouts',
    ok: job.status === 'completed' && answered.length === seeds.length,
    detail: job.error ?? results.find(({ error }) => error !== null)?.error ?? `evaluation ${evaluation.id}`,
  };
  if (answered.length === 0) return [contract];
  const traces = await Promise.all(answered.map((row) => evaluation.trace(row.trace_id)));
  const rewards = answered.map(({ reward }) => reward!);
  const [first, again] = answered.filter(({ seed }) => seed === 0).map(({ reward }) => reward);
  const slowest = Math.max(...answered.map(({ latency_ms: ms }) => ms ?? 0));
  return [
    contract,
    {
      name: 'rewards are 0 to 1',
      ok: rewards.every((reward) => reward >= 0 && reward <= 1),
      detail: rewards.map(decimal).join(', '),
    },
    {
      name: 'the same seed scores alike',
      ok: first === again,
      detail: `${decimal(first ?? null)} and ${decimal(again ?? null)}${first === again ? '' : '; searches of noisy rewards need more rollouts'}`,
    },
    {
      name: 'feedback for the proposer',
      ok: traces.every(({ feedback }) => feedback !== null && feedback.trim() !== ''),
      detail: traces[0]?.feedback?.slice(0, 100) ?? 'none: return reward_info.details.feedback',
    },
    {
      name: 'the model is called through inference_url',
      ok: traces.every(({ calls }) => calls.length > 0),
      detail: `${traces.reduce((sum, { calls }) => sum + calls.length, 0)} calls; the container must reach RATCHET_PUBLIC_URL`,
    },
    { name: 'latency', ok: true, detail: `${(slowest / 1_000).toFixed(1)} s at most` },
  ];
}
