import { maxComponents } from '../../src/core/prompts/components.js';
import type { Message } from '../../src/core/prompts/message.js';
import { readMarkedLevers, readSystemMessages } from '../../src/rollouts/store/baseline-calls.js';
import { markLevers, readPrompts, setBaseline } from '../../src/candidates/store/candidates.js';
import type { Tx } from '../../src/platform/db/db.js';
import type { JobRef } from '../../src/jobs/store/events.js';
import { jobFailure } from '../errors.js';
import { lockOpenJob } from './spec.js';

/**
 * Takes the baseline's prompt from its calls: the spans marked as levers, else the system message.
 * The session fails if these differ between calls.
 */
export async function adoptCalledPrompt(tx: Tx, job: JobRef): Promise<void> {
  await lockOpenJob(tx, job);
  if ((await readPrompts(tx, job.jobId)).get(0)) return;
  const levers = await readMarkedLevers(tx, job.jobId, maxComponents + 1);
  if (levers.length > 0) {
    await setBaseline(tx, job.jobId, componentsOf(levers));
    await markLevers(tx, job.jobId);
    return;
  }
  const systems = await readSystemMessages(tx, job.jobId);
  const [only] = systems;
  if (systems.length !== 1 || !only) throw noPrompt(reasonOf(systems));
  await setBaseline(tx, job.jobId, [{ role: 'system', content: only }]);
}

function componentsOf(levers: { name: string; text: string }[]): Message[] {
  const names = levers.map(({ name }) => name);
  const repeated = names.find((name, index) => names.indexOf(name) < index);
  if (repeated !== undefined) {
    throw noPrompt(
      `No single prompt to start from: the text of the lever "${repeated}" differs between the baseline's calls.`,
    );
  }
  if (levers.length > maxComponents) {
    throw noPrompt(
      `The baseline's calls mark more than ${maxComponents} levers; a prompt can have at most ${maxComponents}.`,
    );
  }
  return levers.map(({ name, text }) => ({ role: 'system', content: text, name }));
}

function reasonOf(systems: readonly unknown[]): string {
  return systems.length === 0
    ? 'No prompt to start from: the baseline made no model call through inference_url.'
    : 'No single prompt to start from: system messages of the baseline are missing or differ between seeds.';
}

function noPrompt(reason: string) {
  return jobFailure(
    'initial_prompt_needed',
    `${reason} Give policy_optimization.initial_prompt, or let the container serve one in /task_info.`,
  );
}
