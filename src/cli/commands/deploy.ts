import { dirname } from 'node:path';
import type { Answer, Body } from '../../client/index.js';
import { ConfigError } from '../../service/config.js';
import { jobKinds, kindOf } from '../../core/jobs/kinds.js';
import { keptApiKey } from '../../service/keys.js';
import { likelyInput, rowPlaceholders, servedMessages } from '../../core/prompts/row-template.js';
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
  const source = await sourceOf(from, model);
  const { gate = null, rollout = null } = await readParts(options);
  await withService(async (client, service) => {
    const created = await client.createDeployment({ name, source, ...(gate && { gate }), ...(rollout && { rollout }) });
    noteJob(client, created.id);
    const deployment = await created.wait({ onEvent: ({ message }) => note(`  ${message}`) });
    if (json) sayJson(deployment);
    else printGate(deployment);
    if (deployment.status !== 'ready') throw new FailedJob(`${name} was not deployed: ${deployment.error}`);
    if (!json) printAddress(deployment, service);
    if (service.isPassing)
      note(
        `The address ends with this command. To serve ${name}, run "ratchet" in ${dirname(service.dataDir!)}: it serves what is in ${service.dataDir}.`,
      );
  });
}

async function readParts({ gate, rollout }: Pick<DeployOptions, 'gate' | 'rollout'>) {
  return {
    ...(gate !== undefined && { gate: (await readJsonOption(gate, '--gate')).value as Gate }),
    ...(rollout !== undefined && { rollout: (await readJsonOption(rollout, '--rollout')).value as Rollout }),
  };
}

/** The `source` of the request: a job by its id, otherwise a file of a prompt. */
export async function sourceOf(from: string, model: string | undefined, files: Files = anyFiles): Promise<Source> {
  const kind = kindOf(from);
  if (kind === 'evaluation' || kind === 'deployment')
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
  const { candidate, incumbent, comparison, seeds, min_reward: least, min_improvement: improvement } = gate;
  const demanded = least === null ? `an improvement of ${decimal(improvement)}` : `a mean reward of ${decimal(least)}`;
  const measured = [
    candidate && `candidate ${meanText(candidate.reward, candidate.interval)}`,
    incumbent && `incumbent ${meanText(incumbent.reward, incumbent.interval)}`,
    comparison && `difference ${decimal(comparison.difference)} (${intervalText(comparison.interval)})`,
  ];
  say(`Gate on ${seeds} seeds, at least ${demanded}: ${measured.filter(Boolean).join(', ') || 'not measured'}`);
}

function printAddress(
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
function keyFor(dataDir: string | null): string {
  return dataDir !== null && keptApiKey(dataDir) !== null ? `$(cat '${dataDir}/api-key')` : '$RATCHET_API_KEY';
}
