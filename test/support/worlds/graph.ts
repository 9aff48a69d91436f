import { criteriaNames, currentOf, isProposal, judgedOutput, kindOf } from './asked.js';
import { startModelWorld, type ModelWorld } from './model.js';

/**
 * A graph world with a known optimum on one fake provider, which also replaces OpenAI. The model
 * `task` answers item k with the rule k mod `rules` if its messages contain it, else `unknown`. The
 * proposer `writer` adds the first missing rule to the prompt, or in edits a step that verifies by
 * it. `judge` scores the right rule 1, else 0, and names the rule.
 */
export interface GraphWorld extends ModelWorld {
  rules: number;
  /** The body of a graph job with this many tasks; without preflight: every call is a graph's. */
  job(tasks: number, more?: object): Record<string, unknown>;
}

export const firstPrompt = 'Name the rule of the item.';
/** Default number of rules. */
export const defaultRules = 3;

interface Message {
  content: string;
}

/** The default answer, in a world with this many rules, of the model recognized by the messages. */
export function graphAnswer(messages: readonly Message[], rules = defaultRules): string {
  if (isProposal(messages)) return write(messages);
  const text = messages.map(({ content }) => content).join('\n');
  const rule = `rule-${Number(/item (\d+)\?/.exec(text)![1]) % rules}`;
  if (kindOf(messages) === 'judgement') return judgement(messages, rule);
  return new RegExp(`${rule}\\b`).test(text) ? rule : 'unknown';
}

/** The tasks of a world with this many rules, scored by comparison. */
export function graphDataset(tasks: number, rules = defaultRules) {
  const items = [...Array(tasks).keys()];
  return {
    initial_prompt: firstPrompt,
    tasks: items.map((item) => ({ id: `task-${item}`, input: { question: `What is item ${item}?` } })),
    gold_outputs: items.map((item) => ({ task_id: `task-${item}`, output: `rule-${item % rules}` })),
    verifier_config: { mode: 'exact' },
  };
}

export async function startGraphWorld(rules = defaultRules): Promise<GraphWorld> {
  const world = await startModelWorld(({ body }) => ({ text: graphAnswer(body.messages, rules) }));
  return {
    ...world,
    rules,
    job: (tasks, more = {}) => ({
      dataset: graphDataset(tasks, rules),
      policy_model: 'task',
      policy_provider: 'fake',
      proposer: { model: 'writer', provider: 'fake' },
      rollout_budget: 150,
      preflight: false,
      ...more,
    }),
  };
}

/** Expected rules in a request, in order. */
function expectedIn(text: string): string[] {
  return [...text.matchAll(/Expected: (rule-\d+)/g)].map(([, rule]) => rule!);
}

function write(messages: readonly Message[]): string {
  const shown = currentOf(messages);
  const text = messages.map(({ content }) => content).join('\n');
  const missing = expectedIn(text).find((rule) => !shown.includes(rule)) ?? 'nothing new';
  if (kindOf(messages) === 'text') return `Here it is.\n\`\`\`\n${shown}\nThere is ${missing}.\n\`\`\``;
  const prompt = `Check {{draft}}, which was said to: {{question}} There is ${missing}.`;
  return `\`\`\`json\n${JSON.stringify([{ edit: 'verify', step: 'solve', prompt }])}\n\`\`\``;
}

function judgement(messages: readonly Message[], rule: string): string {
  const score = judgedOutput(messages).includes(rule) ? 1 : 0;
  const criteria = criteriaNames(messages).map((name) => ({ name, reason: `Expected: ${rule}`, score }));
  return JSON.stringify({ criteria });
}
