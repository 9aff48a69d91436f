import { renderPrompt } from '../../core/prompts/demos.js';
import type { PromptContent } from '../../contracts/deployments/snapshot.js';
import type { PolicySpec } from '../../core/jobs/policy.js';
import { asObject } from '../../util/json.js';
import { substitute } from './request.js';
import type { UpstreamRequest } from './upstream-request.js';

type ChatBody = Record<string, unknown> & { messages: unknown[] };

/**
 * The upstream request of a snapshot's prompt: as for a candidate, but with the snapshot's model,
 * and with a prompt of several messages at the head, in place of the first system message.
 */
export function frozenRequest(
  { model: _ours, ...body }: ChatBody,
  { messages, demos, levers_marked: marked }: PromptContent,
  policy: PolicySpec,
): UpstreamRequest {
  const asCandidate = substitute(body, policy, { messages, marked, demos });
  const isWhole = messages.length === 1 && messages[0]!.role === 'system';
  if (isWhole || marked || asCandidate.components.length > 0) return asCandidate;
  const head = renderPrompt(messages, demos).map(({ role, content }) => ({ role, content }));
  const replaced = head.some(({ role }) => role === 'system') ? body.messages.findIndex(isInstruction) : -1;
  const rest = body.messages.filter((_, index) => index !== replaced);
  return substitute({ ...body, messages: [...head, ...rest] }, policy, { messages: null, marked: false, demos: [] });
}

const isInstruction = (message: unknown): boolean =>
  ['system', 'developer'].includes(String(asObject(message)?.['role']));
