/** Graphs for tests: fixed ones and an arbitrary valid one. */
import fc from 'fast-check';
import type { AnswerForm, Graph, LlmStep, PromptMessage, Ref, Step, VoteStep } from '../../../src/core/graphs/graph.js';
import { usedSteps } from '../../../src/core/graphs/refs.js';
import { answerCall, openRun, outcomeOf, pendingCalls } from '../../../src/core/graphs/run/run.js';
import type { Run } from '../../../src/core/graphs/run/state.js';
import type { Json } from '../../../src/core/graphs/values.js';

export function user(content: string): PromptMessage[] {
  return [{ role: 'user', content }];
}

/** An llm step with a placeholder for each input: `{ question: 'input.question' }`. */
export function llm(id: string, inputs: Record<string, Ref>, changes: Partial<LlmStep> = {}): LlmStep {
  const messages = user(['Do it.', ...Object.keys(inputs).map((name) => `{{${name}}}`)].join(' '));
  return { id, type: 'llm', inputs, messages, output: { field: 'answer' }, ...changes };
}

export function graphWith(steps: Step[], output: Ref, inputs = ['question']): Graph {
  return { inputs, steps, output };
}

export const solve = llm('solve', { question: 'input.question' });
export const oneStep = graphWith([solve], 'solve.answer');
export const answerSchema: AnswerForm = {
  schema: {
    type: 'object',
    properties: { answer: { type: 'string' }, sure: { type: 'number' } },
    required: ['answer'],
    additionalProperties: false,
  },
};

/** Answers pending calls by `answers[key]` or `otherwise`; `backwards`: the last call first. */
export function answerAll(run: Run, answers: Record<string, string>, otherwise = 'ok', backwards = false): Run {
  let current = run;
  for (let calls = pendingCalls(current); calls.length > 0; calls = pendingCalls(current)) {
    const call = backwards ? calls.at(-1)! : calls[0]!;
    const answered = answerCall(current, call.key, answers[call.key] ?? otherwise);
    if ('problem' in answered) throw new Error(`${call.key}: ${answered.problem}`);
    current = answered.run;
  }
  return current;
}

/** The outcome of a graph on an input with these answers. */
export function outcomeWith(graph: Graph, input: Json, answers: Record<string, string> = {}) {
  return outcomeOf(answerAll(openRun(graph, input), answers));
}

/** The values of a generated step, so that later steps mostly use valid refs. */
interface GeneratedStep {
  step: Step;
  texts: Ref[];
  lists: Ref[];
}

const word = fc.constantFrom('a', 'b', 'yes', '{{x', '{ "k": 1 }', '> 7', '```', 'é', '');
const forms: fc.Arbitrary<AnswerForm> = fc.constantFrom<AnswerForm>({ field: 'answer' }, answerSchema, {
  schema: { type: 'array', items: { type: 'string' } },
});

function pick<Item>(items: readonly Item[], by: number): Item {
  return items[by % items.length]!;
}

function textsOf(id: string, form: AnswerForm): Pick<GeneratedStep, 'texts' | 'lists'> {
  if ('field' in form || form.schema.type === 'object') return { texts: [`${id}.answer`], lists: [] };
  return { texts: [], lists: [id] };
}

const stepPlan = fc.record({
  kind: fc.constantFrom('llm', 'llm', 'samples', 'map', 'vote', 'judge', 'of', 'select', 'template', 'list', 'op'),
  by: fc.tuple(fc.nat(), fc.nat(), fc.nat()),
  form: forms,
  words: fc.tuple(word, word),
  model: fc.constantFrom<string | null | undefined>(undefined, null, 'small'),
  limits: fc.constantFrom({}, { timeoutS: 9 }, { tries: 2, timeoutS: 0.5 }),
});

