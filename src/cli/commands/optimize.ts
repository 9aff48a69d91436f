import { SessionHandle, type Answer, type Body, type Ratchet } from '../../client/index.js';
import { ConfigError } from '../../service/config.js';
import { withService } from '../service/connect.js';
import { note } from '../service/output.js';
import { noteJob } from '../service/pages.js';
import { inOptions } from '../task/faults.js';
import { requireWritable } from '../task/output-file.js';
import type { Prompt } from '../task/prompt-file.js';
import { sessionRequest, type LabelOptions, type SearchOptions } from '../task/requests.js';
import type { Algorithm } from '../task/search.js';
import { promptOf, readTask, type ReadTask, type TaskOptions } from '../task/task.js';
import { taskFields } from '../task/upload.js';
import { approve, confirmCost, sayPreview, type CostOptions } from './cost.js';
import { jobOf } from './jobs.js';
import { report } from './session-report.js';

export interface OptimizeOptions extends TaskOptions, LabelOptions, CostOptions {
  algorithm: Algorithm;
  out: string;
  heldout?: number;
  maxPromptTokens?: number;
  json?: boolean;
}

/** Searches a better prompt on rows, and writes it. */
export async function optimize(given: OptimizeOptions): Promise<void> {
  const { algorithm, heldout, maxPromptTokens, out, json = false, name, tag, ...costed } = given;
  const { maxCost, dryRun = false, yes = false, ...options } = costed;
  const task = await readTask(options);
  const prompt = await promptOf(task);
  const search = { algorithm, heldout, maxPromptTokens, maxCost, name, tag };
  const { previewSession } = await import('../task/preview.js');
  const preview = await previewSession(task, prompt, search);
  if (dryRun) return sayPreview(preview, json);
  await requireWritable(out, '--out');
  await approve(preview, { yes });
  await withService(async (client) => {
    const created = await inOptions(() => startSession(client, task, prompt, search));
    noteJob(client, created.session_id);
    const { warnings = [] } = created;
    for (const warning of warnings) if (!preview.warnings.includes(warning)) note(`Note: ${warning}`);
    const warned = [...preview.warnings, ...warnings];
    await report(client, created.session_id, { out, json, prompt, warned });
  });
}

interface ExtendOptions extends Pick<CostOptions, 'maxCost' | 'yes'> {
  budget?: number;
  out: string;
  json?: boolean;
}

/** Lets an ended session go on; without limits, as far as its diagnosis advises. */
export async function extend(id: string, { out, json = false, yes = false, ...given }: ExtendOptions): Promise<void> {
  await requireWritable(out, '--out');
  await withService(async (client) => {
    const session = jobOf(client, id);
    if (!(session instanceof SessionHandle)) throw new ConfigError(`${id} is no session: only sessions are extended`);
    const { progress, warnings } = await session.get();
    const limits = limitsOf(given) ?? (await advised(session, yes));
    await inOptions(() => session.extend(limits));
    noteJob(client, id);
    await report(client, id, { out, json, prompt: null, warned: warnings, from: progress.rollouts_completed });
  });
}

function limitsOf({ budget, maxCost }: Pick<ExtendOptions, 'budget' | 'maxCost'>): Body<'extendSession'> | null {
  if (budget === undefined && maxCost === undefined) return null;
  return {
    ...(budget !== undefined && { max_rollouts: budget }),
    ...(maxCost !== undefined && { max_cost_usd: maxCost }),
  };
}

/** What the diagnosis advises; without advice nothing, which the service takes or says why not. */
async function advised(session: SessionHandle, yes: boolean): Promise<Body<'extendSession'>> {
  const { diagnosis } = await session.results();
  const { label, limit, to, cost_usd: cost = null } = diagnosis?.action ?? {};
  if (!limit || to === null || to === undefined) return {};
  note(`${label}.`);
  await confirmCost({ cost_usd: cost === null ? null : { high: cost } }, { yes });
  return { [limit]: to };
}

/** Starts a session on the task's rows. */
export async function startSession(
  client: Ratchet,
  task: ReadTask,
  prompt: Prompt,
  options: SearchOptions,
): Promise<Answer<'createSession'>> {
  const body = sessionRequest(await taskFields(client, task), task, prompt, options);
  return client.request('createSession', { body });
}
