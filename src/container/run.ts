/** Runs a rollout by the user's function. */
import { json, problem, type Answer } from './answer.js';
import { callModel, ModelError, type Model } from './model.js';
import type { ContainerOptions } from './options.js';
import type { Rollout } from './request.js';

/** A container's options, tasks and prompts, read once when it is created. */
export interface Created<Task> {
  options: ContainerOptions<Task>;
  tasks: ContainerOptions<Task>['tasks'];
  /** By name. */
  initialPrompts: Readonly<Record<string, string>>;
}

/** Answers with the outcome. 5xx: a retry may help; a permanent fault is a failed rollout. */
export async function run<Task>(created: Created<Task>, rollout: Rollout, gone: AbortSignal): Promise<Answer> {
  const { maxTimeS } = rollout;
  const timeUp = new AbortController();
  const timer = setTimeout(() => timeUp.abort(new Error('the time is up')), maxTimeS * 1000);
  const signal = AbortSignal.any([gone, timeUp.signal]);
  try {
    return await Promise.race([score(created, rollout, signal), aborted(signal)]);
  } catch (error) {
    if (error instanceof ModelError && error.retryStatus !== null && !signal.aborted) {
      return { ...problem(error.retryStatus, error.message), retryAfter: error.retryAfter };
    }
    const message = error instanceof Error ? error.message : String(error);
    const feedback = timeUp.signal.aborted ? `the rollout took longer than ${maxTimeS} s` : message;
    const status = timeUp.signal.aborted ? 'timeout' : 'error';
    return outcome(rollout, status, 0, { feedback }, { status_detail: feedback });
  } finally {
    clearTimeout(timer);
  }
}

async function score<Task>(created: Created<Task>, rollout: Rollout, signal: AbortSignal): Promise<Answer> {
  const { options, tasks, initialPrompts } = created;
  const { seed, rolloutId, env } = rollout;
  const model: Model = (messages, params) => callModel(rollout, messages, params ?? {}, signal);
  const prompt = rollout.systemPrompt ?? Object.values(initialPrompts).join('\n\n');
  const prompts = { ...initialPrompts, ...rollout.prompts };
  const context = { prompt, prompts, seed, rolloutId, env, signal };
  const task = await (typeof tasks === 'function' ? tasks(seed) : tasks.at(seed % tasks.length)!);
  const { reward, feedback, details } = await options.rollout(task, model, context);
  if (!Number.isFinite(reward))
    throw new Error(`rollout() returned the reward ${String(reward)}, which is not a finite number`);
  return outcome(rollout, 'success', reward, feedback === undefined ? { ...details } : { ...details, feedback });
}

function outcome(
  rollout: Rollout,
  status: string,
  reward: number,
  details: Record<string, unknown>,
  more: { status_detail?: string } = {},
): Answer {
  return json(200, {
    trace_correlation_id: rollout.correlationId,
    rollout_id: rollout.rolloutId,
    reward_info: { outcome_reward: reward, details },
    success_status: status,
    ...more,
    inference_url: rollout.inferenceUrl,
  });
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const refuse = () => reject(signal.reason instanceof Error ? signal.reason : new Error('the rollout was stopped'));
    if (signal.aborted) refuse();
    else signal.addEventListener('abort', refuse, { once: true });
  });
}