/** An arbitrary valid graph: steps use the values of earlier steps. */
export const anyGraph: fc.Arbitrary<Graph> = fc.array(stepPlan, { minLength: 1, maxLength: 8 }).map((plans) => {
  const texts: Ref[] = ['input.question', 'input.topic'];
  const lists: Ref[] = ['input.items'];
  const steps: Step[] = [];
  for (const [at, { kind, by, form, words, model, limits }] of plans.entries()) {
    const id = `s${at}`;
    const [text, other, list] = [pick(texts, by[0]), pick(texts, by[1]), pick(lists, by[2])];
    const limitsAndModel = { ...(model === undefined ? {} : { model }), ...limits };
    const messages: PromptMessage[] = [
      { role: 'system', content: `Be ${words[0]}.` },
      { role: 'user', content: `${words[1]} {{a}} and {{ b }}` },
    ];
    const prompt = { inputs: { a: text, b: other }, messages, ...limitsAndModel };
    const judge = { inputs: { a: text }, messages: user('{{a}}: which?\n{{candidates}}'), ...limitsAndModel };
    const ways: VoteStep['by'] = kind === 'judge' ? { judge } : 'majority';
    const made = ((): GeneratedStep => {
      switch (kind) {
        case 'llm':
          return { step: { id, type: 'llm', ...prompt, output: form }, ...textsOf(id, form) };
        case 'samples':
          return { step: { id, type: 'llm', ...prompt, output: form, samples: 3 }, texts: [], lists: [id] };
        case 'map': {
          const inputs = { a: text, b: 'one' };
          const step: Step = { id, type: 'map', ...prompt, inputs, over: list, as: 'one', output: form, maxItems: 30 };
          return { step, texts: [], lists: [id] };
        }
        case 'vote':
        case 'judge':
          return { step: { id, type: 'vote', over: list, by: ways }, texts: [id], lists: [] };
        case 'of':
          return { step: { id, type: 'vote', of: [text, other], by: ways }, texts: [id], lists: [] };
        case 'select': {
          const when = { of: text, is: 'contains' as const, value: words[0] };
          const cases = [
            { when, then: other },
            { when: { of: other, is: 'empty' as const }, then: text },
          ];
          return { step: { id, type: 'select', cases, otherwise: 'input.question' }, texts: [id], lists: [] };
        }
        case 'template':
          return {
            step: {
              id,
              type: 'transform',
              op: 'template',
              inputs: { a: text, b: list },
              text: `${words[0]} {{a}}{{b}}`,
            },
            texts: [id],
            lists: [],
          };
        case 'list':
          return { step: { id, type: 'transform', op: 'list', inputs: { a: text, b: other } }, texts: [], lists: [id] };
        case 'op':
          return by[2] % 2 === 0
            ? { step: { id, type: 'transform', op: 'upper', inputs: { text } }, texts: [id], lists: [] }
            : { step: { id, type: 'transform', op: 'unique', inputs: { list } }, texts: [], lists: [id] };
      }
    })();
    steps.push(made.step);
    texts.push(...made.texts);
    lists.push(...made.lists);
  }
  const output = steps.at(-1)!.id;
  const used = usedSteps({ steps, output });
  return { inputs: ['question', 'topic', 'items'], steps: steps.filter(({ id }) => used.has(id)), output };
});

export const anyInput: fc.Arbitrary<Json> = fc.record({
  question: fc.constantFrom('a?', 'yes or no', '{{b}} {{a}}', ''),
  topic: fc.constantFrom('sums', 'YES', ' '),
  items: fc.array(fc.constantFrom<Json>('x', 'y', 3, { k: 'v' }), { maxLength: 4 }),
});

/** A valid answer for a call; depends on the call only, so that it is the same at any time. */
export function answerTo(graph: Graph, key: string, salt: number): string {
  const step = graph.steps.find(({ id }) => id === key.split('#')[0])!;
  if (step.type === 'vote') return `Candidate 1${salt % 2 === 0 ? '.' : ' is best\n'}`;
  const text = pick(
    ['yes', 'no {{a}}', ' YES', ''],
    [...key].reduce((sum, char) => sum + char.charCodeAt(0), salt),
  );
  const form = (step as LlmStep).output;
  if ('field' in form) return text;
  const json = JSON.stringify(form.schema.type === 'array' ? [text, 'x'] : { answer: text });
  return salt % 3 === 0 ? `\`\`\`json\n${json}\n\`\`\`` : json;
}
