import { dirname } from 'node:path';
import type { Answer, Body, Ratchet } from '../../client/index.js';
import { ConfigError } from '../../service/config.js';
import { unitOf } from '../../core/jobs/unit.js';
import { counted, signed } from '../../core/math/words.js';
import { jobKinds, kindOf } from '../../core/jobs/kinds.js';
import { keptApiKey } from '../../service/keys.js';
import { likelyInput, rowPlaceholders, servedMessages } from '../../core/prompts/row-template.js';
import type { CommandClient } from '../service/client.js';
import { withService, type ServiceOfCommand } from '../service/connect.js';
import { FailedJob } from '../service/errors.js';
import { decimal, intervalText, meanText, note, say, sayJson } from '../service/output.js';
import { noteJob } from '../service/pages.js';
import { anyFiles, type Files } from '../task/files.js';
import { checkModelName } from '../task/model-name.js';
import { parametersOf, policyOf } from '../task/policy.js';
import { readJsonOption, readProject, readPrompt } from '../task/task.js';

export interface DeployOptions {
  name: string;
  model?: string;
  gate?: string;
  rollout?: string;
  json?: boolean;
}

type Deployment = Answer<'getDeployment'>;
type Source = Body<'createDeployment'>['source'];
/** Read as JSON; the service checks it. */
export type Gate = NonNullable<Body<'createDeployment'>['gate']>;
export type Rollout = NonNullable<Body<'createDeployment'>['rollout']>;

/** Serves a job's best prompt, or that of a file, under a name; waits for gate and rollout. */
export async function deploy(from: string, { name, model, json = false, ...options }: DeployOptions): Promise<void> {
  const isMigration = kindOf(from) === 'migration';
  if (isMigration && model !== undefined) throw new ConfigError('--model: the migration has its own');
  const known = isMigration ? null : await sourceOf(from, model);
  const { gate = null, rollout = null } = await readParts(options);
  await withService(async (client, service) => {
    const source = known ?? (await sourceOfMigration(client, from));
    const body = { name, source, ...(gate && { gate }), ...(rollout && { rollout }) };
    const deployment = await deployed(client, body, (ended) => (json ? sayJson(ended) : printGate(ended)));
    if (!json) printAddress(deployment, service);
    notePassing(name, service);
  });
}

async function readParts({ gate, rollout }: Pick<DeployOptions, 'gate' | 'rollout'>) {
  return {
    ...(gate !== undefined && { gate: (await readJsonOption(gate, '--gate')).value as Gate }),
    ...(rollout !== undefined && { rollout: (await readJsonOption(rollout, '--rollout')).value as Rollout }),
  };
}

/** Creates a deployment and waits for its end, which `show` gets; throws if it does not serve. */
export async function deployed(
  client: CommandClient,
  body: Body<'createDeployment'>,
  show: (ended: Deployment) => void,
): Promise<Deployment> {
  const created = await client.createDeployment(body);
  noteJob(client, created.id);
  const deployment = await created.wait({ onEvent: ({ message }) => note(`  ${message}`) });
  show(deployment);
  if (deployment.status !== 'ready') throw new FailedJob(`${body.name} was not deployed: ${deployment.error}`);
  return deployment;
}

/** Says how to keep serving a name, of a service that ends with the command. */
export function notePassing(name: string, { isPassing, dataDir }: ServiceOfCommand): void {
  if (isPassing)
    note(
      `The address ends with this command. To serve ${name}, run "ratchet" in ${dirname(dataDir!)}: it serves what is in ${dataDir}.`,
    );
}

/** What a migration has found: the live prompt on the new model, or the winner of its session. */
async function sourceOfMigration(client: Ratchet, id: string): Promise<Source> {
  const { side, steps, deployment, to, status } = await client.migrations.handle(id).get();
  if (side === null) throw new FailedJob(`The migration ${id} is ${status} and has found no prompt.`);
  const session = steps.find(({ step }) => step === 'session');
  return side === 'optimized' ? { session_id: session!.job_id } : { deployment, policy: to };
}

/** The `source` of the request: a job by its id, otherwise a file of a prompt. */
export async function sourceOf(from: string, model: string | undefined, files: Files = anyFiles): Promise<Source> {
  const kind = kindOf(from);
  if (kind === 'evaluation' || kind === 'deployment' || kind === 'migration' || kind === 'checkup')
    throw new ConfigError(`${from} is no session, graph job or file of a prompt`);
  if (kind !== null && model !== undefined) throw new ConfigError(`--model: the ${jobKinds[kind].noun} has its own`);
  if (kind === 'session') return { session_id: from };
  if (kind === 'graph') return { graph_job_id: from };
  // Callers bring their own input.
  const prompt = await readPrompt(from, { option: 'the source', files });
  const messages = servedMessages(prompt.messages, likelyInput);
  const [placeholder] = rowPlaceholders(messages, likelyInput);
  if (placeholder !== undefined || messages.length === 0)
    throw new ConfigError(
      placeholder === undefined
        ? `${from}: has only placeholders, so there is nothing to serve`
        : `${from}: {{${placeholder}}} is inside a text, but callers send their input as a message of its own; put it into a user message that is only {{${placeholder}}}`,
    );
  const project = await readProject(files);
  const answering = model ?? project.model ?? 'local';
  await checkModelName(answering, '--model');
  return { messages, policy: policyOf(answering, parametersOf({}, project.policy ?? {}, answering)) };
}

function printGate({ gate }: Deployment): void {
  if (!gate) return;
  const { candidate, incumbent, comparison, seeds, dataset, min_reward: least, min_improvement: improvement } = gate;
  const demanded = least === null ? `an improvement of ${decimal(improvement)}` : `a mean reward of ${decimal(least)}`;
  const measured = [
    candidate && `candidate ${meanText(candidate.reward, candidate.interval)}`,
    incumbent && `incumbent ${meanText(incumbent.reward, incumbent.interval)}`,
    comparison && `difference ${signed(comparison.difference)} (${intervalText(comparison.interval)})`,
  ];
  const on = counted(seeds, unitOf({ kind: 'deployment', rows: dataset }));
  say(`Gate on ${on}, at least ${demanded}: ${measured.filter(Boolean).join(', ') || 'not measured'}`);
}

export function printAddress(
  { id, name, live, name_chat_completions_url: url }: Deployment,
  { dataDir, isPassing }: ServiceOfCommand,
): void {
  const base = `${url.split(jobKinds.deployment.path)[0]}/v1`;
  if (isPassing) return say(`${name} ${live ? 'is' : 'is no longer'} ${id}.`);
  say(`${name} ${live ? 'serves' : 'no longer serves'} ${id} at`);
  say(`  ${base}`);
  say('Call it with any OpenAI client, or with curl:');
  say(`  curl ${base}/chat/completions -H "Authorization: Bearer ${keyFor(dataDir)}" \\`);
  say(
    `    -H 'Content-Type: application/json' -d '{"model": "${name}", "messages": [{"role": "user", "content": "…"}]}'`,
  );
}

/** How a shell gets the key: the embedded service keeps its own in a file. */
export function keyFor(dataDir: string | null): string {
  return dataDir !== null && keptApiKey(dataDir) !== null ? `$(cat '${dataDir}/api-key')` : '$RATCHET_API_KEY';
}
