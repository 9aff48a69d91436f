/**
 * The messages of a step's calls. Many calls can wait at once and each may show the same long text, so that they are measured when they
 * are wanted, and put together only for the call that is made.
 */
import { candidatesName, limits } from '../graph.js';
import type { PlannedPrompt, Way } from '../plan.js';
import { Failure, fail, resolve, type Values } from './reading.js';
import type { Call } from './run.js';
import { renderTemplate, templateLength } from '../template.js';
import { numberedCandidates } from './vote.js';
import { textOf, type Json } from '../values.js';

/** A name that messages have without its being an input: a map's item, the candidates of a vote. */
interface Given {
  name: string;
  value: Json;
}

/** What the messages of a step's call number `at`, from 0 on, show beside inputs; null: nothing. */
function givenTo(values: Values, index: number, at: number, candidates: readonly Json[]): Given | null {
  const { step, ways } = values.plan.steps[index]!;
  if (step.type === 'vote') return { name: candidatesName, value: numberedCandidates(candidates) };
  if (step.type !== 'map') return null;
  const items = resolve(values, ways.get(step.over)!) as readonly Json[];
  return { name: step.as, value: items[at]! };
}

/** The value for each name in the messages of one call. `valueOfWay`: of what is the same for all calls of the step. */
function valuesFor(
  values: Values,
  { inputs }: PlannedPrompt,
  given: Given | null,
  valueOfWay: (way: Way) => Json,
): (name: string) => Json {
  return (name) => {
    if (name === given?.name) return given.value;
    const way = inputs.get(name)!;
    return way.from === 'item' ? resolve(values, way, given!.value) : valueOfWay(way);
  };
}

/** The messages of a step's call number `at`; it is one that was wanted. */
export function messagesOf(values: Values, index: number, at: number, candidates: readonly Json[]): Call['messages'] {
  const prompt = values.plan.steps[index]!.prompt!;
  const given = givenTo(values, index, at, candidates);
  const valueOf = valuesFor(values, prompt, given, (way) => resolve(values, way));
  return prompt.messages.map(({ role, parts }) => {
    return { role, content: renderTemplate(parts, valueOf, limits.callChars)! };
  });
}

/** Characters of the messages of so many calls of a step; fails the step or the run where they are too many, `before` those of the run so far. */
export function measured(
  values: Values,
  index: number,
  count: number,
  candidates: readonly Json[],
  before: number,
): number {
  const { prompt } = values.plan.steps[index]!;
  const known = new Map<Way, string>();
  const textOfWay = (way: Way) => {
    const text = known.get(way) ?? textOf(resolve(values, way));
    known.set(way, text);
    return text;
  };
  let chars = before;
  for (let at = 0; at < count; at += 1) {
    const valueOf = valuesFor(values, prompt!, givenTo(values, index, at, candidates), textOfWay);
    let left: number = limits.callChars;
    for (const { parts } of prompt!.messages) {
      const length = templateLength(parts, valueOf, left);
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
