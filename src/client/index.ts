/**
 * `ratchet-prompts-client` calls the service from Node, Deno, Bun and browsers. Example:
 *
 *     const client = new Ratchet();
 *     const session = await client.createSession({ policy_optimization: { … } });
 *     const { status } = await session.wait({ onEvent: (event) => console.log(event.message) });
 *     const { best_prompt } = await session.results();
 */
export { all } from './operations.js';
export { Ratchet } from './client.js';
export { CheckupHandle, DeploymentHandle, MigrationHandle } from './deployments.js';
export { RatchetError, type FieldError } from './errors.js';
export { EvaluationHandle } from './evaluations.js';
export { GraphHandle } from './graphs.js';
export { Prompt, type PromptData, type PromptFallback, type PromptMessage, type PromptSource } from './prompt.js';
export type { PromptOptions } from './prompts.js';
export { ScheduleHandle } from './schedules.js';
export { SessionHandle } from './sessions.js';
export type * from './api.js';
export type { Fetch } from './attempt.js';
export type { FileType } from './datasets.js';
export type { Creation, Handle, WaitOptions } from './handle.js';
export type { RatchetOptions } from './connection.js';
export type * from './types.js';
