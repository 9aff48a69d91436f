/**
 * `ratchet-prompts-client` calls the service from Node, Deno, Bun and browsers. Example:
 *
 *     const client = new Ratchet();
 *     const session = await client.createSession({ policy_optimization: { … } });
 *     const { status } = await session.wait({ onEvent: (event) => console.log(event.message) });
 *     const { best_prompt } = await session.results();
 */
export { Ratchet } from './client.js';
export { RatchetError, type FieldError } from './errors.js';
export type * from './api.js';
export type { Fetch } from './attempt.js';
export type { FileType } from './datasets.js';
export type { DeploymentHandle } from './deployments.js';
export type { EvaluationHandle } from './evaluations.js';
export type { GraphHandle } from './graphs.js';
export type { Creation, Handle, WaitOptions } from './handle.js';
export type { RatchetOptions } from './connection.js';
export type { SessionHandle } from './sessions.js';
export type * from './types.js';
