/**
 * The `local` proposer of structure: splits the first step where questions take more lookups than
 * the graph has steps, else writes the runs' lessons into prompts, else adds a check.
 */
import type { Edit } from '../core/graphs/edits/editing.js';
import type { FailedRun } from '../core/graphs/edits/proposal.js';
import type { Graph, LlmStep, PromptMessage } from '../core/graphs/graph.js';
import { propose } from './propose.js';
import { readTrail } from './trails.js';

/** Limit of edits per answer. */
const maxEdits = 3;

type OwnEdit = Extract<Edit, { edit: 'decompose' | 'prompt' | 'verify' }>;

/** At least one edit for a graph with a model step; else none. */
export function restructure({ steps }: Graph, runs: readonly FailedRun[]): OwnEdit[] {
  const asking = steps.filter((step) => step.type === 'llm');
  const [first] = asking;
  if (first === undefined) return [];
  const deep = runs.filter((run) => (readTrail(run)?.statements.length ?? 0) > asking.length);
  if (deep.length > 0 && 2 * deep.length >= runs.length) return [decompose(first, runs)];
  if (runs.some(({ feedback }) => feedback.trim() !== '')) {
    return asking
      .slice(0, maxEdits)
      .map((step) => ({ edit: 'prompt', step: step.id, messages: withLessons(step, runs) }));
  }
  return [{ edit: 'verify', step: asking.at(-1)!.id }];
}

/** Puts the plan first: a step looks up the first subject in its message. */
function decompose(step: LlmStep, runs: readonly FailedRun[]): OwnEdit {
  let name = 'plan';
  for (let number = 2; name in step.inputs; number += 1) name = `plan_${number}`;
  const asked = step.messages.filter(({ role }) => role !== 'system').map(({ content }) => content);
  const order = 'Find out first what it is about that is asked for. Give what is found alone.';
  return {
    edit: 'decompose',
    step: step.id,
    prompt: propose({ instruction: [order, ...asked].join('\n\n'), examples: runs }),
    messages: inFront(withLessons(step, runs), `about: {{${name}}}`),
  };
}

/** The step's messages with the lessons in the first instructing one. */
function withLessons({ messages }: LlmStep, examples: readonly FailedRun[]): PromptMessage[] {
  const at = Math.max(
    0,
    messages.findIndex(({ role }) => role === 'system'),
  );
  return messages.map((message, index) =>
    index === at ? { ...message, content: propose({ instruction: message.content, examples }) } : message,
  );
}

function inFront(messages: readonly PromptMessage[], text: string): PromptMessage[] {
  const at = messages.findLastIndex(({ role }) => role === 'user');
  if (at < 0) return [...messages, { role: 'user', content: text }];
  return messages.map((message, index) =>
    index === at ? { ...message, content: `${text}\n\n${message.content}` } : message,
  );
}
