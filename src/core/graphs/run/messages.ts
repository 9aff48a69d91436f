/**
 * Messages of a step's calls. Pending calls may share long texts: sizes are measured when calls are
 * requested, and messages are rendered only when a call is made.
 */
import { candidatesName, limits, type PromptMessage } from '../graph.js';
import type { PlannedPrompt, ResolvedRef } from '../plan.js';
import { Failure, fail, resolveValue, type RunValues } from './resolve.js';
import { renderTemplate, templateLength } from '../../prompts/template.js';
import { numberedCandidates } from './vote.js';
import { toText, type Json } from '../values.js';

/** A name available in messages without an input: a map's item or a vote's candidates. */
interface BoundValue {
  name: string;
  value: Json;
}

function callBinding(values: RunValues, index: number, at: number, candidates: readonly Json[]): BoundValue | null {
  const { step, refs } = values.plan.steps[index]!;
  if (step.type === 'vote') return { name: candidatesName, value: numberedCandidates(candidates) };
  if (step.type !== 'map') return null;
  const items = resolveValue(values, refs.get(step.over)!) as readonly Json[];
  return { name: step.as, value: items[at]! };
}

/** The values for one call's messages; `sharedValue` resolves refs that all calls share. */
function valueLookup(
  values: RunValues,
  { inputs }: PlannedPrompt,
  bound: BoundValue | null,
  sharedValue: (ref: ResolvedRef) => Json,
): (name: string) => Json {
  return (name) => {
    if (name === bound?.name) return bound.value;
    const ref = inputs.get(name)!;
    return ref.from === 'item' ? resolveValue(values, ref, bound!.value) : sharedValue(ref);
  };
}

export function renderMessages(
  values: RunValues,
  index: number,
  at: number,
  candidates: readonly Json[],
): PromptMessage[] {
  const prompt = values.plan.steps[index]!.prompt!;
  const bound = callBinding(values, index, at, candidates);
  const valueOf = valueLookup(values, prompt, bound, (ref) => resolveValue(values, ref));
  return prompt.messages.map(({ role, parts }) => {
    return { role, content: renderTemplate(parts, (name) => toText(valueOf(name)), limits.callChars)! };
  });
}

/** Adds the characters of the messages of `count` calls; fails the step or the run at a limit. */
export function measureMessages(
  values: RunValues,
  index: number,
  count: number,
  candidates: readonly Json[],
  before: number,
): number {
  const { prompt } = values.plan.steps[index]!;
  const known = new Map<ResolvedRef, string>();
  const sharedText = (ref: ResolvedRef) => {
    const text = known.get(ref) ?? toText(resolveValue(values, ref));
    known.set(ref, text);
    return text;
  };
  let chars = before;
  for (let at = 0; at < count; at += 1) {
    const valueOf = valueLookup(values, prompt!, callBinding(values, index, at, candidates), sharedText);
    let left: number = limits.callChars;
    for (const { parts } of prompt!.messages) {
      const length = templateLength(parts, (name) => toText(valueOf(name)), left);
      if (length === null) fail(`its messages have more than ${limits.callChars} characters`);
      left -= length!;
    }
    chars += limits.callChars - left;
    if (chars > limits.runChars) {
      const reason = `the messages of the run's model calls have more than ${limits.runChars} characters in all`;
      throw new Failure(reason, true);
    }
  }
  return chars;
}
