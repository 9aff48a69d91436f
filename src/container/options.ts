/** What a user's container is made of. This file's types are public: they name no type of Node. */
import type { Model } from './model.js';

/**
 * Context of a rollout. `prompt`: the candidate's system prompt, else `initialPrompt`; several are
 * joined. `prompts`: each prompt by its name, a single one as `system`.
 */
export interface RolloutContext {
  prompt: string;
  prompts: Record<string, string>;
  seed: number;
  rolloutId: string;
  env: { name: string | null; config: Record<string, unknown> };
  /** Aborted on time-out or when the caller disconnects; model calls obey it already. */
  signal: AbortSignal;
}

/**
 * A finite reward (best: 1 by convention) and feedback for the next prompt. `details.expected`: the
 * correct answer, which a session may show as an example in other rollouts.
 */
export interface Score {
  reward: number;
  feedback?: string;
  details?: Record<string, unknown>;
}

export interface ContainerOptions<Task> {
  name: string;
  /** The tasks (index: seed modulo their number), or a function from seed to task. */
  tasks: readonly Task[] | ((seed: number) => Task | Promise<Task>);
  /** The initial prompt, or several by name, all optimized: `{plan: '…', answer: '…'}`. */
  initialPrompt: string | Readonly<Record<string, string>>;
  /** Runs and scores a task. An exception fails the rollout; failed model calls are retried. */
  rollout: (task: Task, model: Model, context: RolloutContext) => Score | Promise<Score>;
  /** If set, every request must send it as `X-API-Key`; else only this machine gets in. */
  apiKey?: string | undefined;
}
