import type { ModelReply, ModelRequest } from '../support/fakes/model.js';
import { propose } from '../support/worlds/rules.js';

/**
 * The models of the adapters' tests. A prompt that has `rule-k.` answers the question "rule k", in
 * DSPy's form if asked for; `proposer` adds the first missing rule of the feedback.
 */
export function answerAsked(request: ModelRequest): ModelReply {
  const { model, messages } = request.body;
  if (model === 'proposer') return { text: propose(request) };
  const system = messages.filter(({ role }) => role === 'system').map(({ content }) => content);
  const rule = /rule (\d+)/.exec(messages.at(-1)!.content)?.[1];
  if (/garbled/.test(messages.at(-1)!.content)) return { text: 'In no form at all.' };
  const text = system.join('\n').includes(`rule-${rule}.`) ? `needs rule-${rule}.` : 'No rule.';
  const inForm = system.join('\n').includes('[[ ## answer ## ]]');
  return { text: inForm ? `[[ ## answer ## ]]\n${text}\n\n[[ ## completed ## ]]` : text };
}
